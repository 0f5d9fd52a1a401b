/** A bootstrap whose images lie in a registry on the jumpbox: docker-registry and skopeo for real, on embedded machines. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { extract } from 'tar';
import { startPlinth } from '../../local/demo/plinth-process.js';
import { forge1Pat } from '../../local/forge1/forge1.js';
import { type MadePackage, makePackage } from '../../local/packages/make-package.js';
import { publishPackage } from '../../local/stack/publish-package.js';
import { findSecret } from '../../shared/install-config/secrets.js';
import { readPackageManifest } from '../../shared/package/manifest.js';
import { type Caller, makeScene, type Scene, succeeded } from '../support/scene.js';

describe('a bootstrap with a registry on the jumpbox', function () {
  this.timeout(300_000);
  let scene: Scene;
  let alice: Caller;
  let folder: string;
  let made: MadePackage;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'plinth-package-'));
    made = await makePackage(folder);
    await extract({ file: made.lite.path, cwd: folder }, ['package.json']);
    scene = await makeScene({ machines: 'embedded' });
    await publishPackage(scene.cloud, made);
    alice = await scene.caller();
  });
  after(async () => {
    await scene?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const on = async (host: string, ...commands: string[]): Promise<string[]> => {
    const args = ['beta', 'bootstrap-cloud', 'ssh', 'walled', host, '--', commands.join('; ')];
    const ran = await startPlinth(args, alice).ended;
    expect(ran.exitCode, ran.stderr).to.equal(0);
    return ran.stdout.trim().split(/\s+/);
  };
  const writes = "sudo grep -cE '\"(PUT|POST|PATCH) ' /var/log/platform-registry.service.log";

  it('installs airgapped from it, keeps its data, and brings back what is lost', async () => {
    const flags = {
      'install-version': made.version,
      airgapped: true,
      'forge1-pat': forge1Pat,
    } as const;
    const view = succeeded(await alice.bootstrap('walled', flags));
    const states = Object.fromEntries(view.instances.map(({ id, state }) => [id, state]));
    expect(states).to.include({ registry: 'done', 'registry-trust:ceph-3': 'done', images: 'done' });

    const { images } = readPackageManifest(readFileSync(join(folder, 'package.json'), 'utf8'));
    const url = `https://${alice.config().registry.server}/v2/`;
    const secrets = await alice.secrets();
    const word = (name: string) => findSecret(secrets, name)?.fields?.password ?? '';
    const user = `--user ${word('registryUsername')}:${word('registryPassword')}`;
    const status = "--output /dev/null --write-out '%{http_code}\\n'";
    const digest = `--head -H 'Accept: application/vnd.oci.image.manifest.v1+json'`;
    const found = "| tr -d '\\r' | sed -n 's/^docker-content-digest: //Ip'";
    /** As a node asks: by the system's authorities. */
    const seen = () =>
      on(
        'k0s-2',
        ...[`curl -s ${status} ${url}`, `curl -s ${status} ${user} ${url}`],
        ...images.map(({ name, tag }) => `curl -s ${user} ${digest} ${url}${name}/manifests/${tag} ${found}`),
      );
    const wanted = ['401', '200', ...images.map((image) => image.digest)];
    expect(await seen()).to.deep.equal(wanted);

    const { server } = alice.config().registry;
    const running = await on('k0s-1', 'k0s kubectl get deployments --namespace plinth-sample --output json');
    expect([...running.join('').matchAll(/"image":"?([^"]+)"/g)].map(([, image]) => image).sort()).to.deep.equal(
      images.map(({ name, tag, digest }) => `${server}/${name}:${tag}@${digest}`),
    );

    const lose = 'sudo rm /etc/platform/registry/tls.key; sudo systemctl restart platform-registry || true';
    const [before] = await on('jumpbox', writes, lose);
    await on('k0s-2', 'sudo rm /usr/local/share/ca-certificates/platform-registry.crt');
    succeeded(await alice.bootstrap('walled', flags));
    expect(await seen()).to.deep.equal(wanted);
    const left = await on('jumpbox', writes, 'sudo find /run/plinth -name auth.json', 'echo');
    expect(left, 'nothing is copied again, no login is left').to.deep.equal([before]);
  });
});
