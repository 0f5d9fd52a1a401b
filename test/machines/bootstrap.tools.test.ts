/** The machines of a whole bootstrap: all VMs answer plinth's own SSH through the jumpbox, and nothing of them stays when the project goes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { guests } from '../../local/cloud/compute/instance-life.js';
import { homeOf } from '../../local/demo/plinth-process.js';
import { functionNames } from '../../shared/names.js';
import { makeScene, type Scene, succeeded } from '../support/scene.js';

describe('the machines of a bootstrap', function () {
  this.timeout(240_000);
  let scene: Scene;
  before(async () => {
    scene = await makeScene({ machines: 'embedded' });
  });
  after(() => scene?.close());

  it('answer plinth’s own SSH, with their startup scripts behind them, and go with the project', async () => {
    const alice = await scene.caller();
    const bootstrap = succeeded(await alice.bootstrap('with-machines'));
    const half = scene.stack.cloudHalf;
    const machines = half?.machines;
    await machines?.settle();
    const privateKey = readFileSync(join(homeOf(alice.folder), '.config/plinth/ssh/id_ed25519'), 'utf8');
    const { projectId = '' } = bootstrap;
    const path = (name: string) => `projects/${projectId}/zones/europe-west4-a/instances/${name}`;
    const machine = (name: string, user: string) => {
      const vm = bootstrap.result.vms.find((one) => one.name === name);
      const hostKeys = [guests(scene.cloud.world)[path(name)]?.hostKey.publicKey ?? ''];
      return { name, address: vm?.externalIp ?? vm?.internalIp ?? '', user, hostKeys };
    };
    const { remote } = scene.stack.functionsHalf?.contextOf(functionNames.runHostStep) ?? {};
    const said = await Promise.all(
      bootstrap.result.vms.map(async ({ name }) => {
        const to = { bootstrapId: bootstrap.id, privateKey, jumpbox: machine('jumpbox', 'ubuntu') };
        const host = await remote?.host(name === 'jumpbox' ? to : { ...to, machine: machine(name, 'root') });
        return (await host?.exec('hostname; cat /proc/sys/kernel/hostname; sysctl -n vm.max_map_count'))?.stdout;
      }),
    );
    expect(said).to.deep.equal(bootstrap.result.vms.map(({ name }) => `${name}\n${name}\n262144\n`));
    await remote?.close?.();

    const { accessToken } = await scene.stack.tokens('admin@example.com');
    const gone = await fetch(`${scene.cloud.endpoints.cloudresourcemanager}/v3/projects/${projectId}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${accessToken}` },
    });
    expect(gone.status).to.equal(200);
    await machines?.settle();
    expect(machines?.list()).to.deep.equal([]);
  });
});
