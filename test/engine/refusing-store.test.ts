/** A store that takes few writes a second of one document, as Firestore may: nothing is lost, and nobody has to sweep. */
import { expect } from 'chai';
import { readEvents } from '../../functions/engine/record/events.js';
import type { AnyStep } from '../../functions/engine/step.js';
import { Conflict, type Store, type Write } from '../../functions/store/store.js';
import { letters, toy } from './toys.js';
import { createWorld, type World } from './world.js';

/** Firestore's words for too many writes of one document. */
const contention = 'Too much contention on these documents. Please try again.';
const refusalsAWrite = 2;

/** Whoever writes a document that has been written before is refused so many times first. Returns how many were refused. */
function refuseQuickWrites(store: Store): () => number {
  const { commit } = store;
  const left = new Map<string, number>();
  let refused = 0;
  const keyOf = ({ collection, id }: Write): string => `${collection}/${id}`;
  Object.assign(store, {
    async commit(writes: readonly Write[]) {
      const hot = writes.map(keyOf).filter((key) => (left.get(key) ?? 0) > 0);
      if (hot.length > 0) {
        for (const key of hot) left.set(key, (left.get(key) ?? 0) - 1);
        refused += 1;
        throw new Conflict(contention);
      }
      const versions = await commit(writes);
      for (const write of writes) left.set(keyOf(write), refusalsAWrite);
      return versions;
    },
  });
  return () => refused;
}

/** project → vm:a,b,c → host:a,b,c */
function steps(world: World): AnyStep[] {
  const project = toy(world, 'project');
  let asked = 0;
  const vm = toy(world, 'vm', {
    needs: { project },
    each: letters,
    run: async (_, make) => (++asked <= letters.keys({} as never).length ? again(asked) : make()),
  });
  const host = toy(world, 'host', { needs: { vm }, each: letters, lane: 'host' });
  return [project, vm, host];
}

const again = (seconds: number) => ({ kind: 'again', seconds, note: `being made for ${seconds} s` }) as const;

describe('a store that refuses quick writes of one document', () => {
  it('loses no instance of a bootstrap, and makes none wait for sweep', async () => {
    const world = createWorld();
    const refused = refuseQuickWrites(world.context.store);
    const made = steps(world);
    const { bootstrap } = await world.begin(made);
    const results = await world.drain(made);
    expect(new Set(results)).to.deep.equal(new Set(['done']));
    expect(await world.read(bootstrap.id)).to.have.nested.property('data.state', 'succeeded');
    expect([...world.made.values()]).to.deep.equal([1, 1, 1, 1, 1, 1, 1]);
    const { events } = await readEvents({ store: world.store }, bootstrap.id);
    expect(events.map(({ event }) => event.type).filter((type) => type === 'instance')).to.have.length(7);
    expect(world.store.dump()['leases']).to.deep.equal({});
    expect(refused()).to.be.above(0);
  });
});
