/**
 * Whole bootstraps, from the first request to the removal, with people, sweep and cleanup. Functions die, calls fail before or
 * after their effect, and messages are lost, doubled and late.
 */
import { beginOrResume } from '../../functions/bootstraps/begin-or-resume.js';
import { cancel } from '../../functions/bootstraps/cancel.js';
import { lookAtFuses } from '../../functions/bootstraps/fuse.js';
import { extend, protect, unprotect } from '../../functions/bootstraps/lifetime.js';
import { share, unshare } from '../../functions/bootstraps/people.js';
import { requestRemoval } from '../../functions/bootstraps/removal.js';
import { followTeams } from '../../functions/bootstraps/team-roles.js';
import { warn } from '../../functions/bootstraps/warn.js';
import { cleanup } from '../../functions/cleanup/cleanup.js';
import type { Context } from '../../functions/context.js';
import { sweep } from '../../functions/engine/run/sweep.js';
import { steps } from '../../functions/steps/index.js';
import { local } from '../../local/stack/deployment.js';
import type { GivenOptions } from '../../shared/bootstrap/options.js';
import { functionNames } from '../../shared/names.js';
import { createRandom } from '../organizations/random.js';
import { acceptOptions } from '../support/accept-options.js';
import { createJudge, type Judge, secretWord } from './bootstraps-judge.js';
import { createStage, type Fate, type Stage } from './bootstraps-stage.js';
import type { Disturbance } from './process-store.js';
import { startsAt } from './scheduler.js';
import { fillKeyPool } from './seed-keys.js';
import { simulationOf, type Told } from './told.js';

const doings = [
  'begin',
  'resume',
  'extend',
  'protect',
  'unprotect',
  'share',
  'unshare',
  'cancel',
  'remove',
  'cleanup',
  'sweep',
] as const;
type Doing = (typeof doings)[number];

export type BootstrapsItem =
  | {
      readonly kind: 'do';
      readonly what: Doing;
      readonly name: string;
      readonly atSeconds: number;
      readonly variant: number;
    }
  | { readonly kind: 'call'; readonly nth: number; readonly how: Disturbance }
  | { readonly kind: 'message'; readonly nth: number; readonly fate: Fate };

const hour = 3600;
const ttls = ['1h', '2h', '3h'];
/** All of them must be removed by then. */
const horizonSeconds = 14 * hour;

const hows: readonly Disturbance[] = ['fails before', 'fails after', 'dies before', 'dies after'];
const fates: readonly Fate[] = ['lost', 'doubled', 'late'];

function planOf(seed: number): BootstrapsItem[] {
  const random = createRandom(seed);
  const names = ['first', 'second'].slice(0, 1 + random.below(2));
  const begins = names.map(
    (name): BootstrapsItem => ({
      kind: 'do',
      what: 'begin',
      name,
      atSeconds: random.below(300),
      variant: random.below(12),
    }),
  );
  const acts = Array.from(
    { length: random.below(6) },
    (): BootstrapsItem => ({
      kind: 'do',
      what: random.pick(doings),
      name: random.pick(names),
      // Most of it while things are made.
      atSeconds: random.maybe(0.7) ? random.below(1500) : random.below(3 * hour),
      variant: random.below(12),
    }),
  );
  const calls = Array.from(
    { length: random.below(6) },
    (): BootstrapsItem => ({
      kind: 'call',
      nth: random.below(1500),
      how: random.pick(hows),
    }),
  );
  const messages = Array.from(
    { length: random.below(4) },
    (): BootstrapsItem => ({
      kind: 'message',
      nth: random.below(80),
      fate: random.pick(fates),
    }),
  );
  return [...begins, ...acts, ...calls, ...messages];
}

function givenOf(name: string, variant: number): GivenOptions {
  return {
    projectName: name,
    billingAccount: variant % 5 === 4 ? local.otherBillingAccount : local.billingAccount,
    baseDomain: `${name}.example.com`,
    forge1AppClientId: 'client',
    forge1AppClientSecret: `${secretWord}-${name}`,
    projectTtl: ttls[variant % 3],
    ...(variant % 4 === 3 ? { spotVms: true } : {}),
  } as GivenOptions;
}

const owner = {
  email: 'alice@example.com',
  member: 'user:alice@example.com',
  identity: 'https://issuer.example alice',
  operator: false,
};

async function begin(context: Context, name: string, variant: number) {
  const given = givenOf(name, variant);
  const { options, secrets, warnings } = acceptOptions(given);
  const asked = { caller: owner, options, secrets, given, sshPublicKey: 'ssh-ed25519 AAAA alice', warnings };
  return (await beginOrResume(context, steps, asked as never)).bootstrap;
}

type Acting = Extract<BootstrapsItem, { kind: 'do' }>;

