/**
 * People who change the same few organizations and teams at once, while functions die and the database fails. Judged: the rules
 * of the model at every commit, events that tell all of it in the order of the commits, and each reply as the model would have
 * given it at some moment between the call and the reply.
 */
import { listEvents } from '../../functions/organizations/events/events.js';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import { actionOf, type Cast, type Drawn } from '../organizations/actions.js';
import { checkAtRest, faultsOf } from '../organizations/at-rest.js';
import { agrees, named } from '../organizations/by-name.js';
import type { Action, ActionKind, Rules, World } from '../organizations/model.js';
import { operator } from '../organizations/organizations-server.js';
import { callerOf, contextOf, playOn } from '../organizations/play-functions.js';
import { createRandom, type Random } from '../organizations/random.js';
import { createMemoryReader } from '../organizations/snapshot.js';
import { opening } from '../organizations/storm.js';
import { type Disturbance, storeOf } from './process-store.js';
import { createScheduler, type Process } from './scheduler.js';
import { createTeller, simulationOf, type Told } from './told.js';

export type OrganizationsItem =
  | { readonly kind: 'act'; readonly caller: number; readonly drawn: Drawn }
  /** At the n-th call of a caller to the database, from 0. */
  | { readonly kind: 'disturb'; readonly caller: number; readonly call: number; readonly how: Disturbance }
  /** Anyone may make organizations, so a migration needs an admin of the team as well. */
  | { readonly kind: 'open' };

const people = ['alice', 'bob', 'carol'].map((name) => `${name}@example.com`);
const callers = 4;
const aheadSeconds = 60;

/** Nobody makes anything new, so that all meet in what there is. */
const weights: Partial<Readonly<Record<ActionKind, number>>> = {
  addOrganizationMember: 3,
  setOrganizationMemberRole: 2,
  removeOrganizationMember: 6,
  addTeamMember: 4,
  removeTeamMember: 2,
  migrateTeam: 5,
  detachTeam: 2,
  undoMigration: 3,
  proposeTransfer: 6,
  acceptTransfer: 6,
  refuseTransfer: 1,
  addOrganizationMembers: 1,
  addTeamMembers: 2,
  inviteMembers: 3,
  resendInvitation: 1,
  revokeInvitation: 1,
  acceptInvitation: 4,
  declineInvitation: 1,
  renameOrganization: 1,
  renameTeam: 1,
  deleteOrganization: 3,
  restoreOrganization: 2,
  deleteTeam: 3,
  restoreTeam: 3,
  setTeamMemberRole: 2,
  setOrganizationCeilings: 2,
  setTeamCeilings: 2,
};
const kinds = Object.entries(weights).flatMap(([kind, weight]) => Array<ActionKind>(weight).fill(kind as ActionKind));

/** What the draws of a plan are taken from. */
interface Pool {
  readonly kinds: readonly ActionKind[];
  readonly callers: readonly string[];
  readonly emails: readonly string[];
  readonly organizations: readonly number[];
  readonly teams: readonly number[];
}

/** In half of the plans few kinds of actions meet in one place. Else what breaks under two of them alone would be found late. */
function poolOf(random: Random): Pool {
  const everybody = { kinds, callers: [operator, operator, ...people], emails: people };
  if (random.maybe(0.5)) return { ...everybody, organizations: [0, 1], teams: [0, 1] };
  const few = <T>(all: readonly T[], most: number): T[] => Array.from({ length: most }, () => random.pick(all));
  const chosen = few(kinds, 2 + random.below(2));
  return {
    // An answer without its question says little.
    kinds: chosen.includes('acceptTransfer') ? [...chosen, 'proposeTransfer'] : chosen,
    callers: few(everybody.callers, 3),
    emails: few(people, 2),
    organizations: [random.below(2)],
    teams: [random.below(2)],
  };
}

const drawFrom = (random: Random, pool: Pool): Drawn => ({
  kind: random.pick(pool.kinds),
  by: random.pick(pool.callers),
  email: random.pick(pool.emails),
  organization: random.pick(pool.organizations),
  team: random.pick(pool.teams),
  admin: random.maybe(0.5),
  force: random.maybe(0.5),
  alone: random.maybe(0.5),
});

