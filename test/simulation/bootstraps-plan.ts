/** The plans of whole bootstraps: who asks for what and when, what the cloud and the deployment are like, and which calls and messages go wrong. */
import type { WorldSettings } from '../../local/cloud/worlds/settings.js';
import type { WorldName } from '../../local/cloud/worlds/table.js';
import type { ProblemCode } from '../../shared/problems.js';
import { createRandom, type Random } from '../organizations/random.js';
import type { Mishap as MachineMishap } from './machines.js';
import type { Disturbance } from './process-store.js';
import type { Refusal } from './quick-writes.js';

export type Fate = 'lost' | 'doubled' | 'late';

const doings = [
  'begin',
  'resume',
  'extend',
  'protect',
  'unprotect',
  'share',
  'unshare',
  'transfer',
  'cancel',
  'restart',
  'remove',
  'cleanup',
  'sweep',
  'stop',
  'open',
] as const;
export type Doing = (typeof doings)[number];

/** What makes it hard in the cloud, and which problems may end a bootstrap for that. */
export interface Difficulty {
  readonly world?: WorldName;
  readonly settings: WorldSettings;
  readonly ends: readonly ProblemCode[];
}

/** None of them keeps a bootstrap from its end for ever. */
export const difficulties = {
  'VMs meet stockouts': { settings: { 'chance.stockout': 0.3 }, ends: ['cloud-capacity'] },
  'spot VMs are taken away': { settings: { 'chance.preemption': 0.5 }, ends: [] },
  'there are few CPUs': { settings: { 'quota.CPUS': 12, 'chance.quotaGranted': 0 }, ends: ['cloud-quota'] },
  'more CPUs come late': { settings: { 'quota.CPUS': 12, 'delay.quotaDecision': 1200 }, ends: ['cloud-quota'] },
  'the organization forbids much': { world: 'hardened', settings: {}, ends: ['cloud-policy'] },
  'grants spread slowly': { settings: { 'delay.iamPolicy': 400 }, ends: [] },
  'services spread slowly': { settings: { 'delay.service': 300, 'delay.serviceOperation': 200 }, ends: [] },
  'services are never there': { settings: { 'delay.serviceOperation': 86_000 }, ends: ['cloud-propagation'] },
  'machines come slowly': { settings: { 'pace.compute': 8 }, ends: [] },
  // Whether one comes is known from the answer alone. Where that is lost, its id is taken, and that lasts too long.
  'projects come late': { settings: { 'delay.project': 1200 }, ends: ['cloud-propagation'] },
  'searches lag behind': { settings: { 'delay.projectSearch': 900, 'delay.secretList': 600 }, ends: [] },
} as const satisfies Readonly<Record<string, Difficulty>>;
export type DifficultyName = keyof typeof difficulties;

export type TeamName = 'alpha' | 'beta';
const teamDoings = [
  'migrate',
  'migrate',
  'migrate',
  'undo',
  'undo',
  'detach',
  'join',
  'leave',
  'share',
  'unshare',
] as const;
const people = ['alice@example.com', 'bob@example.com', 'dave@example.com'] as const;