/** Undefined: there is no such bootstrap. The answer is the bootstrap as it is now. */
async function onBootstrap(context: Context, { what, name, variant, atSeconds }: Acting) {
  const [found] = await context.store.query({
    collection: 'bootstraps',
    where: [['name', '==', name]],
    orderBy: ['createdAt', 'desc'],
    limit: 1,
  });
  if (found === undefined) return undefined;
  const { id } = found;
  switch (what) {
    case 'extend':
      return extend(context, steps, id, owner.email, ttls[variant % 3] as string);
    case 'protect': {
      const until = new Date(startsAt + (atSeconds + (1 + (variant % 3)) * hour) * 1000).toISOString();
      return protect(context, steps, id, { email: owner.email, operator: true }, { until, reason: 'asked' });
    }
    case 'unprotect':
      return unprotect(context, steps, id, owner.email);
    case 'share':
      return share(context, steps, id, owner.email, 'bob@example.com');
    case 'unshare':
      return unshare(context, steps, id, owner.email, 'bob@example.com');
    case 'cancel':
      return cancel(context, steps, id, owner.email);
    default:
      return requestRemoval(context, steps, id, { by: owner.email, why: 'asked' });
  }
}

function person({ scheduler, teller, invoke }: Stage, { promised }: Judge, item: Acting): void {
  const { what, name, variant } = item;
  const post = scheduler.process('people');
  scheduler.start(post, async () => {
    await post.turn(item.atSeconds);
    if (what === 'sweep') return sweeps(invoke);
    if (what === 'cleanup') return cleansUp(invoke);
    teller.tell(scheduler.time(), 'alice', `asks to ${what} ${name} (${variant})`);
    const before = promised.get(name);
    // Until an answer is there, nobody knows what holds.
    promised.set(name, { asked: true, until: 0 });
    invoke(functionNames.bootstraps, `${what} ${name}`, async (context) => {
      const isRemoval = what === 'remove';
      try {
        const found =
          what === 'begin' || what === 'resume'
            ? await begin(context, name, variant)
            : await onBootstrap(context, item);
        if (found === undefined) return;
        const { deadlineAt, protection, removal, state } = found.data;
        const until = Math.max(Date.parse(deadlineAt), Date.parse(protection?.until ?? deadlineAt));
        promised.set(name, { asked: isRemoval || removal !== undefined || state === 'removed', until });
        teller.tell(scheduler.time(), 'alice', `hears that ${name} is ${state} until ${new Date(until).toISOString()}`);
      } catch (error) {
        if (before !== undefined && !isRemoval) promised.set(name, before.asked ? before : { asked: true, until: 0 });
        throw error;
      }
    });
  });
}

function sweeps(invoke: Stage['invoke']): void {
  invoke(functionNames.sweep, 'sweeps', async (context) => {
    await Promise.all([sweep(context), warn(context), lookAtFuses(context), followTeams(context)]);
  });
}

function cleansUp(invoke: Stage['invoke']): void {
  invoke(functionNames.cleanup, 'cleans up', async (context) => {
    await cleanup(context, steps);
  });
}

/** Sweep each minute and cleanup every five, until nothing lives and nobody comes any more. */
function schedule({ scheduler, invoke, memory }: Stage, lastSeconds: number): void {
  const post = scheduler.process('Cloud Scheduler');
  scheduler.start(post, async () => {
    for (let minute = 1; minute * 60 < horizonSeconds; minute++) {
      await post.turn(60);
      sweeps(invoke);
      if (minute % 5 === 0) cleansUp(invoke);
      const states = Object.values(memory.dump(['bootstraps'])['bootstraps'] ?? {}).map(({ state }) => state);
      if (minute * 60 > lastSeconds + 900 && states.every((state) => state === 'removed')) return;
    }
  });
}

export async function playBootstraps(seed: number, items: readonly BootstrapsItem[]): Promise<Told> {
  await fillKeyPool();
  const calls = new Map(items.flatMap((each) => (each.kind === 'call' ? [[each.nth, each.how] as const] : [])));
  const messages = new Map(items.flatMap((each) => (each.kind === 'message' ? [[each.nth, each.fate] as const] : [])));
  let judge: Judge | undefined;
  const stage = createStage(
    seed,
    { calls, messages },
    { onCommit: () => judge?.look(), onMessage: (message) => judge?.sent(message) },
  );
  try {
    judge = createJudge(stage);
    const acting = items.flatMap((each) => (each.kind === 'do' ? [each] : []));
    for (const item of acting) person(stage, judge, item);
    schedule(stage, Math.max(0, ...acting.map(({ atSeconds }) => atSeconds)));
    await stage.scheduler.run();
    judge.end();
  } catch (error) {
    stage.teller.wrong(stage.scheduler.time(), error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  stage.teller.tell(stage.scheduler.time(), 'end', `${stage.counts.calls} calls, ${stage.counts.messages} messages`);
  return stage.teller.told();
}

export const bootstraps = simulationOf('bootstraps', planOf, playBootstraps);