const hows: readonly Disturbance[] = ['fails before', 'fails after', 'dies before', 'dies after'];

function planOf(seed: number): OrganizationsItem[] {
  const random = createRandom(seed);
  const pool = poolOf(random);
  const acts = Array.from(
    { length: 2 + random.below(callers * 2 - 1) },
    (_, i): OrganizationsItem => ({
      kind: 'act',
      caller: i % callers,
      drawn: drawFrom(random, pool),
    }),
  );
  // Half of the seeds are undisturbed, because each disturbed call says nothing about its reply.
  const disturbed = random.maybe(0.5) ? 0 : 1 + random.below(3);
  const disturbances = Array.from(
    { length: disturbed },
    (): OrganizationsItem => ({
      kind: 'disturb',
      caller: random.below(callers),
      call: random.below(20),
      how: random.pick(hows),
    }),
  );
  return [...(random.maybe(0.5) ? [{ kind: 'open' } as const] : []), ...acts, ...disturbances];
}

/** All that a play shares. */
function createStage(seed: number, items: readonly OrganizationsItem[]) {
  const random = createRandom(seed ^ 0x5eed);
  const scheduler = createScheduler(random, 'anybody');
  const memory = createMemoryStore(scheduler.time);
  return {
    scheduler,
    memory,
    anyone: items.some(({ kind }) => kind === 'open'),
    reader: createMemoryReader(memory),
    teller: createTeller(),
    ids: new Map<string, string>(),
    cast: { organizations: ['first', 'second'], teams: ['inside', 'alone'] } satisfies Cast,
    /** What there was after each commit. */
    moments: [] as World[],
    looking: Promise.resolve(),
    /** Calls of each caller to the database. */
    counts: new Map<number, number>(),
    /** Actions whose replies say nothing, because a call of theirs was disturbed. */
    disturbed: new Set<Action>(),
    at: new Map<number, Action>(),
  };
}
type Stage = ReturnType<typeof createStage>;

async function look({ reader, teller, scheduler, moments, ids }: Stage): Promise<void> {
  const found = await reader.snapshot();
  for (const fault of faultsOf(found)) teller.wrong(scheduler.time(), `${fault} (moment ${moments.length})`);
  moments.push(named(found.world, await reader.events(), ids));
}

function contextFor(stage: Stage, process: Process, caller: number, items: readonly OrganizationsItem[]) {
  const store = storeOf(stage.memory, process, {
    answers: false,
    disturb() {
      const nth = stage.counts.get(caller) ?? 0;
      stage.counts.set(caller, nth + 1);
      const hit = items.find((each) => each.kind === 'disturb' && each.caller === caller && each.call === nth);
      if (hit?.kind !== 'disturb') return undefined;
      stage.teller.tell(stage.scheduler.time(), process.name, `its call ${nth} to the database ${hit.how} its effect`);
      const action = stage.at.get(caller);
      if (action !== undefined) stage.disturbed.add(action);
      return hit.how;
    },
    onCommit() {
      if (stage.moments.length > 0) stage.looking = stage.looking.then(() => look(stage));
    },
  });
  return contextOf({ store, clock: process.clock, random: process.random }, stage.anyone);
}

type ActingContext = ReturnType<typeof contextFor>;

async function act(stage: Stage, process: Process, context: ActingContext, action: Action): Promise<void> {
  const { moments, teller, scheduler, ids } = stage;
  const rules: Rules = { operators: new Set([operator]), anyoneCreates: stage.anyone };
  const from = Math.max(moments.length - 1, 0);
  teller.tell(scheduler.time(), process.name, `asks ${JSON.stringify(action)}`);
  const played = await playOn(context, action, ids);
  teller.tell(scheduler.time(), process.name, `hears ${JSON.stringify(played)} to ${action.kind}`);
  await stage.looking;
  if (moments.length === 0 || played.later || stage.disturbed.has(action)) return;
  if (!moments.slice(from).some((world) => agrees(world, action, played, rules))) {
    teller.wrong(
      scheduler.time(),
      `at no moment the reply should be ${JSON.stringify(played)} to ${JSON.stringify(action)}`,
    );
  }
}

