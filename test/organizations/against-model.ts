/** One call after another, on the API and on the model: the same replies, the same world. Run on both stores. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { Store } from '../../functions/store/store.js';
import type { Member, Organization, OrganizationEvent } from '../../shared/organization/organization.js';
import type { Team } from '../../shared/organization/team.js';
import type { Issuer } from '../http/issuer.js';
import { actionOf, type Cast, type Drawn, drawn, noteReply } from './actions.js';
import { type Action, emptyWorld, play, type Rules, type World } from './model.js';
import { createOrganizationsServer, type OrganizationsServer, operator } from './organizations-server.js';
import { createPlayer, saidBy } from './play.js';

/** What an operator sees of it through the API. */
async function seen(server: OrganizationsServer, { organizations, teams }: World): Promise<World> {
  const as = operator;
  const roles = (members: readonly Member[]) => new Map(members.map(({ email, role }) => [email, role]));
  const found = emptyWorld();
  for (const [organizationId, remembered] of organizations) {
    const params = { organizationId };
    if (remembered.deleted) {
      await server.expect(404, 'getOrganization', { as, params });
      found.organizations.set(organizationId, remembered);
      continue;
    }
    const list = await server.expect<Member[]>(200, 'listOrganizationMembers', { as, params });
    const invitations = await server.expect<Member[]>(200, 'listInvitations', { as, params });
    const { ceilings } = await server.expect<Organization>(200, 'getOrganization', { as, params });
    found.organizations.set(organizationId, {
      members: roles(list),
      invited: roles(invitations),
      living: ceilings?.living,
    });
    const inIt = await server.expect<{ teamId: number }[]>(200, 'listOrganizationTeams', { as, params });
    const expected = [...teams].filter(([, team]) => team.organization === organizationId && !team.deleted);
    expect(inIt.map(({ teamId }) => String(teamId))).to.have.members(expected.map(([teamId]) => teamId));
  }
  for (const [teamId, remembered] of teams) {
    const params = { teamId };
    if (remembered.deleted) {
      await server.expect(404, 'getTeam', { as, params });
      found.teams.set(teamId, remembered);
      continue;
    }
    const { organizationId, ceilings } = await server.expect<Team>(200, 'getTeam', { as, params });
    const list = await server.expect<Member[]>(200, 'listTeamMembers', { as, params });
    const organization = organizationId ?? undefined;
    found.teams.set(teamId, { organization, members: roles(list), living: ceilings?.living });
  }
  return found;
}

/** What a team's record says of somebody whom their organization removes. */
const fixed = ['They are leaving the organization.', 'They are being removed from the organization.'];

/** Removals of one person whose event in the team's record does not say why, or says what only an organization may know. */
async function oddlySaid(server: OrganizationsServer, { teams }: World): Promise<OrganizationEvent[]> {
  const living = [...teams].filter(([, { deleted }]) => !deleted);
  const records = await Promise.all(
    living.map(([teamId]) =>
      server.expect<OrganizationEvent[]>(200, 'listTeamEvents', { as: operator, params: { teamId } }),
    ),
  );
  return records
    .flat()
    .filter(
      ({ action, actor, why = '' }) => action === 'team-member-removed' && ![saidBy(actor), ...fixed].includes(why),
    );
}

const plain = ({ organizations, teams }: World) => ({
  organizations: [...organizations]
    .map(([id, { members, invited, deleted = false, living }]) => [
      ...[id, deleted, living],
      ...[[...members].sort(), [...invited].sort()],
    ])
    .sort(),
  teams: [...teams]
    .map(([id, { organization, members, deleted = false, living }]) => [
      ...[id, organization, deleted, living],
      [...members].sort(),
    ])
    .sort(),
});

/** Who may make organizations, which decides who may migrate teams. */
export const modes = [
  { title: 'where operators make organizations', env: {}, anyoneCreates: false },
  {
    title: 'where anyone makes organizations',
    env: { PLINTH_ORGANIZATION_CREATORS: 'anyone' },
    anyoneCreates: true,
  },
] as const;

/** Throws with the shortest story that it found in which they differ. */
export async function compareWithModel(
  issuer: Issuer,
  open: () => Store,
  { env, anyoneCreates }: (typeof modes)[number],
  search: (property: fc.IAsyncProperty<[Drawn[]]>) => Promise<void>,
): Promise<void> {
  const rules: Rules = { operators: new Set([operator]), anyoneCreates };
  const property = fc.asyncProperty(fc.array(drawn(), { minLength: 40, maxLength: 80, size: 'max' }), async (draws) => {
    const store = open();
    const server = await createOrganizationsServer(issuer, { store, env });
    try {
      const player = createPlayer(server);
      const world = emptyWorld();
      const cast: Cast = { organizations: [], teams: [] };
      const story: string[] = [];
      const both = async (action: Action): Promise<void> => {
        const expected = play(world, action, rules);
        const outcome = await player.play(action);
        story.push(`${JSON.stringify(action)} → ${outcome.status}`);
        expect(outcome, `after:\n${story.join('\n')}`).to.deep.equal(expected);
        noteReply(cast, action, outcome.status);
        if (outcome.status !== 201) return;
        if (action.kind === 'createOrganization') cast.organizations.push(action.organization);
        if (action.kind === 'createTeam') cast.teams.push(action.team);
      };
      await both({ kind: 'createOrganization', by: operator, organization: 'first' });
      await both({ kind: 'createOrganization', by: operator, organization: 'second' });
      for (const [i, draw] of draws.entries()) await both(actionOf(cast, String(i), draw));
      const translated = player.translated(world);
      expect(await oddlySaid(server, translated), story.join('\n')).to.deep.equal([]);
      expect(plain(await seen(server, translated)), story.join('\n')).to.deep.equal(plain(translated));
    } finally {
      server.close();
      await store.close();
    }
  });
  await search(property);
}
