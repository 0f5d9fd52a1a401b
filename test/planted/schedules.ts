/** Faults that show only in one order of events out of many. No list of tests has them: the simulation must find each. */
import type { ScheduleFault, SimulatedWorld } from './fault.js';

/** Of each world, so that a fault is found within some minutes. */
export const mostSeeds: Readonly<Record<SimulatedWorld, number>> = { organizations: 2000, bootstraps: 60 };

export const schedules: readonly ScheduleFault[] = [
  {
    name: 'The other admin, who is to stay, is read beside the transaction',
    edits: [
      {
        find: 'readOrganizationMembers(transaction, organizationId, [witness])',
        put: 'readOrganizationMembers(context.store, organizationId, [witness])',
      },
    ],
    world: 'organizations',
  },
  {
    name: 'The other admin, who is to stay, may be leaving',
    edits: [{ find: 'transaction.write(...stayWrites(context.clock, found));', put: '' }],
    world: 'organizations',
  },
  {
    name: 'A deletion of an organization looks for teams only before its mark',
    edits: [
      {
        find: 'if ((await teamsOf(context, organizationId)).length > 0) {',
        put: 'if (teams.length > 0) {',
      },
    ],
    world: 'organizations',
  },
  {
    name: 'A team comes into an organization that is being deleted',
    edits: [{ find: 'if (deleting === undefined) return [];', put: "if (deleting !== '') return [];" }],
    world: 'organizations',
  },
  {
    name: 'A team is taken out of its organization by what it was when it was looked at',
    edits: [{ find: 'return team?.changes === changes', put: 'return team !== undefined' }],
    world: 'organizations',
  },
  {
    name: 'Many members are added to a team that is read beside the transaction',
    edits: [
      {
        find: 'asTeamAdmin(caller, teamId, emailsOf(asked), (seen) => {',
        put: 'async (transaction) => asTeamAdmin(caller, teamId, emailsOf(asked), (seen) => {',
      },
      {
        find: `...additionsTo(context, caller, seen, outcome.added) };
    }),`,
        put: `...additionsTo(context, caller, seen, outcome.added) };
    })({ ...transaction, get: context.store.get }),`,
      },
    ],
    world: 'organizations',
  },
  {
    name: 'Whether somebody is a member is read beside the transaction that invites them',
    edits: [
      {
        find: `asAdmin(caller, organizationId, emails, async ({ members }, transaction) => {
      const standing = await readInvitations(transaction,`,
        put: `async (outer) => asAdmin(caller, organizationId, emails, async ({ members }, transaction) => {
      const standing = await readInvitations(outer,`,
      },
      {
        find: `events: records.map((record) => invitedEvent(record, standing.get(record.email))),
      };
    }),`,
        put: `events: records.map((record) => invitedEvent(record, standing.get(record.email))),
      };
    })({ ...outer, get: context.store.get, getMany: context.store.getMany }),`,
      },
    ],
    world: 'organizations',
  },
  {
    name: 'A removal looks for teams only before its mark',
    edits: [
      {
        find: 'const removal = await markLeaving(',
        put: `const teams = await teamsHolding(context, organizationId, email);
    const removal = await markLeaving(`,
      },
      {
        find: `const teams = await teamsHolding(context, organizationId, email);
    if (force) for`,
        put: 'if (force) for',
      },
    ],
    world: 'organizations',
  },
  {
    name: 'A removal clears the mark of another one, and deletes the member without a mark of its own',
    edits: [
      { find: 'if (holding.length > 0 && removal.own && ours', put: 'if (holding.length > 0 && ours' },
      { find: 'if (!ours) return false;', put: '' },
    ],
    world: 'organizations',
  },
  {
    name: 'A migration reads the members before the team',
    edits: [
      {
        find: 'const found = await movable(context, transaction, caller, asked);',
        put: `const early = await membersOfTeam(context, asked.teamId);
      const found = await movable(context, transaction, caller, asked);`,
      },
      {
        find: `const members = await membersOfTeam(context, teamId);
    const division = await divideNow(`,
        put: `const members = early;
    const division = await divideNow(`,
      },
    ],
    world: 'organizations',
  },
  {
    name: 'A transfer moves a team that is read beside the transaction',
    edits: [
      {
        find: `const team = await readTeam(transaction, teamId);
    const sides = await sidesOf(transaction, caller, teamId, team, to);
    checkAll(sides, caller);
    checkASide(sides, teamId, to);`,
        put: `const team = await readTeam(context.store, teamId);
    const sides = await sidesOf(transaction, caller, teamId, team, to);
    checkAll(sides, caller);
    checkASide(sides, teamId, to);`,
      },
    ],
    world: 'organizations',
  },
  {
    name: 'A lease is written without the version that was read',
    edits: [
      {
        find: "store.commit([{ kind: 'update', collection, id, version, data: change }])",
        put: "store.commit([{ kind: 'update', collection, id, data: change }])",
      },
    ],
    world: 'bootstraps',
  },
  {
    name: 'Whether new bootstraps are stopped is read before the secrets of a new one are written',
    edits: [
      {
        find: 'const found = await countIn(context, facts, record([]), at);',
        put: 'const found = await countIn(context, facts, record([]), at, draft.callerSecret === undefined);',
      },
      {
        find: 'async function countIn(context: Context, { caller, team }: BeginFacts, record: Priced, at: string) {',
        put: 'async function countIn(context: Context, { caller, team }: BeginFacts, record: Priced, at: string, first = true) {',
      },
      { find: 'checkAdmission(found.all);', put: 'if (first) checkAdmission(found.all);' },
    ],
    world: 'bootstraps',
  },
  {
    name: 'What became ready is published before the commit that makes it',
    edits: [
      {
        find: 'const versions = await context.store.commit(writes, { onRetry });',
        put: `await publishReady(context, bootstrapId, record.generation, told.ready);
  const versions = await context.store.commit(writes, { onRetry });`,
      },
    ],
    world: 'bootstraps',
  },
];
