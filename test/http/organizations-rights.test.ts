/**
 * Who may do what: every operation of the organization API, asked by everybody there is. Whoever may not see a thing gets the 404
 * of a thing that is not there. Whoever sees it and may not change it gets a 403.
 */
import { expect } from 'chai';
import { organizationRoutes } from '../../shared/organization/routes.js';
import { type Asked, type Operation, operations, operator } from '../organizations/organizations-server.js';
import { alice, useOrganizations } from './organizations-world.js';

const [teamMember, teamAdmin, organizationMember, invited, removable] = [
  'tom@example.com',
  'tina@example.com',
  'mona@example.com',
  'ines@example.com',
  'remo@example.com',
];
const outsider = 'eve@elsewhere.example';
/** Those of a team that stands alone. They see it, and nothing of the organization. */
const [loneMember, loneAdmin] = ['sue@example.com', 'sam@example.com'];

const people = [outsider, loneMember, loneAdmin, organizationMember, teamMember, teamAdmin, alice, operator] as const;
/** In the order of `people`. */
type Statuses = readonly [number, number, number, number, number, number, number, number];

interface Place {
  readonly organizationId: string;
  /** In the organization, which its admin is not a member of. */
  readonly teamId: number;
  /** Standalone. */
  readonly alone: number;
}

interface Row {
  readonly operation: Operation;
  readonly what?: string;
  readonly asks: (place: Place) => Omit<Asked, 'as'>;
  readonly statuses: Statuses;
  /** What it makes is no part of the place. */
  readonly apart?: true;
  /** Before each of them asks. */
  readonly given?: (place: Place) => readonly (readonly [status: number, operation: Operation, asked: Asked])[];
}

const everybody = (status: number): Statuses => Array(8).fill(status) as unknown as Statuses;
const organizationAdmins = (status: number): Statuses => [404, 404, 404, 403, 403, 403, status, status];
const organizationMembers = (status: number): Statuses => [404, 404, 404, status, status, status, status, status];
const teamAdmins = (status: number): Statuses => [404, 404, 404, 404, 403, status, status, status];
const teamMembers = (status: number): Statuses => [404, 404, 404, 404, status, status, status, status];

const inOrganization = ({ organizationId }: Place) => ({ params: { organizationId } });
const inTeam = ({ teamId }: Place) => ({ params: { teamId } });
const ofOrganization = (operation: Operation, statuses: Statuses, asked: Omit<Asked, 'as' | 'params'> = {}): Row => ({
  operation,
  statuses,
  asks: (place) => ({ ...inOrganization(place), ...asked }),
});
const ofTeam = (operation: Operation, statuses: Statuses, asked: Omit<Asked, 'as' | 'params'> = {}): Row => ({
  operation,
  statuses,
  asks: (place) => ({ ...inTeam(place), ...asked }),
});
const member = (
  operation: Operation,
  email: string,
  status: number,
  asked: Omit<Asked, 'as' | 'params'> = {},
): Row => ({
  operation,
  statuses: organizationAdmins(status),
  asks: ({ organizationId }) => ({ params: { organizationId, email }, ...asked }),
});
const out = ({ teamId }: Place) => ({ params: { teamId, transferId: 'standalone' } });
const proposed = (place: Place) => [
  [201, 'proposeTransfer', { as: teamAdmin, ...inTeam(place), body: { organizationId: null } }] as const,
];
const latest = ({ teamId }: Place) => ({ params: { teamId, migrationId: 'latest' } });

