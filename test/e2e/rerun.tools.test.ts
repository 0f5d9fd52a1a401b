/** The same command again with fewer flags: what is installed stays part of the record, and is repaired, until another package is named. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runPlinth } from '../../local/demo/plinth-process.js';
import { makePackage } from '../../local/packages/make-package.js';
import { publishPackage } from '../../local/stack/publish-package.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { needMachines } from '../support/machines.js';
import { runAt } from '../support/plinth-here.js';
import { argsOf, type Caller, type Flags, makeScene, type Scene, succeeded } from '../support/scene.js';

/** What is left of the command where nobody thinks of the installation. */
const bare: Flags = { 'registry-user': undefined };

describe('a rerun that names no package', function () {
  this.timeout(400_000);
  let scene: Scene;
  let alice: Caller;
  let folder: string;
  let made: BootstrapView;

  before(async () => {
    needMachines();
    folder = mkdtempSync(join(tmpdir(), 'plinth-rerun-'));
    scene = await makeScene({ machines: 'embedded' });
    await publishPackage(scene.cloud, await makePackage(folder));
    alice = await scene.caller();
    writeFileSync(join(alice.folder, 'values.yaml'), 'replicas: 4711\n');
    made = succeeded(
      await alice.bootstrap('installed', {
        'install-version': '1.0.0',
        'install-skip-steps': ['postgres'],
        'kube-distro-version': 'v1.31.9+k0s.0',
        'cluster-admin-email': 'ada@example.com',
        'pc-apps-values': 'values.yaml',
      }),
    );
  });
  after(async () => {
    await scene?.close();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });

  const ssh = async (...words: string[]) =>
    (await runPlinth(['beta', 'bootstrap-cloud', 'ssh', 'installed', ...words], alice)).stdout.trim();
  const steps = ({ instances }: BootstrapView) => instances.map(({ id }) => id);
  const isReady = async (node: string) =>
    new RegExp(`^${node} +Ready `, 'm').test(await ssh('k0s-1', '--', 'sudo', 'k0s', 'kubectl', 'get', 'nodes'));
  /** The VM is lost, with its disk. */
  async function lose(name: string): Promise<void> {
    const { accessToken } = await scene.stack.tokens('admin@example.com');
    const path = `projects/${made.projectId}/zones/${made.zone}/instances/${name}`;
    const reply = await fetch(`${scene.cloud.endpoints.compute}/compute/v1/${path}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${accessToken}` },
    });
    expect(reply.status, await reply.text()).to.equal(200);
    await scene.stack.cloudHalf?.machines?.settle();
  }

  it('keeps what is installed, and all that it was installed with', async () => {
    const files = ['config.yaml', 'prod.vault.yaml'].map((name) => join(alice.folder, name));
    const before = files.map((file) => readFileSync(file, 'utf8'));
    const again = await alice.bootstrap('installed', bare);
    expect(succeeded(again).options).to.deep.equal(made.options);
    expect(again.result.changes).to.deep.equal([]);
    expect(steps(succeeded(again))).to.deep.equal(steps(made));
    expect(succeeded(again).warnings, 'the record has the user of the registry').to.deep.equal([]);
    expect(again.result.warnings).to.deep.equal([]);
    const plan = await runAt(['beta', 'bootstrap-cloud', ...argsOf('installed', bare), '--dry-run'], alice);
    expect(plan.stderr).not.to.include('--registry-user');
    const check = await runAt(['beta', 'bootstrap-cloud', ...argsOf('installed', bare), '--check'], alice);
    expect(check.stdout).not.to.include('--registry-user');
    expect(files.map((file) => readFileSync(file, 'utf8'))).to.deep.equal(before);
  });

  it('leaves it known to open and kubeconfig', async () => {
    expect(await runAt(['open', 'installed'], alice)).to.include({ exitCode: 0 });
    const kubeconfig = () => runAt(['kubeconfig', 'installed', '--to', 'kube.yaml'], alice);
    const { exitCode, stderr } = await kubeconfig();
    expect(exitCode, stderr).to.equal(0);
    const path = join(alice.folder, 'kube.yaml');
    const mine = readFileSync(path, 'utf8').replace(/^( +)cluster: installed$/m, '$1namespace: mine\n$&');
    writeFileSync(path, mine);
    expect((await kubeconfig()).exitCode).to.equal(0);
    expect(readFileSync(path, 'utf8'), 'a second run keeps what the caller set').to.equal(mine);
    writeFileSync(path, 'apiVersion: v1\nkind: List\nitems: []\n');
    expect((await kubeconfig()).stderr).to.include('its kind is List, not Config');
    writeFileSync(path, mine);
  });

  for (const [node, repair] of [
    ['k0s-3', () => runAt(['beta', 'bootstrap-cloud', 'restart-vms', 'installed', '--name', 'k0s-3'], alice)],
    ['k0s-2', () => alice.bootstrap('installed', bare)],
  ] as const) {
    it(`repairs it: the lost node ${node} gets k0s again and joins, by ${node === 'k0s-3' ? 'restart-vms' : 'a rerun'}`, async () => {
      await lose(node);
      const { exitCode, stderr } = await repair();
      expect(exitCode, stderr).to.equal(0);
      expect(await isReady(node)).to.equal(true);
    });
  }

  it('changes the part of it that is named, and keeps the rest', async () => {
    const again = await alice.bootstrap('installed', { ...bare, 'cluster-admin-email': 'bob@example.com' });
    expect(succeeded(again).options).to.deep.equal({ ...made.options, clusterAdminEmail: 'bob@example.com' });
    expect(again.result.changes?.map(({ option }) => option)).to.deep.equal(['--cluster-admin-email']);
  });

  it('deletes what dropped and changed options left on the machines, as its plan says', async () => {
    const dropped: Flags = {
      'install-version': '1.0.0',
      'install-skip-steps': ['postgres'],
      'kube-distro-version': 'v1.31.9+k0s.0',
      'secrets-dir': '/etc/mine',
    };
    const root = (...words: string[]) => ssh('jumpbox', '--', 'sudo', ...words);
    const uploads = '/home/ubuntu/.plinth/uploads';
    expect(await root('ls', uploads), 'the values file').to.match(/^[0-9a-f]{64}$/);
    await root('touch', '/etc/platform/secrets/note');

    const shown = await runAt(['beta', 'bootstrap-cloud', ...argsOf('installed', dropped), '--dry-run'], alice);
    expect(shown.exitCode, shown.stderr).to.equal(0);
    expect(shown.stdout)
      .to.match(/^ +remove +E-mail of the cluster admin dc1 +secret cluster-admin-email in the Kubernetes of dev$/m)
      .and.to.include('deletes /etc/platform/secrets/prod.vault.yaml on the jumpbox')
      .and.to.include('deletes /etc/platform/secrets/age_key.txt on the jumpbox')
      .and.to.include('deletes values.yaml, which was uploaded to the jumpbox');
    succeeded(await alice.bootstrap('installed', dropped));

    expect(await root('ls', '/etc/mine')).to.equal('age_key.txt\nprod.vault.yaml');
    expect(await root('ls', '/etc/platform/secrets'), 'what others put there stays').to.equal('note');
    expect(await root('ls', uploads)).to.equal('');
    const get = ['get', 'secret', 'cluster-admin-email', '--namespace', 'platform', '--ignore-not-found'];
    expect(await ssh('k0s-1', '--', 'sudo', 'k0s', 'kubectl', ...get, '--output', 'name')).to.equal('');
    const { exitCode, stderr } = await runAt(['kubeconfig', 'installed', '--to', 'kube.yaml'], alice);
    expect(exitCode, stderr).to.equal(0);
  });
});
