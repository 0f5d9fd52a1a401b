/**
 * A whole bootstrap with an install where an organization has hardened everything that it can: nothing is public, and the
 * platform is reached within its network alone.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import { objectsOf } from '../../local/cloud/kernel/json-fields.js';
import type { ConstraintName } from '../../local/cloud/org-policy/constraints.js';
import { writePolicyRecord } from '../../local/cloud/org-policy/policies.js';
import { runPlinth } from '../../local/demo/plinth-process.js';
import { makePackage } from '../../local/packages/make-package.js';
import { publishPackage } from '../../local/packages/publish.js';
import { local } from '../../local/stack/deployment.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { needMachines } from '../support/machines.js';
import { type Caller, makeScene, type Scene, succeeded } from '../support/scene.js';

/** What plinth does not meet yet. */
const relaxed: readonly (readonly [ConstraintName, JsonObject])[] = [
  ['compute.vmExternalIpAccess', { allowAll: true }],
  ['compute.requireOsLogin', { enforce: false }],
];

describe('in a hardened organization, with all policies at once that plinth meets', function () {
  this.timeout(500_000);
  let scene: Scene;
  let alice: Caller;
  let folder: string;
  let view: BootstrapView;

  before(async () => {
    needMachines();
    folder = mkdtempSync(join(tmpdir(), 'plinth-hardened-'));
    scene = await makeScene({
      world: 'hardened',
      machines: 'embedded',
      settings: { PLINTH_LOAD_BALANCERS: 'internal' },
    });
    for (const [constraint, each] of relaxed) {
      const rule = { spec: { rules: [each] } };
      writePolicyRecord(scene.cloud.world, local.folder, constraint, rule, { atOnce: true });
    }
    await publishPackage(scene.cloud, await makePackage(folder));
    alice = await scene.caller();
    view = succeeded(await alice.bootstrap('hard', { 'install-version': '1.0.0' }));
  });
  after(async () => {
    await scene?.close();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });

  const resources = (kind: string): readonly JsonObject[] =>
    Object.entries(scene.cloud.world.table<{ resource: JsonObject }>(`compute.${kind}`))
      .filter(([path]) => path.startsWith(`projects/${view.projectId}/`))
      .map(([, { resource }]) => resource);

  it('ends without a warning, and nobody was refused by a policy', () => {
    expect(view.warnings.filter((text) => /polic|firewall|key/i.test(text))).to.deep.equal([]);
    // Where guest attributes are off, host keys come from the serial console.
    const refused = scene.cloud.calls.list().filter(({ status }) => status === 412);
    expect(refused.filter(({ method }) => method !== 'compute.instances.getGuestAttributes')).to.deep.equal([]);
  });

  it('has internal load balancers, one for each address, made as the nodes', () => {
    const rules = resources('forwardingRules');
    expect(rules.map(({ loadBalancingScheme }) => loadBalancingScheme)).to.deep.equal(Array(3).fill('INTERNAL'));
    const reserved = view.result.addresses.map(({ address }) => address);
    expect(rules.map(({ IPAddress }) => String(IPAddress)).sort()).to.deep.equal([...reserved].sort());
    for (const { status, addressType } of resources('addresses')) {
      expect([status, addressType]).to.deep.equal(['IN_USE', 'INTERNAL']);
    }
    for (const { service } of view.result.addresses) expect(service).to.match(/^plinth-sample\//);
  });

  it('has no public address but that of a jumpbox which is reached directly', () => {
    const open = resources('instances').filter((vm) =>
      objectsOf(vm['networkInterfaces']).some((nic) => objectsOf(nic['accessConfigs']).length > 0),
    );
    expect(open.map(({ name }) => name)).to.deep.equal(view.machineAccess === 'direct' ? ['jumpbox'] : []);
    expect(resources('addresses').filter(({ addressType }) => addressType !== 'INTERNAL')).to.deep.equal([]);
  });

  it('is removed', async () => {
    const run = await runPlinth(['beta', 'bootstrap-cloud', 'cleanup', 'hard', '--yes'], alice);
    expect(run.exitCode, run.stderr).to.equal(0);
    await scene.stack.settle();
    expect((await scene.view(view.id)).state).to.equal('removed');
  });
});
