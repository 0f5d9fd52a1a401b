/**
 * Few people who change the same few organizations and teams at once, in an order that a seed decides. Held: the rules at every
 * moment, events that tell all of it in the order of the commits, and each reply as the model would have given it at some moment
 * between the call and the reply.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { listEvents } from '../../functions/organizations/events.js';
import type { Member } from '../../shared/organization/organization.js';
import { actionOf, type Cast, type Drawn, drawn } from './actions.js';
import { checkAtRest, faultsOf } from './at-rest.js';
import { type Action, type ModelTeam, play, type Rules, type World } from './model.js';
import { operator } from './organizations-server.js';
import { callerOf, contextOf, type Played, playOn } from './play-functions.js';
import { createRandom } from './random.js';
import { createScheduler } from './scheduler.js';
import { createMemoryReader, type StoredEvent } from './snapshot.js';
import { opening } from './storm.js';

export interface Schedule {
  readonly seed: number;
  readonly draws: readonly Drawn[];
  /** Anyone may make organizations, so a migration needs an admin of the team as well. */
  readonly anyone?: boolean;
}

const people = ['alice', 'bob', 'carol'].map((name) => `${name}@example.com`);
const callers = 4;
const minute = 60;

/** Nobody makes anything new, so that all meet in what there is. */
const weights = {
  addOrganizationMember: 3,
  setOrganizationMemberRole: 2,
  removeOrganizationMember: 6,
  addTeamMember: 4,
  removeTeamMember: 2,
  migrateTeam: 5,
  detachTeam: 2,
  undoMigration: 3,
  proposeTransfer: 4,
  acceptTransfer: 4,
  refuseTransfer: 1,
  addOrganizationMembers: 1,
  addTeamMembers: 2,
  inviteMembers: 3,
  revokeInvitation: 1,
  acceptInvitation: 4,
  declineInvitation: 1,
  deleteOrganization: 3,
  restoreOrganization: 2,
  deleteTeam: 3,
  restoreTeam: 3,
  setTeamMemberRole: 2,
} as const;

export const schedules: fc.Arbitrary<Schedule> = fc.record({
  seed: fc.nat(),
  anyone: fc.boolean(),
  draws: fc.array(drawn(weights, people), { minLength: 2, maxLength: callers * 2 }),
});

/** Throws with what is wrong, in words. */
export async function playSchedule({ seed, draws, anyone = false }: Schedule): Promise<void> {
  const random = createRandom(seed);
  const rules: Rules = { operators: new Set([operator]), anyoneCreates: anyone };
  const scheduler = createScheduler(random);
  const reader = createMemoryReader(scheduler.memory);
  const ids = new Map<string, string>();
  const cast: Cast = { organizations: ['first', 'second'], teams: ['inside', 'alone'] };
  const story: string[] = [];
  const faults: string[] = [];
  /** What there was after each commit. */
  const moments: World[] = [];
  let looking = Promise.resolve();

  const act = async (context: ReturnType<typeof contextOf>, action: Action): Promise<void> => {
    const from = Math.max(moments.length - 1, 0);
    const played = await playOn(context, action, ids);
    story.push(`${JSON.stringify(action)} → ${JSON.stringify(played)}`);
    await looking;
    if (moments.length === 0 || played.later) return;
    if (!moments.slice(from).some((world) => agrees(world, action, played, rules))) {
      faults.push(`at no moment the reply should be ${JSON.stringify(played)} to ${JSON.stringify(action)}`);
    }
  };
  const look = async (): Promise<void> => {
    const found = await reader.snapshot();
    faults.push(...faultsOf(found).map((fault) => `${fault} (moment ${moments.length})`));
    moments.push(named(found.world, await reader.events(), ids));
  };

  const first = contextOf(scheduler.client(0), anyone);
  await scheduler.run(
    [
      async () => {
        for (const action of opening) await act(first, action);
      },
    ],
    () => undefined,
  );
  await look();
  const actions = draws.map((draw, i) => actionOf(cast, String(i), draw));
  const works = Array.from({ length: callers }, (_, n) => async () => {
    const context = contextOf(scheduler.client(n * minute), anyone);
    for (const action of actions.filter((_, i) => i % callers === n)) await act(context, action);
  });
  await scheduler.run(works, () => {
    looking = looking.then(look);
  });
  await looking;
  try {
    if (faults.length > 0) throw new Error(faults.slice(0, 5).join('\n'));
    await checkAtRest(reader, 'all of it');
    for (const organization of cast.organizations) {
      const organizationId = ids.get(organization) ?? '';
      await scheduler.run(
        [() => act(first, { kind: 'restoreOrganization', by: operator, organization })],
        () => undefined,
      );
      const { items } = await listEvents({ store: scheduler.memory }, callerOf(operator), organizationId, {});
      const events = await reader.events();
      const listed = items.map(({ id }) => id).toReversed();
      const committed = events.filter((each) => each.organizationId === organizationId).map(({ id }) => id);
      if (listed.join() !== committed.join()) throw new Error(`the events of ${organization} are out of order`);
    }
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${story.join('\n')}`);
  }
}

function agrees(world: World, action: Action, { status, named }: Played, rules: Rules): boolean {
  const copy = structuredClone(world);
  const expected = play(copy, action, rules);
  if (expected.status !== status) return false;
  return String(expected.named) === String(named);
}

/** By the test's names; with what each team was before it was migrated, which its event tells. */
function named(world: World, events: readonly StoredEvent[], ids: ReadonlyMap<string, string>): World {
  const names = new Map([...ids].map(([name, id]) => [id, name]));
  const teams = [...world.teams].map(([id, team]): [string, ModelTeam] => {
    const last = events.findLast(
      ({ teamId, action }) =>
        String(teamId) === id &&
        ['team-migrated', 'team-detached', 'team-left', 'team-migration-undone'].includes(action),
    );
    const { team: was, members = [] } = (last?.before ?? {}) as {
      readonly team?: { readonly organizationId?: string | null };
      readonly members?: readonly Member[];
    };
    const former = [...(last?.stayed ?? []), ...members].map(({ email, role }) => [email, role] as const);
    const organization = team.organization && (names.get(team.organization) ?? team.organization);
    return [
      names.get(id) ?? id,
      {
        ...team,
        organization,
        former: last?.action === 'team-migrated' ? new Map(former) : undefined,
        agreed: was?.organizationId != null,
      },
    ];
  });
  return {
    organizations: new Map([...world.organizations].map(([id, each]) => [names.get(id) ?? id, each])),
    teams: new Map(teams),
    transfers: new Map(
      [...world.transfers].map(([key, each]) => {
        const [team = '', to = ''] = key.split('~');
        return [`${names.get(team) ?? team}~${names.get(to) ?? to}`, each];
      }),
    ),
  };
}

/** Fails with the smallest schedule that fails, and the command that plays it again. */
export async function searchSchedules(seed: number, runs: number): Promise<void> {
  const given = process.env['PLINTH_SCHEDULE'];
  if (given !== undefined) return playSchedule(JSON.parse(given) as Schedule);
  const details = await fc.check(fc.asyncProperty(schedules, playSchedule), { seed, numRuns: runs });
  if (!details.failed) return;
  const [schedule] = details.counterexample ?? [];
  expect.fail(
    `${details.errorInstance instanceof Error ? details.errorInstance.message : details.errorInstance}\n` +
      `after ${details.numRuns} schedules. To play it again:\n` +
      `PLINTH_SCHEDULE='${JSON.stringify(schedule)}' node dist/tools/tests/main.js node dist/test/organizations/schedules.test.js`,
  );
}
