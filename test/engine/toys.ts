/** Toy steps: each makes one thing in a world, unless it is told otherwise. */
import * as z from 'zod';
import type { AnyStep, Each, Needs, Outcome, StepCall } from '../../functions/engine/step.js';
import type { World } from './world.js';

export const letters: Each<'letters'> = { of: 'letters', keys: () => ['a', 'b', 'c'] };
export const numbers: Each<'numbers'> = { of: 'numbers', keys: () => ['1', '2'] };

export interface ToyParts {
  readonly needs?: Needs;
  readonly each?: Each;
  readonly when?: () => boolean;
  readonly lane?: 'cloud' | 'host';
  /** In place of making the thing. */
  readonly run?: (call: StepCall, make: () => Outcome) => Promise<Outcome>;
  readonly observe?: (call: StepCall, look: () => unknown) => Promise<unknown>;
  /** What is there of it when it does not come to its end. */
  readonly unfinished?: (call: StepCall) => Promise<unknown>;
}

/** Its thing is named as its instance; its output says what it was made from. */
export function toy(
  world: World,
  name: string,
  { needs = {}, each, when, lane = 'cloud', run, observe, unfinished }: ToyParts = {},
): AnyStep {
  const thingOf = ({ key }: StepCall): string => (key === '' ? name : `${name}:${key}`);
  const step = {
    name,
    title: `The ${name}`,
    lane,
    needs,
    ...(each === undefined ? {} : { each }),
    ...(when === undefined ? {} : { when }),
    ...(unfinished === undefined ? {} : { unfinished }),
    describe: (_: unknown, key: string) => [key === '' ? name : `${name} ${key}`],
    output: z.object({ thing: z.string(), from: z.unknown() }),
    async observe(call: StepCall) {
      const look = () => world.things.get(thingOf(call));
      return observe === undefined ? look() : observe(call, look);
    },
    async run(call: StepCall): Promise<Outcome> {
      const make = (): Outcome => {
        world.make(thingOf(call), { thing: thingOf(call), from: call.needs });
        return { kind: 'done' };
      };
      return run === undefined ? make() : run(call, make);
    },
    goes: 'project',
  };
  return step as unknown as AnyStep;
}
