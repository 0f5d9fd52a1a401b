import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { cancel } from '../../functions/bootstraps/removal/stop.js';
import { leaseId } from '../../functions/engine/record/documents.js';
import type { Outcome, StepCall } from '../../functions/engine/step.js';
import type { Write } from '../../functions/store/store.js';
import type { StepMessage } from '../../shared/bootstrap/message.js';
import { Problem } from '../../shared/problems.js';
import { letters, toy } from './toys.js';
import { createWorld, type World } from './world.js';

/** Something to wait for, opened from outside. */
function createGate(): { readonly opened: Promise<void>; open(): void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

describe('a lease', () => {
  let world: World;
  beforeEach(() => {
    world = createWorld();
  });
  const leaseOf = (id: string, instance: string) => world.store.dump()['leases']?.[leaseId(id, instance)];
  const fast = { leaseSeconds: 0.4, heartbeatSeconds: 0.02 };

  it('is renewed while its step runs', async () => {
    const gate = createGate();
    const step = toy(world, 'a', {
      run: async (_, make) => {
        await gate.opened;
        return make();
      },
    });
    const { bootstrap } = await world.begin([step]);
    const running = world.run([step], world.take(), 500, fast);
    await new Promise((resolve) => setTimeout(resolve, 20));
    const first = leaseOf(bootstrap.id, 'a');
    await new Promise((resolve) => setTimeout(resolve, 80));
    const later = leaseOf(bootstrap.id, 'a');
    expect(String(later?.['expiresAt']) > String(first?.['expiresAt'])).to.equal(true);
    expect([later?.['number'], later?.['dueAt']]).to.deep.equal([1, later?.['expiresAt']]);
    gate.open();
    expect(await running).to.equal('done');
  });

  it('aborts the step when somebody else has taken over', async () => {
    const signals: AbortSignal[] = [];
    const step = toy(world, 'a', {
      run: async ({ signal }, make): Promise<Outcome> => {
        signals.push(signal);
        return signals.length === 1 ? untilAborted(signal) : make();
      },
    });
    await world.begin([step]);
    const message = world.take();
    // It never renews in time, as a process that was frozen.
    const frozen = world.run([step], message, 500, { leaseSeconds: 0, heartbeatSeconds: 0.05 });
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await world.run([step], message)).to.equal('done');
    expect(await frozen).to.equal('lost');
    expect(signals[0]?.aborted).to.equal(true);
    expect(world.made.get('a')).to.equal(1);
  });

  it('lets a step that lost it write no file, which would outlive a removal that the next holder ends', async () => {
    let runs = 0;
    const step = toy(world, 'a', {
      run: async ({ signal, files }, make): Promise<Outcome> => {
        runs += 1;
        if (runs > 1) return make();
        await untilAborted(signal).catch(() => files.write('late', 'of the former holder'));
        return { kind: 'done' };
      },
    });
    await world.begin([step]);
    const message = world.take();
    const frozen = world.run([step], message, 500, { leaseSeconds: 0, heartbeatSeconds: 0.05 });
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await world.run([step], message)).to.equal('done');
    expect(await frozen).to.equal('lost');
    expect(world.store.dump()['files'] ?? {}).to.deep.equal({});
  });

  it('is lost to a new generation, which looks at everything anew', async () => {
    const gate = createGate();
    const generations: number[] = [];
    const step = toy(world, 'a', {
      run: async ({ bootstrap }, make) => {
        generations.push(bootstrap.generation);
        if (bootstrap.generation === 1) await gate.opened;
        return bootstrap.generation === 1 ? { kind: 'done' } : make();
      },
    });
    const { bootstrap } = await world.begin([step]);
    const old = world.run([step], world.take());
    await new Promise((resolve) => setTimeout(resolve, 5));
    await world.begin([step], { projectTtl: '3h' });
    expect(await world.drain([step])).to.deep.equal(['done']);
    const after = world.store.dump();
    gate.open();
    expect(await old).to.equal('lost');
    expect(generations).to.deep.equal([1, 2]);
    expect(world.store.dump()).to.deep.equal(after);
    expect((await world.read(bootstrap.id)).data).to.deep.include({ state: 'succeeded', generation: 2 });
  });

  it('is handed over before the function is stopped, with nothing held against the step', async () => {
    let first = true;
    const step = toy(world, 'a', {
      run: async ({ signal }, make): Promise<Outcome> => {
        if (!first) return make();
        first = false;
        return untilAborted(signal);
      },
    });
    const { bootstrap } = await world.begin([step]);
    expect(await world.run([step], world.take(), 20.05)).to.equal('handed-over');
    expect(await world.drain([step])).to.deep.equal(['done']);
    expect((await world.read(bootstrap.id)).data.instances['a']?.attempt).to.equal(0);
  });

  it('tells a waiting step that it was cancelled', async () => {
    let isCancelled = false;
    const step = toy(world, 'a', {
      run: async (): Promise<Outcome> => {
        if (!isCancelled) await cancel(world.context, [step], id, 'alice@example.com');
        isCancelled = true;
        await sleep(10);
        return { kind: 'again', seconds: 5, note: 'waits' };
      },
    });
    const { bootstrap } = await world.begin([step]);
    const { id } = bootstrap;
    expect(await world.drain([step])).to.deep.equal(['cancelled']);
  });

  it('bears what its instance waits for, and why it is tried again', async () => {
    const seen: unknown[] = [];
    let round = 0;
    const step = toy(world, 'a', {
      run: async (_, make): Promise<Outcome> => {
        round += 1;
        while (round === 2 && leaseOf(id, 'a')?.note === undefined) await sleep(10);
        const { note, retry, failures } = leaseOf(id, 'a') ?? {};
        seen.push([note, retry, failures]);
        if (round === 1) return { kind: 'again', seconds: 1, note: 'waits for the operation' };
        if (round === 2) throw new Problem('cloud-unavailable', 'Google did not answer.');
        return make();
      },
    });
    const { bootstrap } = await world.begin([step]);
    const { id } = bootstrap;
    await world.drain([step]);
    expect(seen).to.deep.equal([
      [undefined, undefined, {}],
      ['waits for the operation', undefined, {}],
      ['waits for the operation', 'Google did not answer.', { transient: 1 }],
    ]);
  });

  it('writes nothing of a wait that is over at once, nor of a failure that passes at once', async () => {
    let round = 0;
    const step = toy(world, 'a', {
      run: async (_, make): Promise<Outcome> => {
        round += 1;
        if (round === 1) return { kind: 'again', seconds: 1, note: 'waits for the operation' };
        if (round === 2) throw new Problem('cloud-propagation', 'The API is not usable yet.');
        return make();
      },
    });
    const { bootstrap } = await world.begin([step]);
    const { commits } = world.counts;
    expect(await world.drain([step])).to.deep.equal(['done']);
    // Its claim and its end.
    expect(world.counts.commits - commits).to.equal(2);
    expect((await world.read(bootstrap.id)).data.instances['a']?.attempt).to.equal(1);
  });

  it('hands over what nobody has written yet', async () => {
    const step = toy(world, 'a', {
      run: async (): Promise<Outcome> => {
        throw new Problem('cloud-propagation', 'The API is not usable yet.');
      },
    });
    const { bootstrap } = await world.begin([step]);
    expect(await world.run([step], world.take(), 20.05)).to.equal('handed-over');
    const { retry, failures, propagationSeconds } = leaseOf(bootstrap.id, 'a') ?? {};
    expect([retry, failures]).to.deep.equal(['The API is not usable yet.', { propagation: 1 }]);
    expect(propagationSeconds).to.be.within(2, 3);
  });

  it('is renewed in one commit with all that are due at the same moment', async () => {
    const gate = createGate();
    const step = toy(world, 'a', {
      each: letters,
      run: async (_, make) => {
        await gate.opened;
        return make();
      },
    });
    const { bootstrap } = await world.begin([step]);
    const running = Promise.all(world.queue.splice(0).map((message) => world.run([step], message, 500, fast)));
    const expiries = () => letters.keys({} as never).map((key) => leaseOf(bootstrap.id, `a:${key}`)?.['expiresAt']);
    while (expiries().some((expiry) => expiry === undefined)) await sleep(5);
    const [first, { commits }] = [expiries(), { ...world.counts }];
    while (expiries().some((expiry, i) => expiry === first[i])) await sleep(1);
    expect(world.counts.commits - commits).to.be.lessThan(letters.keys({} as never).length);
    gate.open();
    expect(await running).to.deep.equal(['done', 'done', 'done']);
  });

  it('is renewed while the renewal of another one gets no answer', async () => {
    const [gate, answer] = [createGate(), createGate()];
    const held = { run: async (_: StepCall, make: () => Outcome) => gate.opened.then(make) };
    const steps = [toy(world, 'a', held), toy(world, 'b', held)];
    const { bootstrap } = await world.begin(steps);
    const [first, second] = world.queue.splice(0) as [StepMessage, StepMessage];
    const { commit } = world.context.store;
    let isSilent = false;
    Object.assign(world.context.store, {
      async commit(writes: readonly Write[]) {
        const versions = await commit(writes);
        const renews = writes.every(({ collection, kind }) => collection === 'leases' && kind === 'update');
        if (renews && writes.some((write) => !('data' in write && 'holder' in write.data)) && !isSilent) {
          isSilent = true;
          await answer.opened;
        }
        return versions;
      },
    });
    const running = [world.run(steps, first, 500, fast)];
    while (!isSilent) await sleep(5);
    running.push(world.run(steps, second, 500, fast));
    const expiry = () => leaseOf(bootstrap.id, second.instance)?.['expiresAt'];
    while (expiry() === undefined) await sleep(5);
    const before = expiry();
    while (expiry() === before) await sleep(5);
    answer.open();
    gate.open();
    expect(await Promise.all(running)).to.deep.equal(['done', 'done']);
  });

  it('that was lost does not keep others of its moment from being renewed', async () => {
    const gate = createGate();
    const step = toy(world, 'a', {
      each: letters,
      run: async (_, make) => {
        await gate.opened;
        return make();
      },
    });
    const { bootstrap } = await world.begin([step]);
    const [lost = '', ...kept] = letters.keys({} as never).map((key) => `a:${key}`);
    const running = Promise.all(world.queue.splice(0).map((message) => world.run([step], message, 500, fast)));
    while (leaseOf(bootstrap.id, lost)?.['holder'] === undefined) await sleep(5);
    const write = { collection: 'leases', id: leaseId(bootstrap.id, lost) };
    await world.store.commit([{ kind: 'update', ...write, data: { holder: 'somebody else' } }]);
    const expiries = () => kept.map((instance) => leaseOf(bootstrap.id, instance)?.['expiresAt']);
    const first = expiries();
    while (expiries().some((expiry, i) => expiry === first[i])) await sleep(5);
    gate.open();
    expect(await running).to.have.members(['lost', 'done', 'done']);
  });

  it('gives the same request id to the same attempt after a crash, and another to the next', async () => {
    const ids: string[] = [];
    const purposes: string[] = [];
    const step = toy(world, 'a', {
      run: async (call: StepCall, make) => {
        ids.push(call.requestId('insert'));
        purposes.push(call.requestId('delete'));
        if (ids.length === 1) world.kill({ call: world.calls() + 1, when: 'before' });
        if (ids.length === 1) throw new Problem('cloud-unavailable', 'Down.');
        if (ids.length === 2) throw new Problem('cloud-unavailable', 'Down.');
        return make();
      },
    });
    await world.begin([step]);
    const message = world.take();
    await world.run([step], message).catch(() => undefined);
    expect(world.isDead()).to.equal(true);
    world.revive();
    world.pass(31);
    expect(await world.run([step], message)).to.equal('done');
    expect(ids[0]).to.match(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    expect(ids[1]).to.equal(ids[0]);
    expect(ids[2]).not.to.equal(ids[0]);
    expect(purposes).not.to.include(ids[0]);
  });
});
