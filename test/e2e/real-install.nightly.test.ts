/**
 * Bootstraps with an install on real hosts: nodes join through rules that nft enforces, PostgreSQL runs on its VM, and the
 * platform runs under systemd, in one datacenter and in two.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { startPlinth } from '../../local/demo/plinth-process.js';
import { type MadePackage, makePackage } from '../../local/packages/make-package.js';
import { publishPackage } from '../../local/stack/publish-package.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { makeBase } from '../real-hosts/base.js';
import { realHosts } from '../real-hosts/index.js';
import { needMachines } from '../support/machines.js';
import { type Caller, makeScene, type Scene, succeeded } from '../support/scene.js';

describe('an install on real hosts', function () {
  this.timeout(600_000);
  let scene: Scene;
  let alice: Caller;
  const name = 'real-install';
  const folderOfServer = '/etc/postgresql/*/main';
  let folder: string;
  let made: BootstrapView;
  let sample: MadePackage;
  let token: string;

  before(async () => {
    needMachines(realHosts);
    await makeBase((note) => void process.stderr.write(`${note}\n`));
    folder = mkdtempSync(join(tmpdir(), 'plinth-package-'));
    sample = await makePackage(folder);
    scene = await makeScene({ machines: realHosts });
    await publishPackage(scene.cloud, sample);
    alice = await scene.caller();
  });
  after(async () => {
    await scene?.close();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });

  const flags = () => ({ 'install-version': sample.version, 'multi-dc': true, 'create-test-user': true }) as const;

  /** What a command says on a machine, as root, by the caller's own SSH. */
  const said = async (host: string, command: string): Promise<string> => {
    const quoted = `'${command.replaceAll("'", "'\\''")}'`;
    const words = host === 'jumpbox' ? ['sudo', 'bash', '-c', quoted] : ['bash', '-c', quoted];
    const { exitCode, stdout, stderr } = await startPlinth(
      ['beta', 'bootstrap-cloud', 'ssh', name, host, '--', ...words],
      alice,
    ).ended;
    expect(exitCode, `${command}\n${stdout}\n${stderr}`).to.equal(0);
    return stdout.trim();
  };
  const tables = (): Promise<string> =>
    said(
      'postgres',
      'runuser -u postgres -- psql -X -A -t -d plinth_sample -c "select * from datacenters order by id" -c "select * from visits"',
    );
  const visits = async (): Promise<unknown> => {
    const asked = (port: number) =>
      `curl --silent --header "Authorization: Bearer ${token}" http://127.0.0.1:${port}/api/me`;
    const answers = await said('jumpbox', `${asked(8080)} && ${asked(8081)}`);
    return answers.split('\n').map((line) => JSON.parse(line) as unknown);
  };

  it('comes to its end in two datacenters, whose platforms share a PostgreSQL server on its VM', async () => {
    const outcome = await alice.bootstrap(name, flags());
    made = succeeded(outcome);
    const states = Object.fromEntries(made.instances.map(({ id, state }) => [id, state]));
    expect(states).to.include({
      ...{ 'k0s-ready:dc1': 'done', 'k0s-ready:dc2': 'done' },
      ...{ 'install:dc1': 'done', 'install-second:dc2': 'done', 'test-user': 'done' },
    });
    ({ token } = outcome.result['testUser'] as { token: string });
    expect(await visits()).to.deep.equal([
      { user: 'test-user', visits: 1 },
      { user: 'test-user', visits: 2 },
    ]);
    expect(await tables()).to.equal('1|dev|1.0.0\n2|dev-dc2|1.0.0\ntest-user|2');
  });

  it('has a Kubernetes of its own in each, with all nodes Ready', async () => {
    const asked = 'k0s kubectl get nodes; k0s kubeconfig admin';
    const [one, two] = await Promise.all([said('k0s-1', asked), said('k0s-1-dc2', asked)]);
    const ready = (text: string) => [...text.matchAll(/^(\S+) +Ready /gm)].map(([, node]) => node).sort();
    expect(ready(one)).to.deep.equal(['k0s-1', 'k0s-2', 'k0s-3']);
    expect(ready(two)).to.deep.equal(['k0s-1-dc2', 'k0s-2-dc2', 'k0s-3-dc2']);
    const ca = (text: string) => /certificate-authority-data: (\S+)/.exec(text)?.[1];
    expect(ca(one)).to.be.a('string').and.not.equal(ca(two));
    const [config, second] = [alice.config(), alice.config('config-dc2.yaml')];
    expect(second.cluster.certificates.ca.certPem).not.to.equal(config.cluster.certificates.ca.certPem);
  });

  it('lets nobody in to PostgreSQL without TLS, a password and an address of the subnet', async () => {
    expect(
      await said('postgres', `stat -c '%a %U' ${folderOfServer}/plinth-server.key; cat ${folderOfServer}/pg_hba.conf`),
    ).to.match(/^600 postgres\nlocal +all all peer\nhostssl all all 10\.10\.0\.0\/20 scram-sha-256$/);
    const { ip } = alice.config().postgres.primary;
    const asked = (sslmode: string) => `psql -w -c "select 1" "host=${ip} user=postgres sslmode=${sslmode}" 2>&1`;
    const [plain, nameless] = (await said('jumpbox', `${asked('disable')}; echo; ${asked('require')}; true`)).split(
      '\n\n',
    );
    expect(plain).to.include('no encryption');
    expect(nameless).to.include('no password supplied');
  });

  it('mends a server that was stopped and changed, and keeps what is in it', async () => {
    await said('postgres', `systemctl stop "postgresql@*" && for f in ${folderOfServer}/pg_hba.conf; do : > $f; done`);
    const secrets = '/etc/platform/secrets';
    const ran = await said(
      'jumpbox',
      `plinth install platform --json --package /var/lib/platform/packages/*.tar.gz --install-config /etc/platform/config.yaml --secrets-file ${secrets}/prod.vault.yaml --age-key ${secrets}/age_key.txt`,
    );
    expect(ran).to.match(/"component":"postgres".*"installed"/);
    expect(await tables()).to.include('test-user|2');
  });

  it('is found as it is by the same command', async () => {
    const again = succeeded(await alice.bootstrap(name, flags()));
    expect(again.projectId).to.equal(made.projectId);
    expect(again.instances.every(({ attempt }) => attempt <= 1)).to.equal(true);
  });
});
