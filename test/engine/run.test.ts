import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { lookAgain } from '../../functions/bootstraps/lifetime/look-again.js';
import { wakeInstance } from '../../functions/bootstraps/lifetime/wake.js';
import { cancel } from '../../functions/bootstraps/removal/stop.js';
import { viewOf } from '../../functions/bootstraps/view.js';
import { readEvents } from '../../functions/engine/record/events.js';
import { runMessage } from '../../functions/engine/run/run.js';
import { type AnyStep, again, type Each, type Outcome, recheck, thisProject } from '../../functions/engine/step.js';
import { withRetries } from '../../functions/store/retry.js';
import { Problem, type ProblemCode } from '../../shared/problems.js';
import { secretOf } from '../support/planted.js';
import { letters, numbers, toy } from './toys.js';

import { createWorld, given, Killed, type World } from './world.js';

/** project → { network, identity } → vm:a,b,c → host:a,b,c → dc:1,2 */
function diamond(world: World): AnyStep[] {
  const project = toy(world, 'project');
  const network = toy(world, 'network', { needs: { project } });
  const identity = toy(world, 'identity', { needs: { project } });
  const vm = toy(world, 'vm', { needs: { network, identity }, each: letters });
  const host = toy(world, 'host', { needs: { vm }, each: letters, lane: 'host' });
  const dc = toy(world, 'dc', { needs: { host }, each: numbers });
  return [project, network, identity, vm, host, dc];
}

const eventsOf = async (world: World, id: string): Promise<string[]> => {
  const { events } = await readEvents({ store: world.store }, id);
  return events.map(({ event }) => {
    if (event.type === 'state') return event.state;
    return event.type === 'instance' ? `${event.instance} ${event.state}` : event.type;
  });
};

