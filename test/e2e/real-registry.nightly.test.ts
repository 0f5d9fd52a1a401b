/**
 * Where nodes get their images from, on real hosts: Debian's registry on the jumpbox under systemd, skopeo on the nodes, which
 * trust it as their system does; with the way to the outside shut by the cloud's firewall, and over a restart of all of it.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { extract } from 'tar';
import type { Store } from '../../functions/store/store.js';
import { startPlinth } from '../../local/demo/plinth-process.js';
import { forge1Pat } from '../../local/forge1/forge1.js';
import { makePackage } from '../../local/packages/make-package.js';
import { publishPackage } from '../../local/stack/publish-package.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { findSecret } from '../../shared/install-config/secrets.js';
import { collections } from '../../shared/names.js';
import { type PackageManifest, readPackageManifest } from '../../shared/package/manifest.js';
import { makeBase } from '../real-hosts/base.js';
import { realHosts } from '../real-hosts/index.js';
import { needMachines } from '../support/machines.js';
import { type Caller, type Flags, makeScene, type Scene, succeeded } from '../support/scene.js';

const nodes = ['k0s-1', 'k0s-2', 'k0s-3'];
/** Waits in a shell for a registry that starts with its machine. It lets in nobody without a password, and is trusted as it is. */
const awaitRegistry = (server: string): string =>
  `for i in $(seq 300); do [ "$(curl -s -o /dev/null -m 5 -w '%{http_code}' https://${server}/v2/)" = 401 ] && break; sleep 0.2; done; [ "$i" -lt 300 ]`;

