/** Where an organization requires OS Login: a bootstrap with an install, from its beginning to its removal. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { collections, held } from '../../local/cloud/compute/resources.js';
import { homeOf, runPlinth } from '../../local/demo/plinth-process.js';
import { vmAt } from '../../local/machines/vms.js';
import { functionAccount } from '../../local/stack/deployment.js';
import { functionNames } from '../../shared/names.js';
import { publishSample, type SamplePackage } from '../support/sample-package.js';
import { type Caller, makeScene, type Scene, succeeded } from '../support/scene.js';

const hostAccount = functionAccount(functionNames.runHostStep);

interface Binding {
  readonly role: string;
  readonly members: readonly string[];
}

describe('where OS Login is required', function () {
  this.timeout(300_000);
  let scene: Scene;
  let alice: Caller;
  let made: SamplePackage;

  before(async () => {
    scene = await makeScene({
      machines: 'embedded',
      worldSettings: { 'policy.compute.requireOsLogin': 'enforced' },
    });
    made = await publishSample(scene);
    alice = await scene.caller();
  });
  after(() => scene?.close());

  const keysOf = () =>
    Object.values(
      scene.cloud.world.table<{ keys: Record<string, { expirationTimeUsec?: string }> }>('oslogin.profiles')[
        hostAccount
      ]?.keys ?? {},
    );
  const plinth = (...args: string[]) => runPlinth(['beta', 'bootstrap-cloud', ...args], alice);
  const gcloud = (...args: string[]) =>
    promisify(execFile)('gcloud', args, {
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: homeOf(alice.folder),
        ...alice.env,
        CLOUDSDK_CORE_ACCOUNT: alice.email,
      },
    });
  const bindingsOf = (member: string, projectId: string): string[] =>
    ((scene.cloud.world.policies.get(`projects/${projectId}`, 3)['bindings'] ?? []) as unknown as Binding[])
      .filter(({ members }) => members.includes(member))
      .map(({ role }) => role);

  it('installs, is resumed and removed, by one key that ends within the hour', async () => {
    const wanted = { 'install-version': made.version };
    const view = succeeded(await alice.bootstrap('by-login', wanted));
    const { projectId } = view;
    expect(view.result.machineLogin).to.equal('os-login');
    expect(view.warnings.join(' ')).to.contain('requires OS Login').and.contain('--ssh-public-key-path');
    const [key, ...others] = keysOf();
    expect(others).to.deep.equal([]);
    expect(Number(key?.expirationTimeUsec) / 1000 - Date.now()).to.be.within(0, 3_600_000);
    const path = `projects/${projectId}/zones/${view.zone}/instances/k0s-1`;
    expect(vmAt(scene.cloud.world, path)?.metadata('enable-oslogin')).to.equal('TRUE');
    expect(JSON.stringify(held(scene.cloud.world, collections.instances)[path])).not.to.contain('ssh-keys');
    expect(bindingsOf(`serviceAccount:${hostAccount}`, projectId)).to.deep.equal(['roles/compute.osAdminLogin']);
    expect(bindingsOf('user:alice@example.com', projectId)).to.include('roles/compute.osAdminLogin');

    const refused = await plinth('ssh', 'by-login', '--', 'true');
    expect(refused.exitCode).to.equal(3);
    expect(refused.stderr).to.contain('gcloud compute os-login ssh-keys add').and.contain(projectId);
    const file = join(homeOf(alice.folder), '.config/plinth/ssh/id_ed25519.pub');
    await gcloud('compute', 'os-login', 'ssh-keys', 'add', `--key-file=${file}`, `--project=${projectId}`);
    const run = await plinth('ssh', 'by-login', 'k0s-1', '--', 'whoami; sudo -n id -u; hostname');
    expect(run.stdout, run.stderr).to.match(/0\nk0s-1\n$/);
    const doctor = await runPlinth(['doctor', 'by-login'], alice);
    expect(doctor.stdout).to.contain('machines know you as alice_example_com');

    // The policy says what new bootstraps do.
    await fetch(`${scene.cloud.frontUrl}/_local/world`, {
      method: 'PUT',
      body: JSON.stringify({ settings: { 'policy.compute.requireOsLogin': 'off' } }),
    });
    const again = await alice.bootstrap('by-login', { ...wanted, 'recover-config': true });
    expect(succeeded(again).result.machineLogin).to.equal('os-login');
    expect(keysOf()).to.have.length(1);

    const removal = await plinth('cleanup', 'by-login', '--yes');
    expect(removal.exitCode, removal.stderr).to.equal(0);
    const { functionsHalf } = scene.stack;
    await functionsHalf?.contextOf(functionNames.runHostStep).osLogin.close();
    expect(keysOf()).to.deep.equal([]);
  });

  it('leaves a bootstrap that began with keys as it is', async () => {
    const view = succeeded(await alice.bootstrap('by-keys'));
    expect(view.result.machineLogin).to.equal('keys');
    expect(view.warnings).to.deep.equal([]);
    const path = `projects/${view.projectId}/zones/${view.zone}/instances/jumpbox`;
    expect(vmAt(scene.cloud.world, path)?.metadata('enable-oslogin')).to.equal(undefined);
    expect((await plinth('ssh', 'by-keys', '--', 'whoami')).stdout).to.equal('ubuntu\n');
    expect(bindingsOf('user:alice@example.com', view.projectId)).not.to.include('roles/compute.osAdminLogin');
  });
});
