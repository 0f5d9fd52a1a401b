/** What is waited for in the making without end: it fails with what and since when, over many functions too, and the same command goes on. */
import { expect } from 'chai';
import type { AnyStep, Outcome } from '../../functions/engine/step.js';
import { again } from '../../functions/engine/step.js';
import { toy } from './toys.js';
import { createWorld, type World } from './world.js';

describe('a wait in the making', () => {
  let world: World;
  let comes: boolean;
  let looks: number;
  beforeEach(() => {
    world = createWorld();
    comes = false;
    looks = 0;
  });

  /** Each look takes `looking` seconds of real time. */
  const waiting = (lane: 'cloud' | 'host', looking: number, outcome: Outcome): AnyStep =>
    toy(world, 'slow', {
      lane,
      run: async (_, make): Promise<Outcome> => {
        looks++;
        world.pass(looking);
        return comes ? make() : outcome;
      },
    });

  /** Each function has time for one look; nobody works for a while until the next. */
  async function goOn(step: AnyStep, id: string): Promise<void> {
    for (let turn = 0; turn < 1000 && (await world.read(id)).data.state === 'running'; turn++) {
      for (const message of world.queue.splice(0)) await world.run([step], message, 200);
      world.pass(400);
      await world.sweep();
    }
  }

  it('fails after half an hour of waiting, naming what for and since when; the same command goes on from there', async () => {
    const step = waiting('cloud', 0, again(200, 'the network is on its way'));
    const begun = new Date();
    const { bootstrap } = await world.begin([step]);
    await goOn(step, bootstrap.id);
    const { data } = await world.read(bootstrap.id);
    expect(data.state).to.equal('failed');
    const { problem } = data.instances['slow'] ?? {};
    expect(problem?.code).to.equal('cloud-propagation');
    expect(problem?.detail).to.match(
      /^"The slow" was waited for since \S+Z, for 30 min, and there is no end: the network/,
    );
    const since = new Date(/since (\S+),/.exec(problem?.detail ?? '')?.[1] ?? '');
    expect(since.getTime() - begun.getTime()).to.be.within(0, 60_000);
    expect(problem?.advice).to.include('the same command goes on');
    expect(looks).to.equal(10);

    await world.begin([step]);
    comes = true;
    await goOn(step, bootstrap.id);
    expect(await world.states(bootstrap.id)).to.deep.equal({ slow: 'done' });
  });

  it('counts what looking takes, such as following a job, and has the patience that the step asks for', async () => {
    const step = waiting('host', 15, again(0, 'layer 3 of 9', 7200));
    const { bootstrap } = await world.begin([step]);
    const before = world.context.clock.now();
    for (const message of world.queue.splice(0)) await world.run([step], message, 100_000);
    const { data } = await world.read(bootstrap.id);
    expect(data.instances['slow']?.problem).to.include({ code: 'host-failed' });
    expect(data.instances['slow']?.problem?.detail).to.match(/for 2 h, and there is no end: layer 3 of 9\.$/);
    expect((world.context.clock.now().getTime() - before.getTime()) / 1000).to.be.within(7200, 7230);
  });

  it('holds nothing against it while no function is at work', async () => {
    const step = waiting('cloud', 0, again(200, 'the network is on its way'));
    const { bootstrap } = await world.begin([step]);
    for (const message of world.queue.splice(0)) await world.run([step], message, 200);
    world.pass(36_000);
    await world.sweep();
    expect(looks).to.equal(1);
    comes = true;
    await goOn(step, bootstrap.id);
    expect(await world.states(bootstrap.id)).to.deep.equal({ slow: 'done' });
  });
});