export type BootstrapsItem =
  | {
      readonly kind: 'do';
      readonly what: Doing;
      readonly name: string;
      readonly atSeconds: number;
      readonly variant: number;
    }
  /** At the n-th call of all, from 0. */
  | { readonly kind: 'call'; readonly nth: number; readonly how: Disturbance }
  | { readonly kind: 'message'; readonly nth: number; readonly fate: Fate }
  | { readonly kind: 'cloud'; readonly is: DifficultyName }
  /** Whoever is due within so many seconds of the next may go on before. */
  | { readonly kind: 'order'; readonly withinSeconds: number }
  /** The deployment has ceilings of so many USD. */
  | { readonly kind: 'ceilings'; readonly month: number; readonly beyond: 'warn' | 'stop' }
  /** It prepares projects, until an operator drains them. */
  | { readonly kind: 'pool'; readonly size: number; readonly drainAtSeconds: number }
  /** Bootstraps belong to teams. Who is outside loses their teams as those move into the organization, which may have so many. */
  | { readonly kind: 'teams'; readonly outside: string | undefined; readonly living: number | undefined }
  | {
      readonly kind: 'team';
      readonly what: (typeof teamDoings)[number];
      readonly team: TeamName;
      readonly atSeconds: number;
    }
  /** The store takes one write a second of a document. */
  | { readonly kind: 'quick writes'; readonly are: Refusal }
  /** Google takes up to three quarters of a minute to carry out a write of a policy. */
  | { readonly kind: 'slow policies' }
  /** Nothing answers late. Else some answers take seconds. */
  | { readonly kind: 'prompt' }
  /** Until then an earlier release wrote the records. */
  | { readonly kind: 'release'; readonly atSeconds: number }
  /** Bootstraps go on to their machines, and install a package there. */
  | { readonly kind: 'machines' }
  | { readonly kind: 'mishap'; readonly machine: string; readonly atSeconds: number; readonly how: MachineMishap };

export type Teams = Extract<BootstrapsItem, { kind: 'teams' }>;
export type Teaming = Extract<BootstrapsItem, { kind: 'team' }>;
export type Mishap = Extract<BootstrapsItem, { kind: 'mishap' }>;
export type Acting = Extract<BootstrapsItem, { kind: 'do' }>;

const hour = 3600;
const hows: readonly Disturbance[] = ['fails before', 'fails after', 'dies before', 'dies after', 'is late after'];
const fates: readonly Fate[] = ['lost', 'doubled', 'late'];
export const variants = 12;

const several = <T>(random: Random, most: number, make: () => T): T[] =>
  Array.from({ length: random.below(most) }, make);

/** Most of it happens while things are made. In some plans people ask for everything within moments. */
function actsOf(random: Random, names: readonly string[]): BootstrapsItem[] {
  const together = random.maybe(0.3) ? random.below(random.pick([10, 300, 1500])) : undefined;
  const moment = (): number => {
    if (together !== undefined) return together + random.next() * 4;
    return random.maybe(0.7) ? random.below(1500) : random.below(3 * hour);
  };
  return several(random, 7, () => ({
    kind: 'do',
    what: random.pick(doings),
    name: random.pick(names),
    atSeconds: moment(),
    variant: random.below(variants),
  }));
}

/** What the world of a plan is like. Half of the worlds are plain. */
function surroundingsOf(random: Random): BootstrapsItem[] {
  const some: BootstrapsItem[] = [];
  if (random.maybe(0.7)) some.push({ kind: 'order', withinSeconds: random.pick([0.2, 1, 5]) });
  if (random.maybe(0.4)) some.push({ kind: 'cloud', is: random.pick(Object.keys(difficulties) as DifficultyName[]) });
  if (random.maybe(0.2))
    some.push({ kind: 'ceilings', month: random.pick([5, 10, 20]), beyond: random.pick(['warn', 'stop']) });
  if (random.maybe(0.2)) some.push({ kind: 'pool', size: 1 + random.below(2), drainAtSeconds: random.below(2 * hour) });
  if (random.maybe(0.1)) some.push({ kind: 'release', atSeconds: random.below(2 * hour) });
  return some;
}

/** Whom it is given to loses it again within moments, and Google is slow with their roles. Most of them stand by then. */
function comingsOf(random: Random, names: readonly string[]): BootstrapsItem[] {
  if (!random.maybe(0.2)) return [];
  const name = random.pick(names);
  const from = 700 + random.below(1900);
  const asks = (what: Doing, variant: number, seconds: number): BootstrapsItem => ({
    ...{ kind: 'do', what, name, variant },
    atSeconds: from + seconds,
  });
  const after = 5 + random.next() * 25;
  const pair = random.maybe(0.7)
    ? [asks('share', 0, 0), asks('unshare', 0, after)]
    : [asks('transfer', 0, 0), asks('transfer', 1, after)];
  return [{ kind: 'slow policies' }, ...pair];
}