const rows: readonly Row[] = [
  {
    operation: 'createOrganization',
    asks: () => ({ body: { name: 'another' } }),
    apart: true,
    statuses: [403, 201, 201, 201, 201, 201, 201, 201],
  },
  { operation: 'listOrganizations', asks: () => ({}), statuses: everybody(200) },
  ofOrganization('getOrganization', organizationMembers(200)),
  ofOrganization('renameOrganization', organizationAdmins(200), { body: { name: 'other' } }),
  ofOrganization('setOrganizationCeilings', organizationAdmins(200), { body: { living: 9 } }),
  // It still has a team.
  ofOrganization('deleteOrganization', organizationAdmins(409)),
  ofOrganization('restoreOrganization', organizationAdmins(200)),
  ofOrganization('listOrganizationMembers', organizationMembers(200)),
  ofOrganization('addOrganizationMember', organizationAdmins(201), { body: { email: 'new@example.com' } }),
  ofOrganization('addOrganizationMembers', organizationAdmins(200), {
    body: { members: [{ email: 'new@example.com' }] },
  }),
  member('setOrganizationMemberRole', removable, 200, { body: { role: 'admin' } }),
  member('removeOrganizationMember', removable, 204),
  ofOrganization('inviteMembers', organizationAdmins(200), { body: { members: [{ email: 'new@example.com' }] } }),
  ofOrganization('listInvitations', organizationAdmins(200)),
  member('resendInvitation', invited, 200),
  member('revokeInvitation', invited, 204),
  { operation: 'listOwnInvitations', asks: () => ({}), statuses: everybody(200) },
  // None of them is invited. Members are so already.
  { operation: 'acceptInvitation', asks: inOrganization, statuses: [404, 404, 404, 200, 200, 200, 200, 404] },
  { operation: 'declineInvitation', asks: inOrganization, statuses: everybody(404) },
  ofOrganization('listOrganizationTeams', organizationMembers(200)),
  ofOrganization('listOrganizationEvents', organizationAdmins(200)),
  { operation: 'createTeam', asks: () => ({ body: { name: 'another' } }), apart: true, statuses: everybody(201) },
  {
    operation: 'createTeam',
    what: 'in the organization',
    asks: ({ organizationId }) => ({ body: { name: 'another', organizationId } }),
    // Who makes a team is in it, and the operator is not in the organization.
    statuses: [404, 404, 404, 403, 403, 403, 201, 400],
  },
  { operation: 'listTeams', asks: () => ({}), statuses: everybody(200) },
  ofTeam('getTeam', teamMembers(200)),
  ofTeam('renameTeam', teamAdmins(200), { body: { name: 'other' } }),
  ofTeam('setTeamCeilings', teamAdmins(200), { body: { living: 3 } }),
  ofTeam('deleteTeam', teamAdmins(200)),
  ofTeam('restoreTeam', teamAdmins(200)),
  ofTeam('listTeamMembers', teamMembers(200)),
  ofTeam('listTeamEvents', teamAdmins(200)),
  ofTeam('addTeamMember', teamAdmins(201), { body: { email: organizationMember } }),
  ofTeam('addTeamMembers', teamAdmins(200), { body: { members: [{ email: organizationMember }] } }),
  {
    operation: 'setTeamMemberRole',
    asks: ({ teamId }) => ({ params: { teamId, email: teamMember }, body: { role: 'admin' } }),
    statuses: teamAdmins(200),
  },
  {
    operation: 'removeTeamMember',
    what: 'another one',
    asks: ({ teamId }) => ({ params: { teamId, email: teamAdmin } }),
    statuses: [404, 404, 404, 404, 403, 204, 204, 204],
  },
  {
    operation: 'previewMigration',
    asks: ({ teamId, organizationId }) => ({ params: { teamId }, query: { organizationId } }),
    statuses: organizationAdmins(200),
  },
  {
    operation: 'previewMigration',
    what: 'of the standalone team',
    asks: ({ alone, organizationId }) => ({ params: { teamId: alone }, query: { organizationId } }),
    statuses: organizationAdmins(200),
  },
  {
    operation: 'migrateTeam',
    what: 'of the standalone team, with force',
    asks: ({ alone, organizationId }) => ({ params: { teamId: alone }, body: { organizationId, force: true } }),
    statuses: organizationAdmins(200),
  },
  {
    operation: 'proposeTransfer',
    what: 'out of the organization',
    asks: (place) => ({ ...inTeam(place), body: { organizationId: null } }),
    statuses: [404, 404, 404, 404, 403, 201, 201, 200],
  },
  {
    operation: 'proposeTransfer',
    what: 'of the standalone team into the organization',
    asks: ({ alone, organizationId }) => ({ params: { teamId: alone }, body: { organizationId, force: true } }),
    // An admin of either side may propose it, to a side that they don't see, too. A member sees the team and may not.
    statuses: [404, 403, 201, 403, 403, 403, 201, 200],
  },
  ofTeam('listTransfers', teamAdmins(200)),
  {
    operation: 'acceptTransfer',
    asks: out,
    given: proposed,
    // Who has proposed it is of the other side.
    statuses: [404, 404, 404, 404, 403, 403, 200, 200],
  },
  { operation: 'refuseTransfer', asks: out, given: proposed, statuses: [404, 404, 404, 404, 403, 204, 204, 204] },
  { operation: 'previewUndo', asks: latest, statuses: teamAdmins(200) },
  { operation: 'undoMigration', asks: latest, statuses: teamAdmins(200) },
  ofTeam('detachTeam', [404, 404, 404, 404, 403, 403, 403, 200]),
];

