/** One call of each operation of the organization API, and what has to be there before it. */
import type { Organization } from '../../shared/organization/organization.js';
import type { Team } from '../../shared/organization/team.js';
import {
  type Asked,
  type Operation,
  type OrganizationsServer,
  operator,
} from '../organizations/organizations-server.js';

/** As many as one page shows. */
const listed = 20;
const page = { limit: String(listed) };

const emailOf = (i: number): string => `person-${i}@example.com`;
/** An admin of the organization who is in no team. */
const governor = 'governor@example.com';

export interface Stage {
  readonly server: OrganizationsServer;
  readonly organizationId: string;
  /** Made in the organization, standalone, and migrated. Each has as many members as one page shows. */
  readonly inside: number;
  readonly alone: number;
  readonly migrated: number;
  /** An organization whose record is one page long. */
  readonly recorded: string;
}

/** What is to be there before the i-th call, and the call. */
export interface Case {
  /** All calls write one document of the deployment, so several at once only wait for each other. */
  readonly oneByOne?: true;
  readonly before?: (stage: Stage, i: number) => Promise<unknown>;
  readonly asked: (stage: Stage, i: number, prepared: unknown) => Asked;
}

export const newOrganization = async (server: OrganizationsServer, name: string): Promise<string> =>
  (await server.expect<Organization>(201, 'createOrganization', { body: { name } })).id;

const inOrganization = ({ organizationId }: Stage): Asked => ({ params: { organizationId } });
const inTeam = ({ inside }: Stage): Asked => ({ params: { teamId: inside } });
/** What `before` has made. */
const ofMade = (_: Stage, __: number, teamId: unknown): Asked => ({ params: { teamId: teamId as number } });
const ofMadeOrganization = (_: Stage, __: number, id: unknown): Asked => ({ params: { organizationId: String(id) } });

const addPerson = ({ server, organizationId }: Stage, i: number) =>
  server.expect(201, 'addOrganizationMember', { params: { organizationId }, body: { email: emailOf(i) } });
const invitePerson = ({ server, organizationId }: Stage, i: number) =>
  server.expect(200, 'inviteMembers', { params: { organizationId }, body: { members: [{ email: emailOf(i) }] } });
const newTeam = async ({ server }: Stage, i: number, within: object = {}): Promise<number> =>
  (await server.expect<Team>(201, 'createTeam', { body: { name: `team ${i}`, ...within } })).teamId;
const teamWithPerson = async (stage: Stage, i: number): Promise<number> => {
  const teamId = await newTeam(stage, i);
  await stage.server.expect(201, 'addTeamMember', { params: { teamId }, body: { email: emailOf(i) } });
  return teamId;
};
const migratedTeam = async (stage: Stage, i: number): Promise<number> => {
  const teamId = await newTeam(stage, i);
  const { organizationId } = stage;
  await stage.server.expect(200, 'migrateTeam', { params: { teamId }, body: { organizationId } });
  return teamId;
};
/** It is to stand alone, and its admin has not agreed yet. */
const proposedTeam = async (stage: Stage, i: number): Promise<number> => {
  const teamId = await newTeam(stage, i, { organizationId: stage.organizationId });
  await stage.server.expect(201, 'proposeTransfer', {
    as: governor,
    params: { teamId },
    body: { organizationId: null },
  });
  return teamId;
};
const deletedTeam = async (stage: Stage, i: number): Promise<number> => {
  const teamId = await newTeam(stage, i);
  await stage.server.expect(200, 'deleteTeam', { params: { teamId } });
  return teamId;
};
const ofPerson = ({ organizationId }: Stage, i: number): Asked => ({ params: { organizationId, email: emailOf(i) } });
const ofTransfer = (_: Stage, __: number, teamId: unknown): Asked => ({
  params: { teamId: teamId as number, transferId: 'standalone' },
});
const ofLatest = (teamId: number): Asked => ({ params: { teamId, migrationId: 'latest' } });