/** Several begin within two seconds, and somebody may stop that just then. */
function rushOf(random: Random): BootstrapsItem[] {
  if (!random.maybe(0.15)) return [];
  const from = random.below(600);
  const rushing = (what: Doing, name: string): BootstrapsItem => ({
    kind: 'do',
    what,
    name,
    atSeconds: from + random.next() * 2,
    variant: random.below(variants),
  });
  const stops = random.maybe(0.5) ? [rushing('stop', 'third')] : [];
  return [rushing('begin', 'third'), rushing('begin', 'fourth'), ...stops];
}

/** In a third of the plans. Some of it happens within moments of what else people ask for. */
function teamsOf(random: Random, acts: readonly BootstrapsItem[]): BootstrapsItem[] {
  if (!random.maybe(0.35)) return [];
  const moments = acts.flatMap((each) => ('atSeconds' in each ? [each.atSeconds] : []));
  const moment = (): number => {
    if (random.maybe(0.4)) return Math.max(0, random.pick(moments) + random.next() * 6 - 3);
    return random.maybe(0.7) ? random.below(1500) : random.below(3 * hour);
  };
  const some = Array.from(
    { length: 2 + random.below(6) },
    (): BootstrapsItem => ({
      kind: 'team',
      what: random.pick(teamDoings),
      team: random.pick(['alpha', 'alpha', 'beta'] as const),
      atSeconds: moment(),
    }),
  );
  const outside = random.maybe(0.7) ? random.pick(people) : undefined;
  const living = random.maybe(0.4) ? 1 : undefined;
  return [{ kind: 'teams', outside, living }, ...some];
}

/** Of a small platform. */
const machineNames = ['jumpbox', 'k0s-1', 'k0s-2', 'k0s-3'];
const mishaps: readonly MachineMishap[] = ['restarts', 'restarts', 'is away', 'is away', 'is another', 'fails'];
/** Why a bootstrap may end for that. */
export const endsOfMishap: Readonly<Record<MachineMishap, readonly ProblemCode[]>> = {
  restarts: [],
  'is away': [],
  'is another': ['host-changed'],
  fails: ['host-failed'],
};

function machinesOf(random: Random): BootstrapsItem[] {
  const some = several(
    random,
    4,
    (): BootstrapsItem => ({
      kind: 'mishap',
      machine: random.pick(machineNames),
      atSeconds: 180 + random.below(1200),
      how: random.pick(mishaps),
    }),
  );
  return [{ kind: 'machines' }, ...some];
}

export function planOf(seed: number): BootstrapsItem[] {
  const random = createRandom(seed);
  const names = ['first', 'second'].slice(0, 1 + random.below(2));
  const begins = names.map(
    (name): BootstrapsItem => ({
      kind: 'do',
      what: 'begin',
      name,
      atSeconds: random.below(300),
      variant: random.below(variants),
    }),
  );
  const acts = actsOf(random, names);
  const calls = several(
    random,
    6,
    (): BootstrapsItem => ({ kind: 'call', nth: random.below(1500), how: random.pick(hows) }),
  );
  const messages = several(
    random,
    4,
    (): BootstrapsItem => ({ kind: 'message', nth: random.below(80), fate: random.pick(fates) }),
  );
  const surroundings = surroundingsOf(random);
  const asked = [...begins, ...acts, ...comingsOf(random, names), ...rushOf(random)];
  return [...asked, ...calls, ...messages, ...surroundings, ...teamsOf(random, asked)];
}

/** The same plan, with machines and what befalls them. */
export const planWithMachines = (seed: number): BootstrapsItem[] => [
  ...planOf(seed),
  ...machinesOf(createRandom(seed)),
];

/** What a play is to have of one kind. Of several, the first counts. */
export const onlyOf = <K extends BootstrapsItem['kind']>(
  items: readonly BootstrapsItem[],
  kind: K,
): Extract<BootstrapsItem, { kind: K }> | undefined =>
  items.find((each): each is Extract<BootstrapsItem, { kind: K }> => each.kind === kind);
