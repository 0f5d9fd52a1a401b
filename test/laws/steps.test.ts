/**
 * The laws of a step, proven over every instance and every cloud call it makes: run then observe agrees; twice is once; a crash
 * at any call heals by running again, with nothing made twice; two at once are as one; undo leaves nothing, twice as well.
 */
import { expect } from 'chai';
import type { Instance } from '../../functions/engine/plan.js';
import { changeWorld } from '../../local/cloud/begin-world.js';
import type { RecordedCall } from '../../local/cloud/index.js';
import { writePolicyRecord } from '../../local/cloud/org-policy/policies.js';
import { type FunctionEnvironment, local } from '../../local/stack/deployment.js';
import type { BootstrapOptions } from '../../shared/bootstrap/options.js';
import { keysAtHand } from '../install-config/made-bootstrap.js';
import { makeOptions } from '../install-config/make-options.js';
import { inventory } from './inventory.js';
import { createLab, type Lab, type Saved } from './lab.js';

interface Variant {
  readonly name: string;
  readonly options: Partial<BootstrapOptions>;
  /** Of instances alike one is enough. */
  readonly only: (id: string) => boolean;
  readonly prepare?: (lab: Lab) => void;
  readonly settings?: FunctionEnvironment;
}

const alike = /^vm:(ceph-[23]|k0s-[23]|postgres)|^address:(public-gateway|ssh-proxy)/;

const variants: readonly Variant[] = [
  { name: 'one datacenter', options: {}, only: (id) => !alike.test(id) },
  {
    name: 'artifact registry, public CA, a shared DNS project, spot VMs without capacity',
    options: {
      registryType: 'artifact-registry',
      cloudAcmeIssuer: true,
      dnsProjectId: local.dnsProject,
      spotVms: true,
    },
    only: (id) => /^(repository|registry|eab|zone|records|vm:(jumpbox|ceph-1)$)/.test(id),
    prepare: ({ cloud }) => void cloud.faults.stockout({ name: 'ceph-1', provisioning: 'SPOT' }),
  },
  {
    name: 'machines that are reached through IAP',
    options: {},
    only: (id) => /^(apis|caller-role|tunnel-access|firewall|vm:jumpbox)$/.test(id),
    settings: { PLINTH_MACHINE_ACCESS: 'iap' },
  },
  {
    name: 'machines that are reached through IAP and logged in to by OS Login, with people who come and go',
    options: {},
    only: (id) => /^(caller-role|tunnel-access|machine-login|machine-login-role|people-login)$/.test(id),
    prepare: (lab) => {
      const content = { spec: { rules: [{ enforce: true }] } };
      writePolicyRecord(lab.cloud.world, local.folder, 'compute.requireOsLogin', content, { atOnce: true });
      lab.resume({ sharedMembers: ['user:bob@example.com'], formerMembers: ['user:carol@example.com'] });
    },
    settings: { PLINTH_MACHINE_ACCESS: 'iap' },
  },
  {
    name: 'a new account, whose quota Google raises',
    options: {},
    only: (id) => id === 'quota',
    prepare: ({ cloud }) => changeWorld(cloud.world, 'fresh', { 'chance.quotaGranted': 1 }),
  },
];

/** What an instance met, what it left, and the calls in between. */
interface Trace {
  readonly instance: Instance;
  readonly before: Saved;
  readonly after: Saved;
  readonly made: ReturnType<typeof inventory>;
  readonly calls: readonly RecordedCall[];
}

/** They make something new each time; that it is kept is what their `observe` sees to. */
const makesSecrets = ({ id }: Instance): boolean => /^(machine-key|age-identity|secrets:|eab-key)/.test(id);

const isRead = (method: string): boolean =>
  /\.(get|list|access|batchGet|getIamPolicy|getBillingInfo|getEffectivePolicy|getEffectiveFirewalls)$/.test(method);

