/** Instances of a bootstrap that end together share one commit, and each still ends by itself. */
import { expect } from 'chai';
import { leaseId } from '../../functions/engine/record/documents.js';
import { readEvents } from '../../functions/engine/record/events.js';
import type { RunResult } from '../../functions/engine/run/result.js';
import type { Write } from '../../functions/store/store.js';
import { collections } from '../../shared/names.js';
import { letters, toy } from './toys.js';
import { createWorld, type World } from './world.js';

interface Means {
  readonly meanwhile?: (id: string) => Promise<unknown>;
  /** Throws what the store refuses a commit with. */
  readonly refuse?: (writes: readonly Write[]) => void;
}

/** Three VMs that all come to their end while the first end is being written. Then comes `meanwhile`. */
async function endTogether(
  world: World,
  { meanwhile = async () => undefined, refuse = () => undefined }: Means = {},
): Promise<{
  readonly id: string;
  readonly results: readonly (RunResult | 'broken off')[];
  readonly commits: readonly Write[][];
}> {
  let sawLast: () => void = () => undefined;
  const allSeen = new Promise<void>((resolve) => {
    sawLast = resolve;
  });
  let seen = 0;
  const vm = toy(world, 'vm', {
    each: letters,
    observe: async (_, look) => {
      const found = look();
      if (found !== undefined && ++seen === letters.keys({} as never).length) sawLast();
      return found;
    },
  });
  const host = toy(world, 'host', { needs: { vm }, each: letters, lane: 'host' });
  const { bootstrap } = await world.begin([vm, host]);
  const commits: Write[][] = [];
  const { store } = world.context;
  const { commit } = store;
  Object.assign(store, {
    async commit(writes: readonly Write[]) {
      if (writes[0]?.collection !== collections.bootstraps) return commit(writes);
      if (commits.push([...writes]) === 1) {
        await allSeen;
        // Between their last look and their end are only promises.
        await new Promise((resolve) => setImmediate(resolve));
        await meanwhile(bootstrap.id);
      }
      refuse(writes);
      return commit(writes);
    },
  });
  const messages = world.queue.splice(0);
  const ended = await Promise.allSettled(messages.map((message) => world.run([vm, host], message)));
  const results = ended.map((each) => (each.status === 'fulfilled' ? each.value : 'broken off'));
  return { id: bootstrap.id, results, commits };
}

describe('instances that end together', () => {
  let world: World;
  beforeEach(() => {
    world = createWorld();
  });

  const endsIn = (writes: readonly Write[]) =>
    writes.filter(({ kind, collection }) => kind === 'delete' && collection === collections.leases).length;
  const endsOf = async (id: string): Promise<string[]> => {
    const { events } = await readEvents({ store: world.store }, id);
    return events.flatMap(({ event }) => (event.type === 'instance' ? `${event.instance} ${event.state}` : []));
  };

  it('share a commit', async () => {
    const { id, results, commits } = await endTogether(world);
    expect(results).to.deep.equal(['done', 'done', 'done']);
    expect(Math.max(...commits.map(endsIn))).to.be.at.least(2);
    expect(await endsOf(id)).to.deep.equal(['vm:a done', 'vm:b done', 'vm:c done']);
    expect(world.queue.map(({ instance }) => instance)).to.have.members(['host:a', 'host:b', 'host:c']);
  });

  it('end without the one that somebody else has taken over meanwhile', async () => {
    const { id, results } = await endTogether(world, {
      meanwhile: (bootstrapId) =>
        world.store.commit([
          {
            kind: 'update',
            collection: collections.leases,
            id: leaseId(bootstrapId, 'vm:b'),
            data: { holder: 'somebody-else' },
          },
        ]),
    });
    expect(results).to.deep.equal(['done', 'lost', 'done']);
    expect(await endsOf(id)).to.deep.equal(['vm:a done', 'vm:c done']);
    expect(world.queue.map(({ instance }) => instance)).to.have.members(['host:a', 'host:c']);
  });

  it('end without the one that the store does not take', async () => {
    const tooLarge = (writes: readonly Write[]) =>
      writes.some(({ kind, id }) => kind === 'delete' && id.endsWith('~vm:b'));
    const { id, results, commits } = await endTogether(world, {
      refuse(writes) {
        if (tooLarge(writes)) throw new Error('3 INVALID_ARGUMENT: The document exceeds the maximum allowed size.');
      },
    });
    expect(Math.max(...commits.map(endsIn))).to.be.at.least(2);
    expect(results).to.deep.equal(['done', 'broken off', 'done']);
    expect(await endsOf(id)).to.have.members(['vm:a done', 'vm:c done']);
    expect(world.queue.map(({ instance }) => instance)).to.have.members(['host:a', 'host:c']);
    expect(commits.filter(tooLarge)).to.have.length(2);
  });
});
