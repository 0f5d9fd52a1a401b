/** How a bootstrap goes away, by the engine: in reverse, once, whatever is cut off in between. */
import { expect } from 'chai';
import { requestRemoval } from '../../functions/bootstraps/removal/removal.js';
import { cancel } from '../../functions/bootstraps/removal/stop.js';
import { graphOf } from '../../functions/engine/graph.js';
import { planOf } from '../../functions/engine/plan.js';
import { createStepLog } from '../../functions/engine/record/log.js';
import { removalPlanOf } from '../../functions/engine/record/removal-plan.js';
import type { AnyStep, Outcome, StepCall } from '../../functions/engine/step.js';
import { steps as realSteps } from '../../functions/steps/index.js';
import { collections, countersId } from '../../shared/names.js';
import { Problem } from '../../shared/problems.js';
import { makeOptions } from '../install-config/make-options.js';
import { redactorOf } from '../support/redactor.js';
import { type ToyParts, toy } from './toys.js';
import { alice, createWorld, type World } from './world.js';

/** A toy that is undone; `gone` tells in which order. */
function undone(
  world: World,
  gone: string[],
  name: string,
  parts: ToyParts & { readonly undo?: (call: StepCall, take: () => Outcome) => Promise<Outcome> } = {},
): AnyStep {
  const { undo, ...others } = parts;
  const step = toy(world, name, others);
  return {
    ...step,
    goes: 'undo',
    async undo(call: StepCall) {
      const take = (): Outcome => {
        if (world.isDead()) throw new Error('dead');
        world.things.delete(call.key === '' ? name : `${name}:${call.key}`);
        gone.push(name);
        return { kind: 'done' };
      };
      return undo === undefined ? take() : undo(call, take);
    },
  } as unknown as AnyStep;
}

/** Something that a job said on a machine. */
async function logged({ context }: World, bootstrapId: string): Promise<void> {
  const expireAt = '2030-01-01T00:00:00.000Z';
  const log = createStepLog(context, { bootstrapId, instance: 'project', generation: 1, expireAt }, redactorOf());
  await log.append('job', 0, Buffer.from('said on a machine\n'), true);
}

const asked = { by: 'ops@example.com', why: 'asked' } as const;

