/** An install in two datacenters on embedded machines: each has its Kubernetes and its platform, and they share one PostgreSQL server. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { startPlinth } from '../../local/demo/plinth-process.js';
import { type MadePackage, makePackage } from '../../local/packages/make-package.js';
import { publishPackage } from '../../local/stack/publish-package.js';
import { type Caller, makeScene, type Scene, succeeded } from '../support/scene.js';

describe('an install in two datacenters', function () {
  this.timeout(300_000);
  const name = 'two-installs';
  let scene: Scene;
  let alice: Caller;
  let folder: string;
  let sample: MadePackage;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'plinth-package-'));
    sample = await makePackage(folder);
    scene = await makeScene({ machines: 'embedded' });
    await publishPackage(scene.cloud, sample);
    alice = await scene.caller();
  });
  after(async () => {
    await scene?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** By the caller's own SSH. */
  const said = async (host: string, command: string): Promise<string> => {
    const words = ['beta', 'bootstrap-cloud', 'ssh', name, host, '--', command];
    const { exitCode, stdout, stderr } = await startPlinth(words, alice).ended;
    expect(exitCode, `${command}\n${stdout}\n${stderr}`).to.equal(0);
    return stdout.trim();
  };
  const flags = () => ({ 'install-version': sample.version, 'multi-dc': true, 'create-test-user': true }) as const;

  it('gives both a platform over the same tables, and is found as it is by the same command', async () => {
    const outcome = await alice.bootstrap(name, flags());
    const states = Object.fromEntries(succeeded(outcome).instances.map(({ id, state }) => [id, state]));
    expect(states).to.include({ 'install:dc1': 'done', 'install-second:dc2': 'done', 'test-user': 'done' });

    const { token } = outcome.result['testUser'] as { token: string };
    const asked = (port: number) =>
      `curl --silent --header "Authorization: Bearer ${token}" http://127.0.0.1:${port}/api/me`;
    const answers = await said('jumpbox', `${asked(8080)} && ${asked(8081)}`);
    expect(answers.split('\n').map((line) => JSON.parse(line) as unknown)).to.deep.equal([
      { user: 'test-user', visits: 1 },
      { user: 'test-user', visits: 2 },
    ]);
    const tables = 'select id, name, version from datacenters order by id; select name, count from visits;';
    const psql = 'runuser -u postgres -- psql -X -q -A -t -d plinth_sample -f -';
    expect(await said('postgres', `echo '${tables}' | ${psql}`)).to.equal('1|dev|1.0.0\n2|dev-dc2|1.0.0\ntest-user|2');
    const nodes = await said('k0s-1-dc2', 'k0s kubectl get nodes');
    expect([...nodes.matchAll(/^(\S+) +Ready /gm)].map(([, node]) => node).sort()).to.deep.equal([
      'k0s-1-dc2',
      'k0s-2-dc2',
      'k0s-3-dc2',
    ]);

    const again = succeeded(await alice.bootstrap(name, flags()));
    expect(again.instances.every(({ attempt }) => attempt <= 1)).to.equal(true);
  });
});
