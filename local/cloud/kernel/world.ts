/**
 * The state of the simulated cloud and what happens to it in time: tables, ids, seeded chance, and effects that are due
 * later. Made once by `createSimulatedCloud`; every API sees it as `World`.
 */

import { createPolicies } from '../iam/policies.js';
import { findProject } from '../projects/projects.js';
import type { Effect, JsonObject, Services, World } from './api.js';
import { readFaults } from './faults.js';

/** All that a snapshot carries. */
export interface CloudState {
  schema: 1;
  tables: Record<string, Record<string, unknown>>;
  due: DueEffect[];
  sequence: number;
  chance: number;
}

interface DueEffect {
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

export interface WorldOptions {
  readonly services: Services;
  readonly state: CloudState;
  readonly effects: Readonly<Record<string, Effect>>;
  readonly timeFactor: number;
  /** An effect that throws is a fault of the simulator. */
  readonly onFault: (effect: string, error: unknown) => void;
}

export interface RunningWorld extends World {
  /** Does the work, and tells when all that it scheduled before its first await is over. */
  noting<T>(work: () => T): { readonly result: T; readonly until: number | undefined };
  /** Tells the listeners of a change made outside an effect. */
  changed(): void;
  close(): void;
}

/** The longest wait that setTimeout takes. */
const longestTimer = 2 ** 31 - 1;

export function createWorld({ services, state, effects, timeFactor, onFault }: WorldOptions): RunningWorld {
  const listeners = new Set<() => void>();
  let timer: NodeJS.Timeout | undefined;
  let running = false;
  let closed = false;
  let scheduledUntil: number | undefined;

  const world: RunningWorld = {
    services,
    table<T>(name: string) {
      state.tables[name] ??= {};
      return state.tables[name] as Record<string, T>;
    },
    now: () => Date.now(),
    random() {
      // mulberry32: small, and its whole state is one number that a snapshot can hold.
      state.chance = (state.chance + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state.chance ^ (state.chance >>> 15), 1 | state.chance);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    },
    id() {
      state.sequence += 1;
      const noise = String(Math.floor(world.random() * 1e9)).padStart(9, '0');
      return `${1 + (state.sequence % 8)}${noise}${String(state.sequence).padStart(9, '0')}`;
    },
    scaled: (seconds) => seconds * 1000 * timeFactor,
    schedule(seconds, effect, args, { exact = false } = {}) {
      if (effects[effect] === undefined) throw new Error(`no effect is named ${effect}`);
      state.sequence += 1;
      const spread = exact ? 1 : 0.7 + 0.6 * world.random();
      const at = world.now() + world.scaled(seconds) * spread;
      state.due.push({ at, order: state.sequence, effect, args });
      scheduledUntil = Math.max(at, scheduledUntil ?? at);
      rearm();
    },
    noting(work) {
      scheduledUntil = undefined;
      const result = work();
      return { result, until: scheduledUntil };
    },
    nextDue: () => (state.due.length === 0 ? undefined : Math.min(...state.due.map(({ at }) => at))),
    runDue() {
      // An effect may look at the world through the same doors as a request does.
      if (running || closed) return;
      running = true;
      let ran = 0;
      try {
        for (let next = takeNext(); next !== undefined; next = takeNext()) {
          ran += 1;
          if (ran > 100_000) throw new Error(`effects without end: ${next.effect}`);
          try {
            effects[next.effect]?.(next.args, world);
          } catch (error) {
            onFault(next.effect, error);
          }
        }
      } finally {
        running = false;
      }
      rearm();
      if (ran > 0) world.changed();
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    changed() {
      for (const listener of [...listeners]) listener();
    },
    project: (idOrNumber, needs) => findProject(world, idOrNumber, needs),
    policies: undefined as unknown as World['policies'],
    stockout: (project, zone, name, provisioning) => readFaults(world).stockout(project, zone, name, provisioning),
    quota: (project, region, metric) => readFaults(world).quota(project, region, metric),
    close() {
      closed = true;
      clearTimeout(timer);
      listeners.clear();
    },
  };

  function takeNext(): DueEffect | undefined {
    const now = world.now();
    let best = -1;
    for (const [i, due] of state.due.entries()) {
      if (due.at > now) continue;
      const other = state.due[best];
      if (other === undefined || due.at < other.at || (due.at === other.at && due.order < other.order)) best = i;
    }
    return best === -1 ? undefined : state.due.splice(best, 1)[0];
  }

  /** One timer for the next effect, so that what follows from it (a push, a watcher) need not wait for a request. */
  function rearm(): void {
    clearTimeout(timer);
    const next = world.nextDue();
    if (next === undefined || closed || running) return;
    timer = setTimeout(() => world.runDue(), Math.min(longestTimer, Math.max(0, next - world.now())));
    timer.unref();
  }

  Object.assign(world, { policies: createPolicies(world) });
  rearm();
  return world;
}