describe('the images of a package on real hosts', function () {
  this.timeout(600_000);
  let scene: Scene;
  let folder: string;
  let version: string;
  let images: PackageManifest['images'];

  before(async () => {
    needMachines(realHosts);
    await makeBase((note) => void process.stderr.write(`${note}\n`));
    folder = mkdtempSync(join(tmpdir(), 'plinth-package-'));
    const sample = await makePackage(folder);
    ({ version } = sample);
    await extract({ file: sample.full.path, cwd: folder }, ['package.json']);
    ({ images } = readPackageManifest(readFileSync(join(folder, 'package.json'), 'utf8')));
    scene = await makeScene({ machines: realHosts, wrapStore: shuttingEgress });
    await publishPackage(scene.cloud, sample);
  });
  after(async () => {
    await scene?.close();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });

  afterEach(function () {
    if (this.currentTest?.isFailed()) process.stderr.write(`${scene?.stack.notes.join('\n')}\n`);
  });

  /** Names of bootstraps whose machines may no longer leave their subnet once all but the install is there. */
  const toBeShut = new Set<string>();
  const shut = new Set<string>();
  /** The lease of the install is written when all that it needs is done: before that, the way out is shut. */
  function shuttingEgress(store: Store): Store {
    return {
      ...store,
      async commit(writes) {
        for (const { collection, id } of writes) {
          if (collection !== collections.leases || !id.endsWith('~install:dc1')) continue;
          const { data } = (await store.get(collections.bootstraps, id.slice(0, id.indexOf('~')))) ?? {};
          const { name, projectId } = (data ?? {}) as { name?: string; projectId?: string };
          if (name === undefined || projectId === undefined || !toBeShut.has(name) || shut.has(name)) continue;
          shut.add(name);
          await shutEgress(projectId);
        }
        return store.commit(writes);
      },
    };
  }

  const asAdmin = async (method: string, url: string, body?: object): Promise<void> => {
    const { accessToken } = await scene.stack.tokens('admin@example.com');
    const headers = { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' };
    const reply = await fetch(url, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    expect(reply.status, await reply.text()).to.equal(200);
  };
  async function shutEgress(projectId: string): Promise<void> {
    const rules = `${scene.cloud.endpoints.compute}/compute/v1/projects/${projectId}/global/firewalls`;
    const rule = { network: `global/networks/${projectId}-vpc`, direction: 'EGRESS' };
    const all = [{ IPProtocol: 'all' }];
    // Google's own services are reached privately: the cloud controller asks Compute.
    const google = [{ IPProtocol: 'tcp', ports: [new URL(scene.cloud.endpoints.compute).port] }];
    const wanted = [
      { ...rule, name: 'stay-inside', priority: 800, allowed: all, destinationRanges: ['10.10.0.0/20'] },
      { ...rule, name: 'google-alone', priority: 800, allowed: google, destinationRanges: ['0.0.0.0/0'] },
      { ...rule, name: 'nowhere-else', priority: 900, denied: all, destinationRanges: ['0.0.0.0/0'] },
    ];
    for (const one of wanted) await asAdmin('POST', rules, one);
  }

  /** What a command says on a machine, as root, by the caller's own SSH. */
  async function said(alice: Caller, name: string, host: string, command: string): Promise<string> {
    const quoted = `'${command.replaceAll("'", "'\\''")}'`;
    const words = host === 'jumpbox' ? ['sudo', 'bash', '-c', quoted] : ['bash', '-c', quoted];
    const args = ['beta', 'bootstrap-cloud', 'ssh', name, host, '--', ...words];
    const { exitCode, stdout, stderr } = await startPlinth(args, alice).ended;
    expect(exitCode, `${command}\n${stdout}\n${stderr}`).to.equal(0);
    return stdout.trim();
  }

  async function bootstrapped(alice: Caller, name: string, flags: Flags): Promise<BootstrapView> {
    // No PostgreSQL is needed here: the sample then keeps its tables in a file.
    const view = succeeded(
      await alice.bootstrap(name, { 'install-version': version, 'install-skip-steps': ['postgres'], ...flags }),
    );
    const states = Object.fromEntries(view.instances.map(({ id, state }) => [id, state]));
    expect(states).to.include({ images: 'done', 'install:dc1': 'done' });
    expect(scene.stack.notes).to.deep.equal([]);
    return view;
  }

  /** Shell lines by which a node may come in to a registry, and what skopeo is told besides. */
  interface Way {
    readonly login: readonly string[];
    readonly flags?: string;
  }
  async function byPassword(alice: Caller): Promise<Way> {
    const { server } = alice.config().registry;
    const secrets = await alice.secrets();
    const [user, password] = ['registryUsername', 'registryPassword'].map(
      (field) => findSecret(secrets, field)?.fields?.password,
    );
    const auths = JSON.stringify({ auths: { [server]: { auth: btoa(`${user}:${password}`) } } });
    return { login: [awaitRegistry(server), `echo '${auths}' > auth.json`] };
  }
  /** As the account that the node carries. What stands for Google's registry speaks plain HTTP. */
  function byAccount(alice: Caller): Way {
    const [host] = alice.config().registry.server.split('/');
    const url = 'http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token';
    const login = [
      `token=$(curl -sf -m 20 -H 'Metadata-Flavor: Google' ${url} | jq -r .access_token)`,
      'auth=$(printf "oauth2accesstoken:%s" "$token" | base64 -w 0)',
      `printf '{ "auths": { "${host}": { "auth": "%s" } } }' "$auth" > auth.json`,
    ];
    return { login, flags: '--src-tls-verify=false' };
  }

  /** Nodes get every image by its digest; returns what each says of the outside. */
  async function pulls(alice: Caller, name: string, { login, flags = '' }: Way, pullers = nodes): Promise<string[]> {
    const { server } = alice.config().registry;
    const script = [
      'set -eu; umask 077; cd "$(mktemp -d)"',
      ...login,
      ...images.flatMap(({ name: image, digest }, index) => [
        `skopeo copy --quiet --authfile auth.json ${flags} docker://${server}/${image}@${digest} oci:image-${index}`,
        `grep -Eo 'sha256:[0-9a-f]{64}' image-${index}/index.json`,
      ]),
      `curl -s -o /dev/null -m 2 -w '%{http_code}\\n' ${scene.cloud.frontUrl}/ || true`,
    ].join('\n');
    const all = await Promise.all(pullers.map((node) => said(alice, name, node, script)));
    return all.map((text) => {
      const lines = text.split('\n');
      expect(lines.slice(0, -1)).to.deep.equal(images.map(({ digest }) => digest));
      return lines.at(-1) ?? '';
    });
  }

  /** Makes room for the next ones. */
  const remove = async (view: BootstrapView | undefined): Promise<void> => {
    if (view === undefined) return;
    await asAdmin('DELETE', `${scene.cloud.endpoints.cloudresourcemanager}/v3/projects/${view.projectId}`);
    await scene.stack.cloudHalf?.machines?.settle();
  };

  describe('that is installed airgapped', () => {
    const name = 'airgapped';
    let alice: Caller;
    let view: BootstrapView | undefined;
    before(async () => {
      alice = await scene.caller();
      toBeShut.add(name);
    });
    after(() => remove(view));

    it('come out of it to every node, and the platform is installed, with no way to the outside', async () => {
      // The token is asked for with every registry on the jumpbox; nothing is fetched with it.
      view = await bootstrapped(alice, name, { airgapped: true, 'forge1-pat': forge1Pat });
      expect([...shut]).to.deep.equal([name]);
      expect(scene.stack.cloudHalf?.forge1Registry.served).to.deep.equal([]);
      expect(await pulls(alice, name, await byPassword(alice))).to.deep.equal(nodes.map(() => '000'));
    });

    it('are there again, and trusted, when the registry and its machine were started anew', async () => {
      await said(alice, name, 'jumpbox', 'systemctl restart platform-registry.service');
      expect(await pulls(alice, name, await byPassword(alice), ['k0s-1'])).to.deep.equal(['000']);
      const jumpbox = `compute/v1/projects/${view?.projectId}/zones/${view?.zone}/instances/jumpbox`;
      await asAdmin('POST', `${scene.cloud.endpoints.compute}/${jumpbox}/stop`);
      const restarted = await startPlinth(['beta', 'bootstrap-cloud', 'restart-vms', name], alice).ended;
      expect(restarted.exitCode, restarted.stderr).to.equal(0);
      expect(await pulls(alice, name, await byPassword(alice))).to.deep.equal(nodes.map(() => '000'));
    });
  });

  describe("that are mirrored from forge1's registry", () => {
    const name = 'mirrored';
    let view: BootstrapView | undefined;
    after(() => remove(view));

    it('come to every node from the jumpbox, each layer once from forge1', async () => {
      const alice = await scene.caller();
      const flags = { 'registry-type': 'local-container', 'registry-user': 'somebody', 'forge1-pat': forge1Pat };
      view = await bootstrapped(alice, name, flags);
      const served = scene.stack.cloudHalf?.forge1Registry.served.filter(({ what }) => what === 'blobs') ?? [];
      expect(new Set(served.map(({ image }) => image))).to.deep.equal(new Set(images.map(({ name: image }) => image)));
      expect(served.map(({ reference }) => reference)).to.have.length(
        new Set(served.map(({ reference }) => reference)).size,
      );
      expect(await pulls(alice, name, await byPassword(alice))).to.deep.equal(nodes.map(() => '404'));
    });
  });

  describe('that are pushed to Artifact Registry', () => {
    const name = 'pushed';
    let view: BootstrapView | undefined;
    after(() => remove(view));

    it('come to it by the account of the jumpbox, and to every node by its own', async () => {
      const alice = await scene.caller();
      const { forge1Registry } = scene.stack.cloudHalf ?? {};
      const since = forge1Registry?.served.length;
      view = await bootstrapped(alice, name, { 'registry-type': 'artifact-registry' });
      expect(await pulls(alice, name, byAccount(alice))).to.deep.equal(nodes.map(() => '404'));
      expect(forge1Registry?.served).to.have.length(since ?? 0);
    });
  });
});
