import { expect } from 'chai';
import fc from 'fast-check';
import type { AnyStep, Needs } from '../../functions/engine/step.js';
import type { StepMessage } from '../../shared/bootstrap/message.js';
import { Problem } from '../../shared/problems.js';
import { bySeed, searchFor, searchMs } from '../support/search.js';
import { letters, toy } from './toys.js';
import { createWorld, type World } from './world.js';

/** Each step needs some of those before it; some have keys, some fail once. */
interface Shape {
  readonly needs: readonly number[];
  readonly keyed: boolean;
  readonly fails: boolean;
}

const shapes = fc.array(
  fc.record({ needs: fc.array(fc.nat(7), { maxLength: 3 }), keyed: fc.boolean(), fails: fc.boolean() }),
  { minLength: 1, maxLength: 8 },
);

function build(world: World, all: readonly Shape[]): AnyStep[] {
  const steps: AnyStep[] = [];
  for (const [i, { needs, keyed, fails }] of all.entries()) {
    const chosen = steps.filter((_, j) => needs.includes(j));
    const failed = new Set<string>();
    steps.push(
      toy(world, `s${i}`, {
        needs: Object.fromEntries(chosen.map((step) => [step.name, step])) as Needs,
        ...(keyed ? { each: letters } : {}),
        run: async ({ key }, make) => {
          if (fails && !failed.has(key)) {
            failed.add(key);
            throw new Problem('cloud-unavailable', 'Down.');
          }
          return make();
        },
      }),
    );
  }
  return steps;
}

/** The fifth death is the last, as run.test.ts proves. One death may not be counted yet. */
const isNearLastDeath = (lease: Readonly<Record<string, unknown>>): boolean => Number(lease['deaths']) >= 3;

describe('a storm of lost, late, double and reordered messages, and of deaths', () => {
  it(`leaves each thing made once, whatever the graph ${bySeed}`, async () => {
    await searchFor(
      fc.asyncProperty(shapes, fc.infiniteStream(fc.nat(99)), async (all, dice) => {
        const world = createWorld();
        const steps = build(world, all);
        const roll = (): number => dice.next().value as number;
        const { bootstrap } = await world.begin(steps);
        const old: StepMessage[] = [];
        for (let round = 0; round < 200; round++) {
          if ((await world.read(bootstrap.id)).data.state !== 'running') break;
          const waiting = world.queue.splice(0);
          old.push(...waiting);
          const delivered = waiting
            .flatMap((message) => {
              const luck = roll();
              if (luck < 15) return [];
              return luck < 40 ? [message, message] : [message];
            })
            .concat(roll() < 30 && old.length > 0 ? [old[roll() % old.length] as StepMessage] : [])
            .sort(() => roll() - 50);
          if (roll() < 20 && !Object.values(world.store.dump()['leases'] ?? {}).some(isNearLastDeath))
            world.kill({ call: world.calls() + 1 + (roll() % 6), when: roll() < 50 ? 'before' : 'after' });
          await Promise.all(delivered.map((message) => world.run(steps, message).catch(() => undefined)));
          if (world.isDead()) world.revive();
          else world.kill(undefined);
          if (world.queue.length === 0) {
            world.pass(61);
            await world.sweep();
          }
        }
        expect((await world.read(bootstrap.id)).data.state).to.equal('succeeded');
        expect([...world.made].filter(([, times]) => times !== 1)).to.deep.equal([]);
        expect(world.store.dump()['leases']).to.deep.equal({});
      }),
    );
  }).timeout(searchMs + 240_000);
});
