/** The simulated cloud without sockets and timers: whoever holds it calls its handlers, and says what time it is. */
import { makeKernel, makeWorld } from './assemble.js';
import { isBarred } from './iam/service-accounts.js';
import { applyInitial, type InitialState } from './initial.js';
import type { World } from './kernel/api.js';
import { type Calls, createCalls } from './kernel/calls.js';
import { createFaults, type Faults } from './kernel/faults.js';
import type { Kernel } from './kernel/kernel.js';
import { emptyState } from './kernel/world.js';
import type { WorldSettings } from './worlds/settings.js';
import { changeWorld } from './worlds/settings.js';
import type { WorldName } from './worlds/table.js';

export interface DirectCloud {
  readonly world: World;
  readonly calls: Calls;
  readonly faults: Faults;
  /** One request, as a server would get it. */
  readonly answer: Kernel;
}

export interface DirectCloudOptions {
  readonly seed: number;
  readonly initial: InitialState;
  /** In milliseconds since 1970. */
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
  readonly world?: WorldName | undefined;
  readonly settings?: WorldSettings | undefined;
}

/** A caller's token is the e-mail of its service account. */
export function createDirectCloud({
  seed,
  initial,
  now,
  sleep,
  world: name,
  settings,
}: DirectCloudOptions): DirectCloud {
  const world = makeWorld({
    state: emptyState(seed),
    timeFactor: 1,
    now,
    sleep,
    onFault: (effect, error) => {
      throw new Error(`effect ${effect} of the simulated cloud`, { cause: error });
    },
  });
  applyInitial(world, initial);
  changeWorld(world, name, settings);
  const calls = createCalls();
  return {
    world,
    calls,
    faults: createFaults(world),
    answer: makeKernel({
      world,
      calls,
      callerOf: (email) => (isBarred(world, email) ? undefined : { email, kind: 'serviceAccount' }),
    }),
  };
}
