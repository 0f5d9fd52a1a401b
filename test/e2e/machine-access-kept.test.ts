/** A deployment's `machine_access` changes: each bootstrap keeps what it began with, and new ones follow the setting. */
import { expect } from 'chai';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import { objectsOf } from '../../local/cloud/kernel/json-fields.js';
import { anybody } from '../../local/machines/network/fabric.js';
import type { BootstrapView, MachineAccess } from '../../shared/bootstrap/bootstrap.js';
import { iapRange, tunnelRole } from '../../shared/iap.js';
import { functionNames } from '../../shared/names.js';
import { runAt } from '../support/plinth-here.js';
import { type Caller, makeScene, type Scene, succeeded } from '../support/scene.js';

const reached: Readonly<Record<MachineAccess, object>> = {
  direct: { view: 'direct', publicVms: ['jumpbox'], tunnels: [], ssh: [`${anybody}/32`], mayTunnel: false },
  iap: { view: 'iap', publicVms: [], tunnels: ['jumpbox'], ssh: [iapRange], mayTunnel: true },
};

describe('how the machines of a bootstrap are reached', function () {
  this.timeout(240_000);
  let scene: Scene;
  let alice: Caller;

  before(async () => {
    scene = await makeScene({ settings: { PLINTH_MACHINE_ACCESS: 'direct' } });
    alice = await scene.caller();
  });
  after(() => scene?.close());

  /** As an operator who deploys other settings: ranges go with `direct` alone. */
  function deploy(machineAccess: MachineAccess): void {
    const settings = { machineAccess, sshSourceRanges: machineAccess === 'direct' ? [`${anybody}/32`] : [] };
    for (const name of Object.values(functionNames)) {
      Object.assign(scene.stack.functionsHalf?.contextOf(name).config ?? {}, settings);
    }
  }
  const resource = (path: string) =>
    scene.cloud.world.table<{ resource: JsonObject }>(`compute.${path.split('/').at(-2)}`)[path]?.resource;
  /** How its machines are reached: as its view says, and as it stands in the cloud. */
  function look({ machineAccess, projectId, zone, result: { vms } }: BootstrapView) {
    const publicVms = vms.filter(({ name }) =>
      objectsOf(resource(`projects/${projectId}/zones/${zone}/instances/${name}`)?.['networkInterfaces']).some(
        (nic) => 'accessConfigs' in nic,
      ),
    );
    expect(vms.filter(({ externalIp }) => externalIp !== undefined)).to.deep.equal(publicVms);
    const { bindings = [] } = scene.cloud.world.policies.get(`projects/${projectId}`, 3) as {
      bindings?: { role: string; members: string[] }[];
    };
    return {
      view: machineAccess,
      publicVms: publicVms.map(({ name }) => name),
      tunnels: vms.filter(({ tunnel }) => tunnel !== undefined).map(({ name }) => name),
      ssh: resource(`projects/${projectId}/global/firewalls/allow-ssh-ext`)?.['sourceRanges'],
      mayTunnel: bindings.some(({ role, members }) => role === tunnelRole && members.includes(`user:${alice.email}`)),
    };
  }

  /** By the view, by the same command that makes more, and after a look at its VMs. */
  async function keeps(id: string, name: string, began: MachineAccess): Promise<void> {
    expect(look(await scene.view(id))).to.deep.equal(reached[began]);
    const again = succeeded(await alice.bootstrap(name, { 'cloud-acme-issuer': true }));
    expect(again.id).to.equal(id);
    expect(look(again)).to.deep.equal(reached[began]);
    const restarted = await runAt(['beta', 'bootstrap-cloud', 'restart-vms', name], alice);
    expect(restarted.exitCode, restarted.stderr).to.equal(0);
    await scene.stack.settle();
    expect(look(await scene.view(id))).to.deep.equal(reached[began]);
    const removed = await runAt(['beta', 'bootstrap-cloud', 'cleanup', name, '--yes'], alice);
    expect(removed.exitCode, removed.stderr).to.equal(0);
    await scene.stack.settle();
    expect((await scene.view(id)).state).to.equal('removed');
  }

  it('stays as it began where the deployment changes it, in both directions: in the same command, a look at its VMs and the removal; a new one follows the setting', async () => {
    const { id: direct } = succeeded(await alice.bootstrap('of-direct'));
    deploy('iap');
    const ofIap = succeeded(await alice.bootstrap('of-iap'));
    expect(look(ofIap)).to.deep.equal(reached.iap);
    await keeps(direct, 'of-direct', 'direct');
    deploy('direct');
    await keeps(ofIap.id, 'of-iap', 'iap');
  });
});