describe('removal', () => {
  let world: World;
  let gone: string[];
  beforeEach(() => {
    world = createWorld();
    gone = [];
  });

  const chain = (): AnyStep[] => {
    const key = undone(world, gone, 'key');
    const project = undone(world, gone, 'project');
    const network = toy(world, 'network', { needs: { project } });
    const records = undone(world, gone, 'records', { needs: { network, key } });
    return [key, project, network, records];
  };
  const begun = async (steps: readonly AnyStep[]): Promise<string> => {
    const { bootstrap } = await world.begin(steps);
    await world.drain(steps);
    return bootstrap.id;
  };

  it('undoes in reverse; what outlives the project goes after it', async () => {
    const steps = chain();
    const id = await begun(steps);
    await requestRemoval(world.context, steps, id, asked);
    await world.drain(steps);
    expect(gone).to.deep.equal(['records', 'project', 'key']);
    const { data } = await world.read(id);
    expect(data).to.include({ state: 'removed', generation: 2 });
    expect(data.expireAt).to.be.a('string');
    expect(data.removeAt).to.equal(undefined);
    expect(data.instances['network']?.state).to.equal('done');
  });

  it('orders the real steps so: what needs the project before it, what holds its secrets after it', () => {
    const plan = removalPlanOf(
      planOf(graphOf(realSteps), { options: makeOptions({ cloudAcmeIssuer: true }), machineAccess: 'direct' }),
    );
    const needs = Object.fromEntries([...plan.values()].map((instance) => [instance.id, [...instance.needs].sort()]));
    expect(needs['project']).to.deep.equal(['eab-key:dc1', 'records', 'zone-role']);
    expect(needs['machine-key']).to.deep.equal(['project']);
    expect(needs['age-identity']).to.deep.equal(['project', 'secrets:dc1']);
    expect(needs['caller-secret']).to.have.length(plan.size - 1);
    const seen = new Set<string>();
    for (const { id, needs } of plan.values()) {
      if (id !== 'age-identity' && id !== 'secrets:dc1' && id !== 'machine-key')
        for (const need of needs) expect(seen.has(need), `${id} after ${need}`).to.equal(true);
      seen.add(id);
    }
  });

  it('leaves no file, no claim of the name, no count and no secret of the caller', async () => {
    const steps = chain();
    const id = await begun(steps);
    await world.store.commit([
      {
        kind: 'set',
        collection: collections.files,
        id: `${id}~config-dc1`,
        data: { schema: 1, bootstrapId: id, name: 'config-dc1', content: 'x', writtenAt: new Date().toISOString() },
      },
    ]);
    expect(world.secrets.has(`${id}-caller`)).to.equal(true);
    await requestRemoval(world.context, steps, id, asked);
    await world.drain(steps);
    expect(world.secrets.size).to.equal(0);
    for (const collection of [collections.files, collections.names, collections.leases]) {
      expect(await world.store.query({ collection }), collection).to.deep.equal([]);
    }
    const counters = await world.store.query({ collection: collections.counters });
    expect(counters.map(({ data }) => data['inAll'] ?? data['living'])).to.deep.equal([0, 0]);
    const { created } = await world.begin(steps);
    expect(created).to.equal(true);
  });

  it('cancels what is active first, and begins when that has ended', async () => {
    let id = '';
    let steps: AnyStep[] = [];
    const during: string[] = [];
    const project = undone(world, gone, 'project', {
      async run(_, make) {
        await requestRemoval(world.context, steps, id, asked);
        during.push((await world.read(id)).data.state);
        return make();
      },
    });
    steps = [project, undone(world, gone, 'records', { needs: { project } })];
    id = (await world.begin(steps)).bootstrap.id;
    await world.drain(steps);
    expect(during).to.deep.equal(['cancelling']);
    expect(gone).to.deep.equal(['records', 'project']);
    expect((await world.read(id)).data.state).to.equal('removed');
    expect(world.made.get('records')).to.equal(undefined);
  });

  it('undoes also what only options of before asked for', async () => {
    let wanted = true;
    const project = undone(world, gone, 'project');
    const key = undone(world, gone, 'key', { needs: { project }, when: () => wanted });
    const steps = [project, key];
    const id = await begun(steps);
    wanted = false;
    await world.begin(steps);
    await world.drain(steps);
    expect(gone).to.deep.equal([]);
    await requestRemoval(world.context, steps, id, asked);
    await world.drain(steps);
    expect(gone).to.deep.equal(['key', 'project']);
    expect([...world.things.keys()]).to.deep.equal([]);
    expect((await world.read(id)).data.state).to.equal('removed');
  });

  it("does not wait for the caller's machine, asked for while a step comes to need it", async () => {
    let id = '';
    let steps: AnyStep[] = [];
    const project = undone(world, gone, 'project');
    const upload = toy(world, 'upload', {
      needs: { project },
      async run() {
        await requestRemoval(world.context, steps, id, asked);
        return { kind: 'needsClient', what: 'plinth upload package' };
      },
    });
    steps = [project, upload];
    id = (await world.begin(steps)).bootstrap.id;
    await world.drain(steps);
    expect((await world.read(id)).data.state).to.equal('removed');
    expect(gone).to.deep.equal(['project']);
  });

  it("asked for again, frees one that waits for the caller's machine since it was asked to go", async () => {
    const project = undone(world, gone, 'project');
    const upload = toy(world, 'upload', {
      needs: { project },
      run: async () => ({ kind: 'needsClient', what: 'plinth upload package' }),
    });
    const steps = [project, upload];
    const id = await begun(steps);
    const removal = { requestedAt: new Date().toISOString(), ...asked, failures: 0 };
    await world.store.commit([
      { kind: 'update', collection: collections.bootstraps, id, data: { state: 'cancelling', removal } },
    ]);
    await requestRemoval(world.context, steps, id, asked);
    await world.drain(steps);
    expect((await world.read(id)).data.state).to.equal('removed');
    expect(gone).to.deep.equal(['project']);
  });

  it('twice is fine, and so is one that is cancelled', async () => {
    const steps = chain();
    const { bootstrap } = await world.begin(steps);
    await cancel(world.context, steps, bootstrap.id, alice.email);
    await requestRemoval(world.context, steps, bootstrap.id, asked);
    await requestRemoval(world.context, steps, bootstrap.id, asked);
    await world.drain(steps);
    await requestRemoval(world.context, steps, bootstrap.id, asked);
    expect(world.queue).to.deep.equal([]);
    expect(gone).to.deep.equal(['records', 'project', 'key']);
  });

  it('is quarantined after three failures in a row, and goes on when a person asks again', async () => {
    let broken = true;
    const project = undone(world, gone, 'project', {
      async undo(_, take) {
        if (broken) throw new Problem('cloud-permission', 'Denied.');
        return take();
      },
    });
    const steps = [project, undone(world, gone, 'records', { needs: { project } })];
    const id = await begun(steps);
    for (let failures = 1; failures <= 3; failures++) {
      await requestRemoval(world.context, steps, id, { by: 'cleanup', why: 'expired' });
      await world.drain(steps);
      const { data } = await world.read(id);
      expect(data).to.include({ state: 'removal-failed' });
      expect(data.removal).to.include({ failures });
      expect(data.removal?.quarantinedAt === undefined).to.equal(failures < 3);
      expect(data.removeAt === undefined).to.equal(failures === 3);
      expect(data.problem?.detail).to.contain('Denied.');
    }
    expect(gone).to.deep.equal(['records']);
    // Told once, as what goes on costing until a person acts.
    const told = world.logs.filter(({ message }) => message.includes('left alone'));
    expect(told.map(({ severity, message }) => `${severity} ${message}`)).to.deep.equal([
      `ERROR The removal of ${(await world.read(id)).data.projectId} failed 3 times in a row and is left alone`,
    ]);
    expect(told[0]?.fields).to.include({ code: 'cloud-permission' }).and.to.have.property('bootstrap', id);
    broken = false;
    await requestRemoval(world.context, steps, id, asked);
    await world.drain(steps);
    expect((await world.read(id)).data.state).to.equal('removed');
  });

  it('fails with the reason when an undo waits without end, over many functions, and is quarantined', async () => {
    const project = undone(world, gone, 'project', {
      async undo() {
        return { kind: 'again', seconds: 200, note: 'something keeps it' };
      },
    });
    const steps = [project];
    const id = await begun(steps);
    for (let failures = 1; failures <= 3; failures++) {
      await requestRemoval(world.context, steps, id, { by: 'cleanup', why: 'expired' });
      for (let turn = 0; turn < 100 && (await world.read(id)).data.state === 'removing'; turn++) {
        // Each function has time for one wait only.
        for (const message of world.queue.splice(0)) await world.run(steps, message, 230);
        world.pass(400);
        await world.sweep();
      }
      const { data } = await world.read(id);
      expect(data).to.include({ state: 'removal-failed' });
      expect(data.problem?.detail).to.contain('something keeps it');
      expect(data.removal).to.include({ failures });
      expect(data.removal?.quarantinedAt === undefined).to.equal(failures < 3);
    }
    expect(world.waits.reduce((sum, seconds) => sum + seconds, 0)).to.be.within(3000, 15_000);
  });

  it('refuses to resume what is being removed', async () => {
    const steps = chain();
    const id = await begun(steps);
    await requestRemoval(world.context, steps, id, asked);
    const error = await world.begin(steps).catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(Problem);
    expect((error as Problem).detail).to.contain('is being removed');
  });

  it('comes to its end, killed before or after any call of the store', async () => {
    const count = createWorld();
    const countSteps = ((): AnyStep[] => {
      const project = undone(count, [], 'project');
      return [project, undone(count, [], 'records', { needs: { project } })];
    })();
    const first = (await count.begin(countSteps)).bootstrap.id;
    await count.drain(countSteps);
    await logged(count, first);
    count.revive();
    await requestRemoval(count.context, countSteps, first, asked);
    await count.drain(countSteps);
    const calls = count.calls();
    expect(calls).to.be.greaterThan(10);
    for (let call = 1; call <= calls; call++) {
      for (const when of ['before', 'after'] as const) {
        world = createWorld();
        const project = undone(world, gone, 'project');
        const steps = [project, undone(world, gone, 'records', { needs: { project } })];
        const id = await begun(steps);
        await logged(world, id);
        world.revive();
        world.kill({ call, when });
        await requestRemoval(world.context, steps, id, asked).catch(() => undefined);
        await world.drain(steps).catch(() => undefined);
        for (let life = 0; life < 6; life++) {
          world.queue.splice(0);
          world.revive();
          world.pass(120);
          await requestRemoval(world.context, steps, id, asked);
          await world.sweep();
          await world.drain(steps);
        }
        const { data } = await world.read(id);
        expect(data.state, `${when} call ${call}`).to.equal('removed');
        expect([...world.things.keys()], `${when} call ${call}`).to.deep.equal([]);
        expect(world.secrets.size).to.equal(0);
        for (const collection of [collections.logs, collections.logHeads]) {
          expect(await world.store.query({ collection }), `${when} call ${call}`).to.deep.equal([]);
        }
        const counters = await world.store.get(collections.counters, countersId);
        expect(counters?.data, `${when} call ${call}`).to.deep.include({ inAll: 0 });
      }
    }
  });
});
