/** Pools while processes die: whatever call of the store is the last one, the same command and sweep bring all to its end. */
import { expect } from 'chai';
import { Killed } from '../engine/world.js';
import { createPoolWorld, type PoolWorld } from './pool-world.js';

const quietly = async (work: Promise<unknown>): Promise<void> => {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof Killed)) throw error;
  }
};

/** Time passes, sweep comes, and another process goes on. */
async function recover({ world, steps }: PoolWorld): Promise<void> {
  for (let life = 0; life < 5; life++) {
    world.queue.splice(0);
    world.pass(120);
    if ((await world.sweep()) === 0) return;
    await world.drain(steps);
  }
}

describe('a process that dies at a call of the store', () => {
  for (const when of ['before', 'after'] as const) {
    it(`${when} any of a claim leaves a project that is claimed once, or is free`, async () => {
      let calls = 1;
      for (let call = 1; call <= calls; call++) {
        const made = createPoolWorld(2);
        const { world, steps } = made;
        await made.fill();
        world.revive();
        world.kill({ call, when });
        await quietly(made.begin('mine'));
        if (!world.isDead()) break;
        calls = call + 1;
        world.revive();
        await recover(made);
        const { bootstrap } = await made.begin('mine');
        await world.drain(steps);
        const records = (await made.records()).map(({ data }) => data);
        const mine = records.filter(({ name }) => name === 'mine');
        expect(mine.map(({ state }) => state)).to.deep.equal(['succeeded']);
        expect(mine[0]?.projectId).to.match(/^pool-/);
        expect(records.filter(({ pool }) => pool !== undefined)).to.have.length(1);
        expect((await world.read(bootstrap.id)).data.name).to.equal('mine');
        const versions = (world.secrets.get(`${bootstrap.id}-caller`) ?? []).filter((version) => version !== '');
        expect(versions, 'secrets of commands that died').to.have.length(1);
        const other = await made.begin('other');
        expect(other.bootstrap.data.projectId).not.to.equal(mine[0]?.projectId);
        await world.drain(steps);
        expect((await world.read(other.bootstrap.id)).data.state).to.equal('succeeded');
      }
      expect(calls).to.be.above(5);
    });

    it(`${when} any of a sweep leaves a pool that the next one fills`, async () => {
      let calls = 1;
      for (let call = 1; call <= calls; call++) {
        const made = createPoolWorld(3);
        const { world, steps } = made;
        world.kill({ call, when });
        await quietly(made.keep());
        if (!world.isDead()) break;
        calls = call + 1;
        world.revive();
        await recover(made);
        await made.fill();
        await world.drain(steps);
        const records = (await made.records()).map(({ data }) => data);
        expect(records.map(({ state }) => state)).to.deep.equal(['succeeded', 'succeeded', 'succeeded']);
      }
      expect(calls).to.be.above(2);
    });

    it(`${when} any that looks again and sets aside leaves nothing that nobody looks after`, async () => {
      let calls = 1;
      for (let call = 1; call <= calls; call++) {
        const made = createPoolWorld(3);
        const { world, steps } = made;
        await made.fill();
        world.pass(86_460);
        const [pool] = world.context.config.pools;
        world.revive();
        Object.assign(world.context.config, { pools: [{ ...pool, size: 1 }] });
        world.kill({ call, when });
        await quietly(made.keep());
        if (!world.isDead()) break;
        calls = call + 1;
        world.revive();
        Object.assign(world.context.config, { pools: [{ ...pool, size: 1 }] });
        await recover(made);
        await made.keep();
        await world.drain(steps);
        const records = (await made.records()).map(({ data }) => data);
        const aside = records.filter(({ pool: key }) => key === undefined);
        expect(aside).to.have.length(2);
        for (const { removeAt = '' } of aside)
          expect(removeAt <= world.context.clock.now().toISOString()).to.equal(true);
        const kept = records.filter(({ pool: key }) => key !== undefined);
        expect(kept.map(({ state, generation }) => [state, generation])).to.deep.equal([['succeeded', 2]]);
      }
      expect(calls).to.be.above(3);
    });
  }
});
