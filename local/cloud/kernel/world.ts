/** The state of the simulated cloud and its changes over time: tables, ids, seeded chance, and effects that are due later. */

import { setTimeout as realSleep } from 'node:timers/promises';
import { type Agenda, createAgenda } from './agenda.js';
import type { Effect, JsonObject, Policies, Services, World } from './api.js';
import { type Limits, readFaults } from './faults.js';
import { findProject } from './projects.js';

/** Everything that a snapshot carries. */
export interface CloudState {
  schema: 1;
  tables: Record<string, Record<string, unknown>>;
  due: DueEffect[];
  sequence: number;
  chance: number;
}

export interface DueEffect {
  at: number;
  order: number;
  effect: string;
  args: JsonObject;
}

export const emptyState = (seed: number): CloudState => ({
  schema: 1,
  tables: {},
  due: [],
  sequence: 0,
  chance: seed >>> 0,
});

/** What the services above the kernel decide for it. */
interface Rules extends Limits {
  readonly policies: (world: World) => Policies;
  /** How many times its usual time an effect takes. */
  readonly pace: (world: World, effect: string) => number;
}

export interface WorldOptions {
  readonly services: Services;
  readonly rules: Rules;
  readonly state: CloudState;
  readonly effects: Readonly<Record<string, Effect>>;
  readonly timeFactor: number;
  /** In milliseconds since 1970. Default: real time. With another one, effects wait for the next request. */
  readonly now?: (() => number) | undefined;
  /** Waits for some milliseconds of that time. Default: of real time. */
  readonly sleep?: ((milliseconds: number) => Promise<void>) | undefined;
  /** Called when an effect throws, which is a fault of the simulator. */
  readonly onFault: (effect: string, error: unknown) => void;
}

export interface RunningWorld extends World, Pick<Agenda, 'noting'> {
  /** Tells the listeners about a change made outside an effect. */
  changed(): void;
  close(): void;
}

export function createWorld(options: WorldOptions): RunningWorld {
  const { services, rules, state, effects, timeFactor, now, sleep, onFault } = options;
  const listeners = new Set<() => void>();
  const random = createChance(state);
  const scaled = (seconds: number): number => seconds * 1000 * timeFactor;
  const changed = (): void => {
    for (const listener of [...listeners]) listener();
  };
  const agenda = createAgenda({
    state,
    random,
    now,
    scaled: (seconds) => world.scaled(seconds),
    isKnown: (effect) => effects[effect] !== undefined,
    paceOf: (effect) => rules.pace(world, effect),
    run(effect, args) {
      try {
        effects[effect]?.(args, world);
      } catch (error) {
        onFault(effect, error);
      }
    },
    onRun: changed,
  });
  const { schedule, noting, nextDue, runDue } = agenda;

  const world: RunningWorld = {
    services,
    table<T>(name: string) {
      state.tables[name] ??= {};
      return state.tables[name] as Record<string, T>;
    },
    now: now ?? Date.now,
    sleep: sleep ?? ((milliseconds) => realSleep(milliseconds, undefined, { ref: false })),
    random,
    id() {
      state.sequence += 1;
      const noise = String(Math.floor(random() * 1e9)).padStart(9, '0');
      return `${1 + (state.sequence % 8)}${noise}${String(state.sequence).padStart(9, '0')}`;
    },
    scaled,
    schedule,
    noting,
    nextDue,
    runDue,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    changed,
    project: (idOrNumber, needs) => findProject(world, idOrNumber, needs),
    policies: undefined as unknown as World['policies'],
    stockout: (project, zone, name, provisioning) =>
      readFaults(world, rules).stockout(project, zone, name, provisioning),
    quota: (project, region, metric) => readFaults(world, rules).quota(project, region, metric),
    close() {
      agenda.close();
      listeners.clear();
    },
  };
  Object.assign(world, { policies: rules.policies(world) });
  agenda.rearm();
  return world;
}

/** Seeded chance by mulberry32. It is small, and its whole state is one number, which fits a snapshot. */
const createChance = (state: CloudState) => (): number => {
  state.chance = (state.chance + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state.chance ^ (state.chance >>> 15), 1 | state.chance);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
};