describe('who may do what', () => {
  const world = useOrganizations({ env: { PLINTH_WEBHOOK_URL: 'http://127.0.0.1:9/hook' } });

  async function place(): Promise<Place> {
    const { server } = world;
    const organizationId = await world.organization();
    const params = { organizationId };
    const members = [teamMember, teamAdmin, organizationMember, removable].map((email) => ({ email }));
    await server.expect(200, 'addOrganizationMembers', { params, body: { members } });
    await server.expect(200, 'inviteMembers', { params, body: { members: [{ email: invited }] } });
    const teamId = await world.team({ [teamMember]: 'member' }, { as: teamAdmin });
    await server.expect(200, 'migrateTeam', { params: { teamId }, body: { organizationId } });
    return { organizationId, teamId, alone: await world.team({ [loneMember]: 'member' }, { as: loneAdmin }) };
  }

  /** A refusal and a look leave a place as it was, for the next who asks. */
  let untouched: Place | undefined;
  for (const { operation, what = '', apart = false, asks, statuses, given = () => [] } of rows) {
    const isLook = apart || organizationRoutes[operation].method === 'GET';
    it(`${operation}${what === '' ? '' : `, ${what}`}: ${statuses.join(' ')}`, async () => {
      const answered: number[] = [];
      for (const as of people) {
        const here = untouched ?? (await place());
        for (const [status, before, asked] of given(here)) await world.server.expect(status, before, asked);
        const { status } = await world.server.ask(operation, { ...asks(here), as });
        answered.push(status);
        untouched = given(here).length === 0 && (isLook || status >= 400) ? here : undefined;
      }
      expect(Object.fromEntries(people.map((each, i) => [each, answered[i]]))).to.deep.equal(
        Object.fromEntries(people.map((each, i) => [each, statuses[i]])),
      );
    });
  }

  it('is told of every operation, and nobody without a token may do anything', async () => {
    expect([...new Set(rows.map(({ operation }) => operation))]).to.have.members(operations);
    const here = await place();
    for (const { operation, asks } of rows) {
      expect((await world.server.ask(operation, { ...asks(here), as: null })).status, operation).to.equal(401);
    }
  });

  it('gives who may not see a thing the very answer of a thing that is not there', async () => {
    const here = await place();
    const nobodys = { ...here, organizationId: '00000000-0000-4000-8000-000000000000', teamId: 2_147_483_646 };
    const told = async (operation: Operation, asked: Asked) => {
      const { status, body } = await world.server.ask(operation, { ...asked, as: outsider });
      const { instance: _, ...problem } = body as Record<string, unknown>;
      return JSON.stringify([status, problem]).replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|(?<=team )\d+/g, 'N');
    };
    for (const { operation, statuses, asks } of rows.filter(
      (row) => row.statuses[0] === 404 && !row.what?.includes('standalone'),
    )) {
      expect(statuses[0]).to.equal(404);
      expect(await told(operation, asks(here)), operation).to.equal(await told(operation, asks(nobodys)));
    }
  });

  it('takes a proposal to an organization that is not there like one to an organization that is hidden', async () => {
    const { alone, organizationId } = await place();
    for (const to of [organizationId, '00000000-0000-4000-8000-000000000000']) {
      const proposal = { as: loneAdmin, params: { teamId: alone }, body: { organizationId: to } };
      await world.server.expect(201, 'proposeTransfer', proposal);
    }
  });
});
