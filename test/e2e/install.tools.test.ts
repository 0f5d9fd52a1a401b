/** A bootstrap with an install: Kubernetes on its nodes, the sample package on the platform, over SSH on embedded machines. */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runPlinth } from '../../local/demo/plinth-process.js';
import { type MadePackage, makePackage } from '../../local/packages/make-package.js';
import { publishPackage } from '../../local/stack/publish-package.js';
import { type Caller, makeScene, type Scene, succeeded } from '../support/scene.js';

describe('a bootstrap with an install', function () {
  this.timeout(240_000);
  let scene: Scene;
  let alice: Caller;
  let folder: string;
  let made: MadePackage;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'plinth-package-'));
    made = await makePackage(folder);
    scene = await makeScene({ machines: 'embedded' });
    await publishPackage(scene.cloud, made);
    alice = await scene.caller();
  });
  after(async () => {
    await scene?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('installs the newest build of a version, and a resume leaves it as it is', async () => {
    const wanted = {
      'install-version': made.version,
      'create-test-user': true,
      'cluster-admin-email': 'Ada@Example.com',
    } as const;
    const outcome = await alice.bootstrap('installs', wanted);
    const view = succeeded(outcome);
    const states = Object.fromEntries(view.instances.map(({ id, state }) => [id, state]));
    expect(states).to.include({ package: 'done', 'k0s-ready:dc1': 'done', 'install:dc1': 'done', 'test-user': 'done' });

    expect(states).to.include({ 'cluster-admin-email:dc1': 'done', 'load-balancers:dc1': 'done' });
    const services = ['gateway', 'public-gateway', 'ssh-proxy'].map((name) => `plinth-sample/${name}`);
    expect(view.result.addresses.map(({ service }) => service)).to.deep.equal(services);

    const { token, url, path } = outcome.result['testUser'] as { token: string; url: string; path: string };
    expect(statSync(path).mode & 0o777).to.equal(0o600);
    const asked = async (secret: string): Promise<string> => {
      const curl = `curl --silent --output /dev/null --write-out '%{http_code}' --header 'Authorization: Bearer ${secret}' ${url}`;
      const args = ['beta', 'bootstrap-cloud', 'ssh', 'installs', 'jumpbox', '--', curl];
      return (await runPlinth(args, alice)).stdout;
    };
    expect([await asked(token), await asked(`${token}x`)]).to.deep.equal(['200', '401']);
    const left = JSON.stringify([
      scene.stack.logs,
      await scene.stack.functionsHalf?.store.query({ collection: 'logs' }),
    ]);
    expect(left).not.to.include(token);

    const again = await alice.bootstrap('installs', wanted);
    succeeded(again);
    expect(again.result).not.to.have.property('testUser');
  });

  it('is refused before anything is made when there is no such version, naming what there is', async () => {
    const since = scene.cloud.calls.last();
    const refused = await alice.bootstrap('no-version', { 'install-version': '9.9.9' });
    expect(refused.exitCode).to.equal(2);
    expect(`${refused.result.problem?.detail} ${refused.result.problem?.advice}`)
      .to.include('--install-version')
      .and.include(`${made.version} (${made.hash})`);
    expect(scene.cloud.calls.list({ since, method: 'cloudresourcemanager.projects.create' })).to.deep.equal([]);
  });
});