describe('the engine', () => {
  let world: World;
  beforeEach(() => {
    world = createWorld();
  });

  it('makes everything once, in order, and tells of it', async () => {
    const steps = diamond(world);
    const { bootstrap, created } = await world.begin(steps);
    await world.drain(steps);
    expect(created).to.equal(true);
    expect(await world.read(bootstrap.id)).to.have.nested.property('data.state', 'succeeded');
    expect([...world.made.values()].every((times) => times === 1)).to.equal(true);
    expect(world.made.size).to.equal(11);
    const events = await eventsOf(world, bootstrap.id);
    expect([events[0], events[1], events.at(-1)]).to.deep.equal(['running', 'project done', 'succeeded']);
    expect(events).to.have.length(13);
    const left = world.store.dump();
    expect(left['leases']).to.deep.equal({});
  });

  it('hands each step the outputs it needs', async () => {
    const steps = diamond(world);
    await world.begin(steps);
    await world.drain(steps);
    expect(world.things.get('host:b')).to.have.nested.property('from.vm.thing', 'vm:b');
    expect(world.things.get('dc:1')).to.have.nested.property('from.host.c.thing', 'host:c');
  });

  it('commits what observe saw, not what run did', async () => {
    const step = toy(world, 'a', { observe: async (_, look) => look() && { thing: 'seen', from: 'outside' } });
    const { bootstrap } = await world.begin([step]);
    await world.drain([step]);
    const { data } = await world.read(bootstrap.id);
    expect(data.instances['a']?.output).to.deep.equal({ thing: 'seen', from: 'outside' });
  });

  it('leaves alone what stands already', async () => {
    world.things.set('a', { thing: 'a', from: {} });
    const step = toy(world, 'a');
    await world.begin([step]);
    expect(await world.drain([step])).to.deep.equal(['done']);
    expect(world.made.size).to.equal(0);
  });

  it('reads two documents and claims once for each message, and writes few for each instance', async () => {
    const steps = diamond(world);
    await world.begin(steps);
    const before = { ...world.counts };
    // One at a time: races cost more.
    await world.drain(steps, (waiting) => {
      world.queue.push(...waiting.slice(1));
      return waiting.slice(0, 1);
    });
    const instances = 11;
    const { messages } = world.counts;
    expect(messages).to.be.below(instances);
    expect(world.counts.reads - before.reads).to.equal(messages * 2);
    // Those that end together share one.
    const commits = world.counts.commits - before.commits;
    expect(commits).to.be.below(messages + instances);
    // The claims, and the record. Event and lease gone. A lease for each that became ready. One event for the end, and how long all
    // took.
    expect(world.counts.written - before.written).to.equal(commits + instances * 2 + (instances - 1) + 2);
  });

  describe('when an end makes others ready', () => {
    const chain = (look?: (found: unknown) => unknown) => {
      const a = toy(world, 'a');
      const b = toy(world, 'b', { needs: { a }, observe: async (_, found) => (look ?? ((seen) => seen))(found()) });
      const c = toy(world, 'c', { needs: { a } });
      const host = toy(world, 'host', { needs: { b }, lane: 'host' });
      return [a, b, c, host];
    };

    it('goes on with those of its lane side by side, and sends the others', async () => {
      const steps = chain();
      await world.begin(steps);
      expect(await world.run(steps, world.take())).to.equal('done');
      expect([...world.made.keys()]).to.have.members(['a', 'b', 'c']);
      // Another lane has functions of its own.
      expect(world.queue.map(({ instance }) => instance)).to.deep.equal(['host']);
    });

    it('goes on with ten at most in the cloud, and with one on machines', async () => {
      const many: Each<'many'> = { of: 'many', keys: () => Array.from({ length: 12 }, (_, i) => String(i)) };
      for (const [lane, left] of [
        ['cloud', 2],
        ['host', 11],
      ] as const) {
        const own = createWorld();
        const first = toy(own, 'first', { lane });
        const steps = [first, toy(own, 'many', { needs: { first }, each: many, lane })];
        await own.begin(steps);
        expect(await own.run(steps, own.take())).to.equal('done');
        expect(own.queue).to.have.length(left);
      }
    });

    it('goes on with the others where one throws, and is over when all are', async () => {
      const a = toy(world, 'a');
      const b = toy(world, 'b', { needs: { a }, run: async () => ({ kind: 'again', seconds: -1, note: '' }) });
      const c = toy(world, 'c', {
        needs: { a },
        run: async (_, make) => {
          await sleep(50);
          return make();
        },
      });
      const steps = [a, b, c];
      await world.begin(steps);
      Object.assign(world.context.clock, { wait: () => Promise.reject(new Error('The clock is broken.')) });
      const error = await world.run(steps, world.take()).catch((thrown: unknown) => thrown);
      expect(error).to.have.property('message', 'The clock is broken.');
      expect(world.made.get('c')).to.equal(1);
    });

    it('sends all of them where the time is nearly over', async () => {
      const steps = chain();
      await world.begin(steps);
      expect(await world.run(steps, world.take(), 100)).to.equal('done');
      expect(world.queue.map(({ instance }) => instance)).to.deep.equal(['b', 'c']);
    });

    it('is taken up by sweep where the function died with it', async () => {
      let deaths = 0;
      const steps = chain((seen) => (deaths++ === 0 ? world.die() : seen));
      const { bootstrap } = await world.begin(steps);
      await world.run(steps, world.take()).catch(() => undefined);
      world.revive();
      await world.drain(steps);
      expect((await world.states(bootstrap.id))['b']).to.equal('ready');
      world.pass(31);
      expect(await world.sweep()).to.equal(2);
      await world.drain(steps);
      expect((await world.read(bootstrap.id)).data.state).to.equal('succeeded');
      expect([world.made.get('b'), world.made.get('c')]).to.deep.equal([1, 1]);
    });
  });

  describe('on a wait', () => {
    const patient = (rounds: number, seconds: number) => {
      let round = 0;
      return toy(world, 'slow', {
        run: async (_, make): Promise<Outcome> =>
          round++ < rounds ? { kind: 'again', seconds, note: `round ${round}` } : make(),
      });
    };

    it('waits inside the invocation while there is time', async () => {
      const step = patient(3, 5);
      await world.begin([step]);
      expect(await world.drain([step])).to.deep.equal(['done']);
      expect(world.waits).to.deep.equal([5, 5, 5]);
    });

    it('goes on in a fresh message when the deadline is near', async () => {
      const step = patient(1, 100);
      const { bootstrap } = await world.begin([step]);
      const [message] = world.queue.splice(0);
      if (message === undefined) throw new Error('nothing was published');
      expect(await world.run([step], message, 60)).to.equal('handed-over');
      expect(world.queue).to.have.length(1);
      expect(await world.drain([step])).to.deep.equal(['done']);
      expect(world.waits).to.have.length(1);
      expect((await world.read(bootstrap.id)).data.instances['slow']?.attempt).to.equal(0);
    });

    const ending = (ended: () => Promise<void>) => {
      let round = 0;
      return toy(world, 'slow', {
        run: async (_, make): Promise<Outcome> =>
          round++ === 0 ? { kind: 'again', seconds: 100, note: 'being made', ended } : make(),
      });
    };

    it('looks as soon as what it waits for has ended', async () => {
      const step = ending(async () => undefined);
      await world.begin([step]);
      expect(await world.drain([step])).to.deep.equal(['done']);
      expect(world.waits).not.to.include(100);
    });

    it('looks after a while where nobody can tell the end', async () => {
      const step = ending(async () => {
        throw new Problem('cloud-unavailable', 'Google did not answer.');
      });
      await world.begin([step]);
      expect(await world.drain([step])).to.deep.equal(['done']);
      expect(world.waits).to.include(100);
    });

    it('looks after a minute where no end is told', async () => {
      const step = ending(() => new Promise(() => undefined));
      await world.begin([step]);
      expect(await world.drain([step])).to.deep.equal(['done']);
      expect(world.waits.reduce((sum, seconds) => sum + seconds, 0)).to.equal(60);
    });

    it('ends once a heartbeat tells that it is cancelled, and hears no end before', async () => {
      let runs = 0;
      const step = toy(world, 'slow', {
        run: async (): Promise<Outcome> => {
          runs += 1;
          const ended = async (): Promise<void> => {
            await cancel(world.context, [step], id, 'alice@example.com');
            return new Promise(() => undefined);
          };
          return { kind: 'again', seconds: 100, note: 'being made', ended };
        },
      });
      const { id } = (await world.begin([step])).bootstrap;
      Object.assign(world.context.clock, { wait: () => sleep(50) });
      expect(await world.run([step], world.take(), 500, { heartbeatSeconds: 0.005 })).to.equal('cancelled');
      expect(runs).to.equal(1);
    });

    it('leaves a long wait to sweep', async () => {
      const step = patient(1, 3600);
      await world.begin([step]);
      expect(await world.drain([step])).to.deep.equal(['handed-over']);
      expect(await world.sweep()).to.equal(0);
      world.pass(3601);
      expect(await world.sweep()).to.equal(1);
      expect(await world.drain([step])).to.deep.equal(['done']);
    });
  });

  describe('on a failure', () => {
    const failing = (code: ProblemCode, times: number) => {
      let failures = 0;
      const attempts: number[] = [];
      const ids: string[] = [];
      const step = toy(world, 'a', {
        run: async (call, make) => {
          attempts.push(call.attempt);
          ids.push(call.requestId('insert'));
          if (failures++ < times) throw new Problem(code, 'It did not work.');
          return make();
        },
      });
      return { step, attempts, ids };
    };

    for (const [code, budget] of [
      ['cloud-unavailable', 8],
      ['cloud-rate', 20],
      ['cloud-capacity', 3],
    ] as const) {
      it(`heals ${code} within its budget`, async () => {
        const { step, attempts, ids } = failing(code, budget);
        const { bootstrap } = await world.begin([step]);
        expect(await world.drain([step])).to.deep.equal(['done']);
        expect(attempts).to.deep.equal(Array.from({ length: budget + 1 }, (_, i) => i));
        expect(new Set(ids).size).to.equal(budget + 1);
        expect((await world.read(bootstrap.id)).data.instances['a']?.attempt).to.equal(budget);
      });

      it(`gives up on ${code} after its budget`, async () => {
        const { step } = failing(code, budget + 1);
        const { bootstrap } = await world.begin([step]);
        expect(await world.drain([step])).to.deep.equal(['failed']);
        const { data } = await world.read(bootstrap.id);
        expect(data.state).to.equal('failed');
        expect(data.problem).to.deep.include({ code });
        expect(data.problem?.detail).to.equal(`The a failed: It did not work. It was tried ${budget + 1} times.`);
        expect(data.problem?.advice).to.be.a('string');
      });
    }

    it('waits for propagation ten minutes, then gives up', async () => {
      const { step } = failing('cloud-propagation', 1000);
      await world.begin([step]);
      expect(await world.drain([step])).to.deep.equal(['failed']);
      expect(world.waits.reduce((sum, seconds) => sum + seconds, 0)).to.be.within(600, 640);
    });

    it('fails at once on what no waiting heals', async () => {
      const { step, attempts } = failing('cloud-permission', 1);
      await world.begin([step]);
      expect(await world.drain([step])).to.deep.equal(['failed']);
      expect(attempts).to.deep.equal([0]);
    });

    it('shows a trace and nothing else of a fault of our own', async () => {
      const step = toy(world, 'a', {
        run: async () => {
          throw new TypeError('planted-detail');
        },
      });
      const { bootstrap } = await world.begin([step]);
      expect(await world.drain([step])).to.deep.equal(['failed']);
      const text = JSON.stringify(world.store.dump());
      expect(text).not.to.include('planted-detail');
      expect((await world.read(bootstrap.id)).data.problem).to.deep.include({ code: 'internal' });
      expect(text).to.include('f'.repeat(32));
      expect(world.logs.filter(({ severity }) => severity === 'ERROR')).not.to.be.empty;
    });

    it('counts an output that is not as declared as a fault of our own', async () => {
      const step = toy(world, 'a', { observe: async () => ({ wrong: true }) });
      const { bootstrap } = await world.begin([step]);
      expect(await world.drain([step])).to.deep.equal(['failed']);
      expect((await world.read(bootstrap.id)).data.problem?.code).to.equal('internal');
    });

    it('goes on with what does not need the failed one', async () => {
      const bad = toy(world, 'bad', {
        run: async () => {
          throw new Problem('cloud-quota', 'Quota CPUS exceeded.');
        },
      });
      const after = toy(world, 'after', { needs: { bad } });
      const other = toy(world, 'other');
      const more = toy(world, 'more', { needs: { other } });
      const steps = [bad, after, other, more];
      const { bootstrap } = await world.begin(steps);
      await world.drain(steps);
      expect(await world.states(bootstrap.id)).to.deep.equal({
        bad: 'failed',
        after: 'waiting',
        other: 'done',
        more: 'done',
      });
      expect((await world.read(bootstrap.id)).data.state).to.equal('failed');
      expect((await eventsOf(world, bootstrap.id)).at(-1)).to.equal('failed');
    });

    it('goes on after the same command again', async () => {
      let broken = true;
      const first = toy(world, 'first');
      const bad = toy(world, 'bad', {
        needs: { first },
        run: async (_, make) => {
          if (broken) throw new Problem('cloud-permission', 'Denied.');
          return make();
        },
      });
      const { bootstrap } = await world.begin([first, bad]);
      await world.drain([first, bad]);
      broken = false;
      const again = await world.begin([first, bad]);
      expect([again.created, again.bootstrap.id, again.changes]).to.deep.equal([false, bootstrap.id, []]);
      await world.drain([first, bad]);
      const { data } = await world.read(bootstrap.id);
      expect([data.state, data.generation, data.problem, data.endedAt === undefined]).to.deep.equal([
        'succeeded',
        2,
        undefined,
        false,
      ]);
      expect(world.made.get('first')).to.equal(1);
    });

    it('keeps secrets that a step met out of documents and logs', async () => {
      const step = toy(world, 'a', {
        run: async ({ secrets }) => {
          const { forge1AppClientSecret } = await secrets.caller();
          throw new Problem('cloud-input', `Refused: ${forge1AppClientSecret}`);
        },
      });
      await world.begin([step]);
      await world.drain([step]);
      expect(given.forge1AppClientSecret).to.equal('planted-client-secret');
      expect(JSON.stringify([world.store.dump(), world.logs, world.queue])).not.to.include('planted-client-secret');
      expect([...world.secrets.values()].join()).to.include('planted-client-secret');
    });

    it('keeps secrets that are damaged in Secret Manager out of documents and logs', async () => {
      const step = toy(world, 'a', {
        run: async ({ secrets }, make) => {
          await secrets.caller();
          return make();
        },
      });
      const { bootstrap } = await world.begin([step]);
      const [name = ''] = [...world.secrets.keys()].filter((each) => each.startsWith(bootstrap.id));
      // A parser's message quotes the place where it gave up.
      world.secrets.set(name, [secretOf('bare')]);
      await world.drain([step]);
      const told = JSON.stringify([world.store.dump(), world.logs, world.queue]);
      expect(told).not.to.include(secretOf('bare').slice(0, 5));
      expect(JSON.stringify(world.logs)).to.include(name);
    });
  });

  describe('when messages are late, double or lost', () => {
    it('runs one of twenty racing invocations', async () => {
      const step = toy(world, 'a');
      await world.begin([step]);
      const [message] = world.queue.splice(0);
      if (message === undefined) throw new Error('nothing was published');
      const results = await Promise.all(Array.from({ length: 20 }, () => world.run([step], message)));
      expect(results.filter((result) => result === 'done')).to.have.length(1);
      expect(world.made.get('a')).to.equal(1);
    });

    it('changes nothing for duplicates, in any order', async () => {
      const steps = diamond(world);
      const { bootstrap } = await world.begin(steps);
      const seen: typeof world.queue = [];
      await world.drain(steps, (waiting) => {
        seen.push(...waiting);
        return [...waiting, ...[...waiting].reverse()];
      });
      const before = world.store.dump();
      for (const message of seen.reverse()) expect(await world.run(steps, message)).to.equal('ignored');
      expect(world.store.dump()).to.deep.equal(before);
      expect((await world.read(bootstrap.id)).data.state).to.equal('succeeded');
      expect([...world.made.values()].every((times) => times === 1)).to.equal(true);
    });

    it('ignores messages of an older generation', async () => {
      const step = toy(world, 'a');
      await world.begin([step]);
      const [old] = world.queue.splice(0);
      if (old === undefined) throw new Error('nothing was published');
      await world.begin([step], { projectTtl: '3h' });
      expect(await world.run([step], old)).to.equal('ignored');
      expect(await world.drain([step])).to.deep.equal(['done']);
    });

    it('is healed by sweep when messages were never sent', async () => {
      const steps = diamond(world);
      const { bootstrap } = await world.begin(steps);
      let rounds = 0;
      while ((await world.read(bootstrap.id)).data.state === 'running') {
        world.queue.length = 0;
        world.pass(61);
        await world.sweep();
        const [one] = world.queue.splice(0);
        if (one !== undefined) await world.run(steps, one);
        if (++rounds > 40) throw new Error('it does not end');
      }
      expect((await world.read(bootstrap.id)).data.state).to.equal('succeeded');
    });

    it('does not send again at once what it has sent', async () => {
      await world.begin([toy(world, 'a')]);
      world.pass(61);
      expect([await world.sweep(), await world.sweep()]).to.deep.equal([1, 0]);
    });
  });

  describe('when a function dies', () => {
    it('is taken over once the lease has run out, and what the dead one still does counts for nothing', async () => {
      let release: () => void = () => undefined;
      const stuck = new Promise<void>((resolve) => {
        release = resolve;
      });
      let first = true;
      const signals: AbortSignal[] = [];
      const step = toy(world, 'a', {
        run: async (call, make) => {
          signals.push(call.signal);
          if (!first) return make();
          first = false;
          await stuck;
          return { kind: 'done' };
        },
      });
      const { bootstrap } = await world.begin([step]);
      const [message] = world.queue.splice(0);
      if (message === undefined) throw new Error('nothing was published');
      const slow = world.run([step], message);
      await new Promise((resolve) => setTimeout(resolve, 5));
      expect(await world.run([step], message)).to.equal('busy');
      world.pass(31);
      expect(await world.sweep()).to.equal(1);
      expect(await world.drain([step])).to.deep.equal(['done']);
      const before = world.store.dump();
      release();
      expect(await slow).to.be.oneOf(['lost', 'done']);
      expect(world.store.dump()).to.deep.equal(before);
      expect((await world.read(bootstrap.id)).data.state).to.equal('succeeded');
    });

    it('gives up on a step that takes its function down each time', async () => {
      const step = toy(world, 'a', {
        run: async () => {
          world.kill({ call: world.calls() + 1, when: 'before' });
          throw new Error('out of memory');
        },
      });
      const { bootstrap } = await world.begin([step]);
      for (let deaths = 0; deaths < 8; deaths++) {
        for (const message of world.queue.splice(0)) await world.run([step], message).catch(() => undefined);
        world.revive();
        world.pass(61);
        await world.sweep();
      }
      expect((await world.read(bootstrap.id)).data).to.have.nested.property('instances.a.state', 'failed');
    });

    it('goes on with a step whose function ends again and again, if turns of it end in between', async () => {
      let turns = 0;
      const noteOf = () => Object.values(world.store.dump()['leases'] ?? {})[0]?.['note'];
      const step = toy(world, 'a', {
        run: async (_, make) => {
          if (turns === 16) return make();
          turns += 1;
          if (turns % 2 === 1) return again(0, `turn ${turns}`);
          // A heartbeat tells of the turn before. Then the function dies.
          while (noteOf() !== `turn ${turns - 1}`) await sleep(1);
          world.die();
          throw new Killed();
        },
      });
      const { bootstrap } = await world.begin([step]);
      for (let lives = 0; lives < 9; lives++) {
        for (const message of world.queue.splice(0))
          await world.run([step], message, 500, { heartbeatSeconds: 0.002 }).catch(() => undefined);
        world.revive();
        world.pass(61);
        await world.sweep();
      }
      expect(await world.states(bootstrap.id)).to.deep.equal({ a: 'done' });
    });

    it('heals a kill at any call of the store, and makes each thing once', async function () {
      this.timeout(240_000);
      const calls = await (async () => {
        const plain = createWorld();
        const steps = diamond(plain);
        await plain.begin(steps);
        await plain.drain(steps);
        return plain.calls();
      })();
      for (let call = 1; call <= calls + 5; call++) {
        for (const when of ['before', 'after'] as const) {
          const label = `killed ${when} call ${call}`;
          const own = createWorld();
          const steps = diamond(own);
          own.kill({ call, when });
          const outcome = await own.begin(steps).catch((error: unknown) => error);
          if (outcome instanceof Error) {
            own.revive();
            await own.begin(steps);
          }
          const id = Object.keys(own.store.dump()['bootstraps'] ?? {})[0] ?? '';
          expect(Object.keys(own.store.dump()['bootstraps'] ?? {}), label).to.have.length(1);
          for (let lives = 0; lives < 30; lives++) {
            await own.drain(steps).catch(() => undefined);
            if (own.isDead()) {
              own.queue.length = 0;
              own.revive();
            }
            if ((await own.read(id)).data.state !== 'running') break;
            own.pass(61);
            await own.sweep();
          }
          expect((await own.read(id)).data.state, label).to.equal('succeeded');
          expect(
            [...own.made.entries()].filter(([, times]) => times !== 1),
            label,
          ).to.deep.equal([]);
          expect(own.store.dump()['leases'], label).to.deep.equal({});
          const events = await eventsOf(own, id);
          expect(new Set(events).size, label).to.equal(events.length);
        }
      }
    });
  });

  it('hands on at once when the process is to end while a key is made, which nothing can stop', async () => {
    const shutdown = new AbortController();
    const making = toy(world, 'a', {
      async run({ context }, make) {
        await context.keys.make('rsa-4096');
        return make();
      },
    });
    await world.begin([making]);
    const never = {
      make() {
        shutdown.abort(new Error('The instance is to end'));
        return new Promise<never>(() => {});
      },
    };
    const context = { ...world.context, keys: never, shutdown: shutdown.signal };
    const deadlineAt = new Date(Date.now() + 500_000);
    expect(await runMessage(context, [making], world.take(), { deadlineAt })).to.equal('handed-over');
    expect(world.queue).to.have.length(1);
    const quick = { make: async () => ({ privateKey: '', publicKey: '' }) };
    expect(await runMessage({ ...world.context, keys: quick }, [making], world.take(), { deadlineAt })).to.equal(
      'done',
    );
    expect(world.made.get('a')).to.equal(1);
  });

  it('outlives a short absence of the database', async () => {
    const step = toy(world, 'a');
    await world.begin([step]);
    let calls = 0;
    const flaky =
      <A extends unknown[], T>(work: (...args: A) => Promise<T>) =>
      async (...args: A): Promise<T> => {
        if (calls++ % 3 === 0) throw new Problem('unavailable', 'The database cannot be reached now.');
        return work(...args);
      };
    const { store } = world.context;
    const absent = { ...store, get: flaky(store.get), commit: flaky(store.commit) };
    const context = { ...world.context, store: withRetries(absent, world.context) };
    const deadlineAt = new Date(Date.now() + 500_000);
    expect(await runMessage(context, [step], world.take(), { deadlineAt })).to.equal('done');
    expect(world.made.get('a')).to.equal(1);
  });

  describe('on cancel', () => {
    it('ends at once when nothing runs', async () => {
      const steps = diamond(world);
      const { bootstrap } = await world.begin(steps);
      const { data } = await cancel(world.context, steps, bootstrap.id, 'alice@example.com');
      expect(data.state).to.equal('cancelled');
      expect(await world.drain(steps)).to.deep.equal(['ignored']);
      expect(world.made.size).to.equal(0);
      expect(await eventsOf(world, bootstrap.id)).to.deep.equal(['running', 'action', 'cancelling', 'cancelled']);
    });

    it('lets what runs come to a border, and begins nothing more', async () => {
      const project = toy(world, 'project', {
        run: async (_, make) => {
          const state = (await cancel(world.context, steps, id, 'alice@example.com')).data.state;
          expect(state).to.equal('cancelling');
          return make();
        },
      });
      const after = toy(world, 'after', { needs: { project } });
      const steps = [project, after];
      const { bootstrap } = await world.begin(steps);
      const { id } = bootstrap;
      await world.drain(steps);
      expect(await world.states(id)).to.deep.equal({ project: 'done', after: 'cancelled' });
      expect((await world.read(id)).data.state).to.equal('cancelled');
    });

    it("does not wait for the caller's machine", async () => {
      const upload = toy(world, 'upload', {
        run: async () => {
          await cancel(world.context, [upload], id, 'alice@example.com');
          return { kind: 'needsClient', what: 'plinth upload package' };
        },
      });
      const { bootstrap } = await world.begin([upload]);
      const { id } = bootstrap;
      await world.drain([upload]);
      expect(await world.states(id)).to.deep.equal({ upload: 'cancelled' });
      expect((await world.read(id)).data.state).to.equal('cancelled');
      expect(world.store.dump()['leases']).to.deep.equal({});
    });

    it('stops a failing instance before its next try', async () => {
      const step = toy(world, 'a', {
        run: async () => {
          await cancel(world.context, [step], id, 'alice@example.com');
          throw new Problem('cloud-unavailable', 'Down.');
        },
      });
      const { bootstrap } = await world.begin([step]);
      const { id } = bootstrap;
      expect(await world.drain([step])).to.deep.equal(['cancelled']);
      expect((await world.read(id)).data.state).to.equal('cancelled');
    });

    it('looks at a VM between two holders at once, and then ends', async () => {
      const vm = toy(world, 'vm', {
        run: async () => ({ kind: 'again', seconds: 100, note: 'the VM is starting' }),
        unfinished: async () => ({ machineType: 'e2-small' }),
      });
      const { id } = (await world.begin([vm])).bootstrap;
      expect(await world.run([vm], world.take(), 60)).to.equal('handed-over');
      world.queue.length = 0;
      expect((await cancel(world.context, [vm], id, 'alice@example.com')).data.state).to.equal('cancelling');
      expect(await world.drain([vm])).to.deep.equal(['cancelled']);
      const { data } = await world.read(id);
      expect([data.state, data.instances['vm']?.unfinished]).to.deep.equal(['cancelled', { machineType: 'e2-small' }]);
    });

    it('looks at a VM in a fresh invocation where the time of the first one is over', async () => {
      const shutdown = new AbortController();
      let looks = 0;
      const vm = toy(world, 'vm', {
        run: async () => ({ kind: 'again', seconds: 100, note: 'the VM is starting' }),
        unfinished: async () => {
          if (++looks > 1) return { machineType: 'e2-small' };
          shutdown.abort(new Error('The instance is to end'));
          return new Promise<never>(() => {});
        },
      });
      const { id } = (await world.begin([vm])).bootstrap;
      expect(await world.run([vm], world.take(), 60)).to.equal('handed-over');
      const [message] = world.queue.splice(0);
      if (message === undefined) throw new Error('nothing was published');
      await cancel(world.context, [vm], id, 'alice@example.com');
      const context = { ...world.context, shutdown: shutdown.signal };
      const deadlineAt = new Date(Date.now() + 500_000);
      expect(await runMessage(context, [vm], message, { deadlineAt })).to.equal('handed-over');
      world.pass(61);
      await world.sweep();
      await world.drain([vm]);
      const { data } = await world.read(id);
      expect([data.state, data.instances['vm']?.unfinished]).to.deep.equal(['cancelled', { machineType: 'e2-small' }]);
    });

    it('can be resumed', async () => {
      const steps = diamond(world);
      const { bootstrap } = await world.begin(steps);
      await cancel(world.context, steps, bootstrap.id, 'alice@example.com');
      await world.begin(steps);
      await world.drain(steps);
      expect((await world.read(bootstrap.id)).data.state).to.equal('succeeded');
    });
  });

  describe('what costs, when it fails', () => {
    const there = { machineType: 'e2-small' };
    const denied = async (): Promise<Outcome> => {
      throw new Problem('cloud-permission', 'Denied.');
    };
    /** project → vm, which fails and leaves something. The project waits for the caller's machine once `gone` is true. */
    const leaving = (): { readonly steps: AnyStep[]; gone: boolean } => {
      const project = toy(world, 'project', {
        observe: async (_, look) => (its.gone ? undefined : look()),
        run: async (_, make) => (its.gone ? { kind: 'needsClient', what: 'plinth upload project' } : make()),
      });
      const vm = toy(world, 'vm', {
        needs: { project },
        run: async () =>
          its.gone
            ? { kind: 'recheck', needs: ['project'], problem: new Problem('cloud-conflict', 'no project.') }
            : denied(),
        unfinished: async () => there,
      });
      const its = { steps: [project, vm], gone: false };
      return its;
    };
    const vmOf = async (id: string) => (await world.read(id)).data.instances['vm'];
    const actor = 'alice@example.com';

    /** A VM that fails each time. Each look takes the next answer, and the last one again and again. */
    const lookedAt = (...looks: readonly (() => Promise<unknown>)[]): AnyStep[] => {
      let taken = 0;
      const unfinished = () => (looks[Math.min(taken++, looks.length - 1)] as () => Promise<unknown>)();
      return [toy(world, 'vm', { run: denied, unfinished })];
    };
    const seen = async () => there;
    const nothing = async () => undefined;
    const failing = async (): Promise<never> => {
      throw new Problem('cloud-unavailable', 'Down.');
    };
    /** Fails, and fails again after a resume. */
    async function failedTwice(steps: AnyStep[]): Promise<string> {
      const { id } = (await world.begin(steps)).bootstrap;
      await world.drain(steps);
      expect(await vmOf(id)).to.deep.include({ state: 'failed', unfinished: there });
      await world.begin(steps);
      await world.drain(steps);
      return id;
    }

    it('is looked at once more where Google did not answer', async () => {
      const steps = lookedAt(failing, seen);
      const { id } = (await world.begin(steps)).bootstrap;
      await world.drain(steps);
      expect(await vmOf(id)).to.deep.include({ state: 'failed', unfinished: there });
    });

    it('stays known where nobody could look', async () => {
      const id = await failedTwice(lookedAt(seen, failing, failing));
      expect(await vmOf(id)).to.deep.include({ state: 'failed', unfinished: there });
    });

    it('is forgotten where a look saw nothing', async () => {
      const id = await failedTwice(lookedAt(seen, nothing));
      expect(await vmOf(id))
        .to.include({ state: 'failed' })
        .and.not.to.have.property('unfinished');
    });

    it('holds up no shutdown, and stays known', async () => {
      const shutdown = new AbortController();
      const never = () => {
        shutdown.abort(new Error('The instance is to end'));
        return new Promise<never>(() => {});
      };
      const steps = lookedAt(seen, never);
      const { id } = (await world.begin(steps)).bootstrap;
      await world.drain(steps);
      await world.begin(steps);
      const context = { ...world.context, shutdown: shutdown.signal };
      const deadlineAt = new Date(Date.now() + 500_000);
      expect(await runMessage(context, steps, world.take(), { deadlineAt })).to.equal('failed');
      expect(await vmOf(id)).to.deep.include({ state: 'failed', attempt: 1, unfinished: there });
      expect((await world.read(id)).data.state).to.equal('failed');
    });

    it('is kept by a resume, and by a cancel before its turn', async () => {
      const { steps } = leaving();
      const { id } = (await world.begin(steps)).bootstrap;
      await world.drain(steps);
      expect(await vmOf(id)).to.deep.include({ state: 'failed', unfinished: there });
      await world.begin(steps);
      expect(await vmOf(id)).to.deep.include({ state: 'waiting', unfinished: there });
      await cancel(world.context, steps, id, actor);
      expect(await vmOf(id)).to.deep.include({ state: 'cancelled', unfinished: there });
    });

    it('is kept while it is looked at again, and by a cancel before its turn', async () => {
      const { steps } = leaving();
      const { id } = (await world.begin(steps)).bootstrap;
      await world.drain(steps);
      await lookAgain(world.context, steps, id, { actor, action: 'restart-vms' }, { step: 'vm', what: 'VM' });
      expect(await vmOf(id)).to.deep.include({ state: 'ready', unfinished: there });
      await cancel(world.context, steps, id, actor);
      expect(await vmOf(id)).to.deep.include({ state: 'cancelled', unfinished: there });
    });

    it('is looked at where a resume cut its run off, and what it needs then fails', async () => {
      let isDenied = false;
      const project = toy(world, 'project', {
        observe: async (_, look) => (isDenied ? undefined : look()),
        run: async (_, make) => (isDenied ? denied() : make()),
      });
      const vm = toy(world, 'vm', {
        needs: { project },
        run: async () => ({ kind: 'again', seconds: 100, note: 'the VM is starting' }),
        unfinished: async () => there,
      });
      const steps = [project, vm];
      const { id } = (await world.begin(steps)).bootstrap;
      await world.run(steps, world.take(), 60);
      world.queue.length = 0;
      isDenied = true;
      await world.begin(steps, { projectTtl: '3h' });
      await world.drain(steps);
      expect(await vmOf(id)).to.deep.include({ state: 'cancelled', unfinished: there });
      expect((await world.read(id)).data.state).to.equal('failed');
    });

    it('is kept while what it needs is looked at again', async () => {
      const its = leaving();
      const { id } = (await world.begin(its.steps)).bootstrap;
      await world.drain(its.steps);
      await lookAgain(world.context, its.steps, id, { actor, action: 'restart-vms' }, { step: 'vm', what: 'VM' });
      its.gone = true;
      await world.drain(its.steps);
      expect(await vmOf(id)).to.deep.include({ state: 'waiting', unfinished: there });
    });
  });

  it("waits for the caller's machine without a lease, and goes on when woken", async () => {
    let uploaded = false;
    const upload = toy(world, 'upload', {
      run: async (_, make) => (uploaded ? make() : { kind: 'needsClient', what: 'plinth upload package' }),
    });
    const after = toy(world, 'after', { needs: { upload } });
    const steps = [upload, after];
    const { bootstrap } = await world.begin(steps);
    const { id } = bootstrap;
    expect(await world.drain(steps)).to.deep.equal(['client']);
    world.pass(100_000);
    expect(await world.sweep()).to.equal(0);
    const view = await viewOf(world.context, steps, await world.read(id));
    expect(view.instances[0]).to.deep.include({ state: 'client', note: 'plinth upload package' });
    expect(view.state).to.equal('running');
    uploaded = true;
    await wakeInstance(world.context, id, 'upload');
    await wakeInstance(world.context, id, 'upload');
    await world.drain(steps);
    expect((await world.read(id)).data.state).to.equal('succeeded');
  });

  it('shows who works on what', async () => {
    let seen: unknown;
    const step = toy(world, 'a', {
      run: async (_, make) => {
        seen = (await viewOf(world.context, [step], await world.read(id))).instances[0];
        return make();
      },
    });
    const { bootstrap } = await world.begin([step]);
    const { id } = bootstrap;
    await world.drain([step]);
    expect(seen).to.deep.include({ id: 'a', step: 'a', title: 'The a', state: 'running', attempt: 0 });
  });

  describe('when what an instance needs has gone meanwhile', () => {
    /** project → vm:a,b,c → host:a,b,c; the first look of host:b finds vm:b taken away. */
    const fading = (times: number, code: ProblemCode = 'cloud-conflict'): AnyStep[] => {
      let left = times;
      const project = toy(world, 'project');
      const vm = toy(world, 'vm', { needs: { project }, each: letters });
      const host = toy(world, 'host', {
        needs: { vm },
        each: letters,
        run: async ({ key }, make): Promise<Outcome> => {
          if (key !== 'b' || left-- <= 0) return make();
          world.things.delete('vm:b');
          return recheck(['vm'], new Problem(code, 'vm b does not answer.', { advice: 'Look at vm b.' }));
        },
      });
      return [project, vm, host];
    };

    it('looks at it again, makes it again, and goes on', async () => {
      const steps = fading(1);
      const { bootstrap } = await world.begin(steps);
      await world.drain(steps);
      expect(await world.read(bootstrap.id)).to.have.nested.property('data.state', 'succeeded');
      expect(world.made.get('vm:b')).to.equal(2);
      expect([...world.made].filter(([, times]) => times > 1).map(([thing]) => thing)).to.deep.equal(['vm:b']);
      const events = await eventsOf(world, bootstrap.id);
      expect(events.filter((event) => event.includes(':b'))).to.deep.equal([
        'vm:b done',
        'host:b waiting',
        'vm:b done',
        'host:b done',
      ]);
      expect(world.store.dump()['leases']).to.deep.equal({});
    });

    it('gives up when it goes again and again', async () => {
      const steps = fading(Number.POSITIVE_INFINITY);
      const { bootstrap } = await world.begin(steps);
      await world.drain(steps);
      const { data } = await world.read(bootstrap.id);
      expect(data.state).to.equal('failed');
      expect(data.instances['host:b']?.problem).to.have.property('code', 'cloud-conflict');
      expect(data.instances['host:a']?.state).to.equal('done');
      expect(world.made.get('vm:b')).to.equal(6);
    });

    it('gives up as what the step has met, and only after the tries that this is worth', async () => {
      const steps = fading(Number.POSITIVE_INFINITY, 'host-unreachable');
      const { bootstrap } = await world.begin(steps);
      await world.drain(steps);
      const { problem } = (await world.read(bootstrap.id)).data.instances['host:b'] ?? {};
      expect(problem).to.deep.include({ code: 'host-unreachable', advice: 'Look at vm b.' });
      expect(problem?.detail).to.equal(
        'vm b does not answer. What it needs was looked at 5 times, and it was the same each time. It was tried 9 times.',
      );
      expect(world.waits.reduce((sum, each) => sum + each, 0)).to.be.above(100);
    });
  });

  it('ends with warnings when only what may fail did, and with a failure when anything else did too', async () => {
    const refuse = async (): Promise<Outcome> => {
      throw new Problem('host-failed', 'there is no such user', { advice: 'Make one.' });
    };
    const stands = toy(world, 'stands');
    const extra = { ...toy(world, 'extra', { needs: { stands }, run: refuse }), mayFail: true } as const;
    const { bootstrap } = await world.begin([stands, extra]);
    await world.drain([stands, extra]);
    const { data } = await world.read(bootstrap.id);
    expect(data.state).to.equal('succeeded-with-warnings');
    expect(data).not.to.have.property('problem');
    expect(data.warnings.join()).to.match(/The extra failed: there is no such user Make one\./);

    const other = createWorld();
    const broken = toy(other, 'broken', { run: refuse });
    const begun = await other.begin([broken, extra, stands]);
    await other.drain([broken, extra, stands]);
    expect((await other.read(begun.bootstrap.id)).data.state).to.equal('failed');
  });

  it('names the project in what a step advises, so that its commands run as they stand', async () => {
    const advice = `Its log: plinth beta bootstrap-cloud logs ${thisProject}.`;
    const refuse = async (): Promise<Outcome> => {
      throw new Problem('host-failed', 'It ended.', { advice });
    };
    const broken = toy(world, 'broken', { run: refuse });
    const { bootstrap } = await world.begin([broken]);
    await world.drain([broken]);
    const { data } = await world.read(bootstrap.id);
    expect(data.problem?.advice).to.equal(`Its log: plinth beta bootstrap-cloud logs ${data.projectId}.`);
  });

  it('keeps what a step warns of what stands, once in a generation', async () => {
    const warning = () => 'It is older than it should be.';
    const stands = { ...toy(world, 'stands'), warning } as const;
    const beside = { ...toy(world, 'beside', { needs: { stands } }), warning } as const;
    const { bootstrap } = await world.begin([stands, beside]);
    await world.drain([stands, beside]);
    const { data } = await world.read(bootstrap.id);
    expect(data.state).to.equal('succeeded');
    expect(data.warnings.filter((text) => text === warning())).to.have.lengthOf(1);
  });
});
