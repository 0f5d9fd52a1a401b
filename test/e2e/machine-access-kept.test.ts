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

const changes = [
  { began: 'direct', later: 'iap' },
  { began: 'iap', later: 'direct' },
] as const;
const reached: Readonly<Record<MachineAccess, object>> = {
  direct: { view: 'direct', publicVms: ['jumpbox'], tunnels: [], ssh: [`${anybody}/32`], mayTunnel: false },
  iap: { view: 'iap', publicVms: [], tunnels: ['jumpbox'], ssh: [iapRange], mayTunnel: true },
};

for (const { began, later } of changes) {
  describe(`a bootstrap that began with ${began}, in a deployment that sets ${later} afterwards`, function () {
    this.timeout(240_000);
    let scene: Scene;
    let alice: Caller;
    let id: string;

    before(async () => {
      scene = await makeScene({ settings: { PLINTH_MACHINE_ACCESS: began } });
      alice = await scene.caller();
      ({ id } = succeeded(await alice.bootstrap('earlier')));
      // As an operator who deploys other settings: ranges go with `direct` alone.
      const settings = { machineAccess: later, sshSourceRanges: later === 'direct' ? [`${anybody}/32`] : [] };
      for (const name of Object.values(functionNames)) {
        Object.assign(scene.stack.functionsHalf?.contextOf(name).config ?? {}, settings);
      }
    });
    after(() => scene?.close());

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

    it('keeps it', async () => {
      expect(look(await scene.view(id))).to.deep.equal(reached[began]);
    });

    it('keeps it where the same command makes more, and after a look at its VMs', async () => {
      const again = succeeded(await alice.bootstrap('earlier', { 'cloud-acme-issuer': true }));
      expect(again.id).to.equal(id);
      expect(look(again)).to.deep.equal(reached[began]);
      const restarted = await runAt(['beta', 'bootstrap-cloud', 'restart-vms', 'earlier'], alice);
      expect(restarted.exitCode, restarted.stderr).to.equal(0);
      await scene.stack.settle();
      expect(look(await scene.view(id))).to.deep.equal(reached[began]);
    });

    it('is removed, and a new one follows the setting', async () => {
      expect(look(succeeded(await alice.bootstrap('newer')))).to.deep.equal(reached[later]);
      const removed = await runAt(['beta', 'bootstrap-cloud', 'cleanup', 'earlier', '--yes'], alice);
      expect(removed.exitCode, removed.stderr).to.equal(0);
      await scene.stack.settle();
      expect((await scene.view(id)).state).to.equal('removed');
    });
  });
}