/** In the order of the route table. */
export const organizationCases: Readonly<Record<Operation, Case>> = {
  createOrganization: { asked: (_, i) => ({ body: { name: `organization ${i}` } }) },
  listOrganizations: { asked: () => ({ query: page }) },
  getOrganization: { asked: inOrganization },
  renameOrganization: {
    before: ({ server }, i) => newOrganization(server, `organization ${i}`),
    asked: (stage, i, id) => ({ ...ofMadeOrganization(stage, i, id), body: { name: `renamed ${i}` } }),
  },
  setOrganizationCeilings: {
    oneByOne: true,
    asked: (stage, i) => ({ ...inOrganization(stage), body: { living: 1000 + i } }),
  },
  deleteOrganization: {
    before: ({ server }, i) => newOrganization(server, `deleted ${i}`),
    asked: ofMadeOrganization,
  },
  restoreOrganization: {
    async before({ server }, i) {
      const organizationId = await newOrganization(server, `restored ${i}`);
      await server.expect(200, 'deleteOrganization', { params: { organizationId } });
      return organizationId;
    },
    asked: ofMadeOrganization,
  },
  listOrganizationMembers: { asked: (stage) => ({ ...inOrganization(stage), query: page }) },
  addOrganizationMember: { asked: (stage, i) => ({ ...inOrganization(stage), body: { email: emailOf(i) } }) },
  addOrganizationMembers: {
    asked: (stage, i) => ({ ...inOrganization(stage), body: { members: [{ email: emailOf(i) }] } }),
  },
  setOrganizationMemberRole: {
    before: addPerson,
    asked: (stage, i) => ({ ...ofPerson(stage, i), body: { role: 'admin' } }),
  },
  removeOrganizationMember: { before: addPerson, asked: ofPerson },
  inviteMembers: { asked: (stage, i) => ({ ...inOrganization(stage), body: { members: [{ email: emailOf(i) }] } }) },
  listInvitations: { asked: (stage) => ({ ...inOrganization(stage), query: page }) },
  resendInvitation: { before: invitePerson, asked: ofPerson },
  revokeInvitation: { before: invitePerson, asked: ofPerson },
  listOwnInvitations: { asked: () => ({ query: page }) },
  acceptInvitation: { before: invitePerson, asked: (stage, i) => ({ ...inOrganization(stage), as: emailOf(i) }) },
  declineInvitation: { before: invitePerson, asked: (stage, i) => ({ ...inOrganization(stage), as: emailOf(i) }) },
  listOrganizationTeams: { asked: (stage) => ({ ...inOrganization(stage), query: page }) },
  listOrganizationEvents: { asked: (stage) => ({ ...inOrganization(stage), query: page }) },
  createTeam: { asked: ({ organizationId }, i) => ({ body: { name: `team ${i}`, organizationId } }) },
  listTeams: { asked: () => ({ query: page }) },
  getTeam: { asked: inTeam },
  renameTeam: { asked: (stage, i) => ({ ...inTeam(stage), body: { name: `stage ${i}` } }) },
  setTeamCeilings: { oneByOne: true, asked: (stage, i) => ({ ...inTeam(stage), body: { living: 1000 + i } }) },
  deleteTeam: { before: newTeam, asked: ofMade },
  restoreTeam: { before: deletedTeam, asked: ofMade },
  listTeamMembers: { asked: inTeam },
  listTeamEvents: { asked: (stage) => ({ ...inTeam(stage), query: page }) },
  addTeamMember: {
    async before(stage, i) {
      await addPerson(stage, i);
      return newTeam(stage, i);
    },
    asked: (_, i, teamId) => ({ params: { teamId: teamId as number }, body: { email: emailOf(i) } }),
  },
  addTeamMembers: {
    async before(stage, i) {
      await addPerson(stage, i);
      return newTeam(stage, i);
    },
    asked: (_, i, teamId) => ({ params: { teamId: teamId as number }, body: { members: [{ email: emailOf(i) }] } }),
  },
  setTeamMemberRole: {
    before: teamWithPerson,
    asked: (_, i, teamId) => ({ params: { teamId: teamId as number, email: emailOf(i) }, body: { role: 'admin' } }),
  },
  removeTeamMember: {
    before: teamWithPerson,
    asked: (_, i, teamId) => ({ params: { teamId: teamId as number, email: emailOf(i) } }),
  },
  previewMigration: {
    asked: ({ alone, organizationId }) => ({ params: { teamId: alone }, query: { organizationId } }),
  },
  migrateTeam: {
    before: newTeam,
    asked: ({ organizationId }, _, teamId) => ({ params: { teamId: teamId as number }, body: { organizationId } }),
  },
  proposeTransfer: {
    before: (stage, i) => newTeam(stage, i, { organizationId: stage.organizationId }),
    asked: (stage, i, teamId) => ({ ...ofMade(stage, i, teamId), as: governor, body: { organizationId: null } }),
  },
  listTransfers: { before: proposedTeam, asked: ofMade },
  acceptTransfer: { before: proposedTeam, asked: ofTransfer },
  refuseTransfer: { before: proposedTeam, asked: ofTransfer },
  previewUndo: { asked: ({ migrated }) => ofLatest(migrated) },
  undoMigration: { before: migratedTeam, asked: (_, __, teamId) => ofLatest(teamId as number) },
  detachTeam: { before: migratedTeam, asked: (stage, i, teamId) => ({ ...ofMade(stage, i, teamId), as: operator }) },
};

/** The organization and its teams have so many members, teams and invitations as one page shows, and so has the caller. */
export async function makeStage(server: OrganizationsServer): Promise<Stage> {
  const organizationId = await newOrganization(server, 'stage');
  const params = { organizationId };
  const team = async (more: object): Promise<number> =>
    (await server.expect<Team>(201, 'createTeam', { body: { name: 'stage', ...more } })).teamId;
  const [inside, alone, migrated] = [await team({ organizationId }), await team({}), await team({})];
  const recorded = await newOrganization(server, 'recorded');
  await server.expect(201, 'addOrganizationMember', { params, body: { email: governor, role: 'admin' } });
  for (let i = 1; i < listed; i++) {
    const body = { email: `staged-${i}@example.com` };
    await server.expect(201, 'addOrganizationMember', { params, body });
    await server.expect(201, 'addOrganizationMember', { params: { organizationId: recorded }, body });
    for (const teamId of [inside, alone, migrated]) {
      await server.expect(201, 'addTeamMember', { params: { teamId }, body });
    }
    await team({ organizationId });
    await newOrganization(server, `stage ${i}`);
    await server.expect(200, 'inviteMembers', { params, body: { members: [{ email: `invited-${i}@example.com` }] } });
    const theirs = { as: governor, body: { name: `theirs ${i}` } };
    const { id } = await server.expect<Organization>(201, 'createOrganization', theirs);
    const members = [{ email: 'alice@example.com' }];
    await server.expect(200, 'inviteMembers', { as: governor, params: { organizationId: id }, body: { members } });
  }
  await server.expect(200, 'migrateTeam', { params: { teamId: migrated }, body: { organizationId } });
  return { server, organizationId, inside, alone, migrated, recorded };
}