for (const { name, options, only, prepare, settings } of variants) {
  describe(`laws of the steps: ${name}`, function () {
    this.timeout(240_000);
    let lab: Lab;
    const traces: Trace[] = [];

    before(async function () {
      await keysAtHand.call(this);
      lab = await createLab(makeOptions({ billingAccount: local.billingAccount, ...options }), 0, undefined, {
        PLINTH_QUOTA_CONTACT: 'quota@example.com',
        ...settings,
      });
      prepare?.(lab);
      for (const instance of lab.instances) {
        const before = lab.save();
        const since = lab.cloud.calls.last();
        lab.outputs[instance.id] = await lab.drive(instance);
        // What is denied is not even looked at, and so meets no fault.
        const calls = lab.cloud.calls.list({ since }).filter(({ status }) => status !== 403);
        traces.push({ instance, before, after: lab.save(), made: inventory(lab.cloud), calls });
      }
    });
    after(() => lab.close());

    const over = async (law: (trace: Trace) => Promise<void>) => {
      for (const trace of traces.filter(({ instance }) => only(instance.id))) await law(trace);
    };

    it('run then observe agrees, and observe only reads', () =>
      over(async ({ instance, after }) => {
        lab.restore(after);
        const since = lab.cloud.calls.last();
        expect(await instance.step.observe(lab.call(instance)), instance.id).to.deep.equal(lab.outputs[instance.id]);
        const writes = lab.cloud.calls.list({ since }).filter(({ method }) => !isRead(method));
        expect(writes, instance.id).to.deep.equal([]);
      }));

    it('twice is once: running what stands changes nothing', () =>
      over(async ({ instance, after, made }) => {
        if (makesSecrets(instance)) return;
        lab.restore(after);
        await instance.step.run(lab.call(instance));
        expect(inventory(lab.cloud), instance.id).to.deep.equal(made);
        expect(await instance.step.observe(lab.call(instance)), instance.id).to.deep.equal(lab.outputs[instance.id]);
      }));

    for (const when of ['before', 'after'] as const) {
      it(`a crash ${when} any call heals by running again, and makes nothing twice`, () =>
        over(async ({ instance, before, made, calls }) => {
          for (const [index, { method, status }] of calls.entries()) {
            // What is refused has no effect, and so no moment after it.
            if (when === 'after' && status >= 400) continue;
            const nth = index + 1;
            const where = `${instance.id}, call ${nth}: ${method}`;
            lab.restore(before);
            // Node itself sends a GET once more when its connection breaks.
            const kind = isRead(method) ? 'unavailable' : 'drop';
            const fault = lab.cloud.faults.add({ method: '*', nth, kind, when });
            const broken = await crashed(lab, instance);
            lab.cloud.faults.remove(fault);
            expect(broken, where).to.equal(true);
            // A crash does not count as a failure; what the engine hears of does.
            await lab.drive(instance, when === 'after' ? 0 : 1);
            expect(inventory(lab.cloud), where).to.deep.equal(made);
          }
        }));
    }

    it('two at once are as one', () =>
      over(async ({ instance, before, made }) => {
        lab.restore(before);
        await Promise.all([lab.drive(instance), lab.drive(instance)]);
        // Both may have written a version; the lowest counts.
        if (makesSecrets(instance)) return;
        expect(inventory(lab.cloud), instance.id).to.deep.equal(made);
      }));

    it('undo leaves nothing of it, and undo twice is fine', () =>
      over(async ({ instance, before, after }) => {
        if (instance.step.goes !== 'undo' || instance.id === 'project') return;
        lab.restore(before);
        const clean = inventory(lab.cloud);
        lab.restore(after);
        await lab.undo(instance);
        expect(inventory(lab.cloud), instance.id).to.deep.equal(clean);
        await lab.undo(instance);
        expect(inventory(lab.cloud), instance.id).to.deep.equal(clean);
      }));

    it('undo of two at once is as of one', () =>
      over(async ({ instance, before, after }) => {
        if (instance.step.goes !== 'undo' || instance.id === 'project') return;
        lab.restore(before);
        const clean = inventory(lab.cloud);
        lab.restore(after);
        await Promise.all([lab.undo(instance), lab.undo(instance)]);
        expect(inventory(lab.cloud), instance.id).to.deep.equal(clean);
      }));

    it('undo of the project by two at once is as of one', async () => {
      const project = traces.find(({ instance }) => instance.id === 'project');
      if (project === undefined) throw new Error('nothing was made');
      lab.restore(project.after);
      await Promise.all([lab.undo(project.instance), lab.undo(project.instance)]);
      expect(lab.cloud.world.table('projects')[lab.bootstrap.projectId]).to.include({ state: 'DELETE_REQUESTED' });
    });

    it('undo of the project deletes it, unlinked from its billing account', async () => {
      const last = traces.at(-1);
      const project = traces.find(({ instance }) => instance.id === 'project');
      if (last === undefined || project === undefined) throw new Error('nothing was made');
      lab.restore(last.after);
      for (let time = 1; time <= 2; time++) {
        await lab.undo(project.instance);
        const record = lab.cloud.world.table('projects')[lab.bootstrap.projectId];
        expect(record).to.include({ state: 'DELETE_REQUESTED' });
        expect(record?.['billingAccountName'] ?? '').to.equal('');
      }
    });
  });
}

/** Runs as far as the first connection that breaks. */
async function crashed(lab: Lab, instance: Instance): Promise<boolean> {
  for (let turn = 0; turn < 10; turn++) {
    try {
      const call = lab.call(instance);
      if ((await instance.step.observe(call)) !== undefined) return false;
      if ((await instance.step.run(call)).kind === 'done' && (await instance.step.observe(call)) !== undefined)
        return false;
    } catch {
      return true;
    }
  }
  return false;
}
