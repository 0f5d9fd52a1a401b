/** The settings of the world that the simulated cloud is: read by every API, changed one by one. */
import type { World } from '../kernel/api.js';
import { type ConstraintName, constraintNames, constraintOf, isConstraint } from './constraints.js';
import {
  type ChanceName,
  type ConsumerName,
  type DelayName,
  type QuotaName,
  type WorldName,
  type WorldTable,
  worldNames,
  worlds,
} from './table.js';

/** `quota.CPUS`, `policy.compute.requireOsLogin`, `delay.iamPolicy`, `pace.compute`, `chance.stockout`. */
export type WorldSettings = Readonly<Record<string, number | string>>;

interface Kept {
  name: WorldName;
  /** Settings that differ from the world's own. */
  set: Record<string, number | string>;
}

type Tables = Pick<World, 'table'>;

const kept = (world: Tables): Kept => {
  const table = world.table<Kept>('world');
  table['world'] ??= { name: 'seasoned', set: {} };
  return table['world'];
};

/**
 * Chooses another world, or changes single settings of the present one. All are in force at once. What was set alone stays only
 * if the world stays. Throws a sentence that names the key of a wrong setting.
 */
export function changeWorld(world: Tables, name: WorldName | undefined, given: WorldSettings = {}): void {
  const settings = readSettings(given);
  const now = kept(world);
  if (name !== undefined && now.name !== name) Object.assign(now, { name, set: {} } satisfies Kept);
  changeSettings(world, settings);
}

export const worldName = (world: Tables): WorldName => kept(world).name;

const groups = { quota: 'quotas', delay: 'delays', pace: 'paces', chance: 'chances' } as const;

const consumers: readonly string[] = ['resource', 'caller'];

/** All settings of a world by key. A policy that the world does not set is `off`. */
export function settingsOf(name: WorldName): Record<string, number | string> {
  const table: WorldTable = worlds[name];
  return Object.fromEntries([
    ...Object.entries(groups).flatMap(([prefix, group]) =>
      Object.entries(table[group]).map(([key, value]) => [`${prefix}.${key}`, value] as const),
    ),
    ...Object.entries(table.consumers).map(([key, value]) => [`consumer.${key}`, value] as const),
    ...constraintNames.map((key) => [`policy.${key}`, table.policies[key] ?? 'off'] as const),
  ]);
}

/** The settings in force. */
export const worldSettings = (world: Tables): Record<string, number | string> => {
  const { name, set } = kept(world);
  return { ...settingsOf(name), ...set };
};

const known = settingsOf('seasoned');

const readNumber = (key: string, value: number | string, most: number, whole: boolean): number => {
  const number = typeof value === 'number' ? value : /^\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= 0 && number <= most) || (whole && !Number.isInteger(number))) {
    throw new Error(`${key} must be a ${whole ? 'whole ' : ''}number from 0 to ${most}, not "${value}".`);
  }
  return number;
};

function readPolicyText(key: string, value: number | string): string {
  const name = key.slice('policy.'.length);
  const text = String(value);
  const isBoolean = isConstraint(name) && constraintOf(name).kind === 'boolean';
  const fits = isBoolean
    ? /^(off|enforced)$/.test(text)
    : /^(off|allow-all|deny-all|(allow|deny):[^,\s]+(,[^,\s]+)*)$/.test(text);
  if (fits) return text;
  const forms = isBoolean ? 'off or enforced' : 'off, allow-all, deny-all, allow:A,B or deny:A,B';
  throw new Error(`${key} must be ${forms}, not "${text}".`);
}

function readSetting(key: string, value: number | string): number | string {
  if (!Object.hasOwn(known, key)) throw new Error(`no world has a setting named ${key}.`);
  switch (key.slice(0, key.indexOf('.'))) {
    case 'policy':
      return readPolicyText(key, value);
    case 'consumer':
      if (consumers.includes(String(value))) return value;
      throw new Error(`${key} must be ${consumers.join(' or ')}, not "${value}".`);
    case 'chance':
      return readNumber(key, value, 1, false);
    case 'pace':
      return readNumber(key, value, 1000, false);
    case 'delay':
      return readNumber(key, value, 86_400, false);
    default:
      return readNumber(key, value, 10_000_000, true);
  }
}

/** Checks settings, and turns the text of numbers into numbers. Throws a sentence that names the key. */
export const readSettings = (given: WorldSettings): WorldSettings =>
  Object.fromEntries(Object.entries(given).map(([key, value]) => [key, readSetting(key, value)]));

/** Changes single settings. They must have been read. */
export function changeSettings(world: Tables, settings: WorldSettings): void {
  Object.assign(kept(world).set, settings);
}

export function readWorldName(text: string): WorldName {
  const found = worldNames.find((each) => each === text);
  if (found === undefined) throw new Error(`the world must be ${worldNames.join(', ')}, not "${text}".`);
  return found;
}

const numberAt = (world: Tables, key: string): number | undefined => {
  const { name, set } = kept(world);
  const changed = set[key];
  if (typeof changed === 'number') return changed;
  const dot = key.indexOf('.');
  const group = groups[key.slice(0, dot) as keyof typeof groups];
  const table: Readonly<Record<string, number>> = worlds[name][group];
  return table[key.slice(dot + 1)];
};

/** Undefined for a quota that no world numbers. */
export const quotaSetting = (world: Tables, name: QuotaName | (string & {})): number | undefined =>
  numberAt(world, `quota.${name}`);

/** Cloud seconds. */
export const delayOf = (world: Tables, name: DelayName): number => numberAt(world, `delay.${name}`) ?? 0;

/** How many times its usual time an effect takes: `compute.networks.default`. */
export const paceOf = (world: Tables, effect: string): number => numberAt(world, `pace.${effect.split('.')[0]}`) ?? 1;

/** In whose project an API must be on: `resource` or `caller`. */
export function consumerSetting(world: Tables, name: ConsumerName): string {
  const { name: chosen, set } = kept(world);
  return String(set[`consumer.${name}`] ?? worlds[chosen].consumers[name]);
}

/** The policy of every organization, in one line. */
export function policySetting(world: Tables, name: ConstraintName): string {
  const { name: chosen, set } = kept(world);
  const { policies }: WorldTable = worlds[chosen];
  return String(set[`policy.${name}`] ?? policies[name] ?? 'off');
}

export const chanceOf = (world: Tables, name: ChanceName): number => numberAt(world, `chance.${name}`) ?? 0;