/** One after the other, by somebody whom nothing disturbs. */
async function alone(stage: Stage, name: string, actions: readonly Action[]): Promise<void> {
  const process = stage.scheduler.process(name);
  const context = contextFor(stage, process, -1, []);
  stage.scheduler.start(process, async () => {
    for (const action of actions) await act(stage, process, context, action);
  });
  await stage.scheduler.run();
}

/** The rest of a caller's actions go on in another process when one has died. */
async function playCallers(stage: Stage, items: readonly OrganizationsItem[]): Promise<void> {
  const actions = items.flatMap((each, i) =>
    each.kind === 'act' ? { caller: each.caller, action: actionOf(stage.cast, String(i), each.drawn) } : [],
  );
  const left = new Map<number, Action[]>();
  for (const { caller, action } of actions) left.set(caller, [...(left.get(caller) ?? []), action]);
  for (let lives = 0; [...left.values()].some(({ length }) => length > 0); lives++) {
    for (const [caller, rest] of left) {
      const process = stage.scheduler.process(
        `caller ${caller}${lives === 0 ? '' : `, life ${lives + 1}`}`,
        caller * aheadSeconds,
      );
      const context = contextFor(stage, process, caller, items);
      stage.scheduler.start(process, async () => {
        for (let next = rest.shift(); next !== undefined; next = rest.shift()) {
          stage.at.set(caller, next);
          await act(stage, process, context, next);
        }
      });
    }
    await stage.scheduler.run();
  }
}

const restoring = ({ cast }: Stage): Action[] =>
  cast.organizations.map((organization) => ({ kind: 'restoreOrganization', by: operator, organization }));

/** What a disturbed action left half-way is taken up by whoever asks for the same again. */
async function takeUp(stage: Stage): Promise<void> {
  stage.scheduler.pass(600);
  // A removal is finished by one with force. Without it, it may be refused, and the mark stands until the next change.
  const again = [...stage.disturbed].map((action) => ({
    ...action,
    by: operator,
    ...('force' in action && { force: true }),
  }));
  for (const action of again) stage.disturbed.add(action);
  // Before each of them, because one may be the deletion of the other's organization.
  await alone(
    stage,
    'operator',
    again.flatMap((action) => [...restoring(stage), action]),
  );
  stage.scheduler.pass(600);
}

async function judgeAtRest(stage: Stage): Promise<void> {
  const { reader, teller, scheduler, cast, ids, memory } = stage;
  await stage.looking;
  const isWrong = (error: unknown): void =>
    teller.wrong(scheduler.time(), error instanceof Error ? error.message : String(error));
  if (teller.told().faults.length > 0) return;
  await checkAtRest(reader, 'all of it').catch(isWrong);
  await alone(stage, 'operator', restoring(stage));
  const events = await reader.events();
  for (const organization of cast.organizations) {
    const organizationId = ids.get(organization) ?? '';
    const { items } = await listEvents({ store: memory }, callerOf(operator), organizationId, {});
    const listed = items.map(({ id }) => id).toReversed();
    const committed = events.filter((each) => each.organizationId === organizationId).map(({ id }) => id);
    if (listed.join() !== committed.join()) isWrong(`the events of ${organization} are out of order`);
  }
}

export async function playOrganizations(seed: number, items: readonly OrganizationsItem[]): Promise<Told> {
  const stage = createStage(seed, items);
  try {
    await alone(stage, 'opening', opening);
    await look(stage);
    await playCallers(stage, items);
    await takeUp(stage);
    await judgeAtRest(stage);
  } catch (error) {
    stage.teller.wrong(stage.scheduler.time(), error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  const { teller, scheduler, memory } = stage;
  teller.tell(scheduler.time(), 'end', JSON.stringify(memory.dump()['organizationEvents'] ?? {}));
  return teller.told();
}

export const organizations = simulationOf('organizations', planOf, playOrganizations);
