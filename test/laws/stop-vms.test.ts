/**
 * The laws of stopping a VM that came to cost more than it may, over every cloud call that it makes: interrupted, repeated and
 * refused. It ends stopped, by one stop, with its disks, and starts again.
 */
import { expect } from 'chai';
import type { Instance } from '../../functions/engine/plan.js';
import type { RecordedCall } from '../../local/cloud/index.js';
import { local } from '../../local/stack/deployment.js';
import { Problem } from '../../shared/problems.js';
import { keysAtHand } from '../install-config/made-bootstrap.js';
import { makeOptions } from '../install-config/make-options.js';
import { inventory } from './inventory.js';
import { createLab, type Lab, type Saved } from './lab.js';

describe('laws of a VM that is stopped', function () {
  this.timeout(120_000);
  let lab: Lab;
  let vm: Instance;
  let running: Saved;
  let made: ReturnType<typeof inventory>;
  let calls: readonly RecordedCall[];

  before(async function () {
    await keysAtHand.call(this);
    lab = await createLab(makeOptions({ billingAccount: local.billingAccount }));
    vm = lab.instance('vm:postgres');
    await lab.make(vm.id);
    made = inventory(lab.cloud);
    lab.resume({ vmsStopped: true });
    running = lab.save();
    const since = lab.cloud.calls.last();
    await lab.drive(vm);
    calls = lab.cloud.calls.list({ since });
    expect(calls.map(({ method }) => method)).to.include.members([
      'cloudresourcemanager.projects.get',
      'compute.instances.get',
      'compute.instances.stop',
    ]);
  });
  after(() => lab?.close());

  const statusOf = (): unknown => {
    const all = lab.cloud.world.table<{ resource: Record<string, unknown> }>('compute.instances');
    return Object.entries(all).find(([path]) => path.endsWith('/postgres'))?.[1].resource['status'];
  };
  /** Requests that were carried out. One that is repeated by its request id is answered by the same operation. */
  const stopsSince = (since: number): number =>
    new Set(
      lab.cloud.calls
        .list({ since, method: 'compute.instances.stop' })
        .filter(({ status }) => status >= 200 && status < 300)
        .map(({ params }) => params['requestId']),
    ).size;

  function expectStopped(where: string, since: number): void {
    expect(statusOf(), where).to.equal('TERMINATED');
    expect(stopsSince(since), `${where}: stops`).to.be.at.most(1);
    expect(inventory(lab.cloud), `${where}: all that was made stands`).to.deep.equal(made);
  }

  for (const when of ['before', 'after'] as const) {
    it(`interrupted ${when} any call, it ends stopped by one stop`, async () => {
      for (const [index, { method }] of calls.entries()) {
        lab.restore(running);
        const nth = index + 1;
        const since = lab.cloud.calls.last();
        // Node itself sends a GET once more when its connection breaks.
        const kind = /\.(get|access|list)$/.test(method) ? 'unavailable' : 'drop';
        const fault = lab.cloud.faults.add({ method: '*', nth, kind, when });
        const where = `${when} call ${nth}: ${method}`;
        expect(await broken(lab, vm), where).to.equal(true);
        lab.cloud.faults.remove(fault);
        const output = await lab.drive(vm, when === 'after' ? 0 : 1);
        expect(output, where).to.include({ stopped: true });
        expectStopped(where, since);
      }
    });
  }

  it('refused at any call, it says so, stops nothing else, and ends stopped once it is let', async () => {
    for (const [index, { method }] of calls.entries()) {
      lab.restore(running);
      const nth = index + 1;
      const since = lab.cloud.calls.last();
      const fault = lab.cloud.faults.add({ method: '*', nth, code: 403, status: 'PERMISSION_DENIED' });
      const where = `call ${nth}: ${method}`;
      const refused = await turn(lab, vm).catch((error: unknown) => error);
      lab.cloud.faults.remove(fault);
      expect(refused, where).to.be.instanceOf(Problem);
      expect((refused as Problem).detail, where)
        .to.be.a('string')
        .and.not.equal('');
      await lab.drive(vm, 1);
      expectStopped(where, since);
    }
  });

  it('repeated, or by two at once, it is stopped by one stop', async () => {
    lab.restore(running);
    const since = lab.cloud.calls.last();
    await Promise.all([lab.drive(vm), lab.drive(vm)]);
    expectStopped('two at once', since);
    await vm.step.run(lab.call(vm));
    await lab.drive(vm);
    expectStopped('repeated', since);
    expect(stopsSince(since)).to.equal(1);
  });

  it('is started again by one start, and stopped a second time by another stop', async () => {
    lab.restore(running);
    const since = lab.cloud.calls.last();
    await lab.drive(vm);
    lab.resume({ vmsStopped: undefined as never });
    expect(await lab.drive(vm)).to.not.have.property('stopped');
    expect(statusOf()).to.equal('RUNNING');
    lab.resume({ vmsStopped: true });
    expect(await lab.drive(vm)).to.include({ stopped: true });
    expect([statusOf(), stopsSince(since)]).to.deep.equal(['TERMINATED', 2]);
  });
});

/** Looks and runs once. */
async function turn(lab: Lab, instance: Instance): Promise<boolean> {
  const call = lab.call(instance);
  if ((await instance.step.observe(call)) !== undefined) return true;
  await instance.step.run(call);
  return (await instance.step.observe(lab.call(instance))) !== undefined;
}

/** Goes on as far as the first call that breaks. */
async function broken(lab: Lab, instance: Instance): Promise<boolean> {
  for (let count = 0; count < 10; count++) {
    try {
      if (await turn(lab, instance)) return false;
    } catch {
      return true;
    }
  }
  return false;
}
