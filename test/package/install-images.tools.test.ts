/** `plinth install images`, with skopeo and the distribution's docker-registry: out of a package, from another registry, and what is there already. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type MadePackage, makePackage } from '../../local/packages/make-package.js';
import { writeInstallConfig } from '../../shared/install-config/config.js';
import { createSandbox, type Ran, type Sandbox } from '../cli/run-cli.js';
import { type DatacenterFiles, keysAtHand, makeBootstrap } from '../install-config/made-bootstrap.js';
import { type DockerRegistry, startDockerRegistry } from '../support/docker-registry.js';

interface Report {
  readonly images: readonly { readonly name: string; readonly tag: string; readonly digest: string }[];
  readonly copied: number;
  readonly problem?: { readonly code: string; readonly detail: string };
}

describe('plinth install images', function () {
  this.timeout(240_000);
  let sandbox: Sandbox;
  let made: MadePackage;
  let files: DatacenterFiles;
  let registry: DockerRegistry;

  before(async function () {
    await keysAtHand.call(this);
    sandbox = createSandbox();
    made = await makePackage(sandbox.folder);
    const bootstrap = makeBootstrap({ options: { registryType: 'local-container' } });
    files = (await bootstrap.go())['dc1'] as DatacenterFiles;
    sandbox.write('prod.vault.yaml', files.secretsText);
    sandbox.write('age_key.txt', `${await bootstrap.identity()}\n`);
    sandbox.env['XDG_RUNTIME_DIR'] = sandbox.path('runtime');
  });
  beforeEach(async () => {
    registry = await startDockerRegistry(secret('registryUsername'), secret('registryPassword'));
    use(registry.server);
  });
  afterEach(() => registry?.close());
  after(() => sandbox?.remove());

  const secret = (name: string): string => files.value(name) ?? '';
  const use = (server: string) =>
    sandbox.write(
      'config.yaml',
      writeInstallConfig({ ...files.config, registry: { ...files.config.registry, server } }),
    );
  const bring = (archive: string, ...more: string[]) =>
    sandbox.run(['install', 'images', '--json', '--state-dir', 'state', '--package', archive, ...more]);
  const eventsOf = ({ stdout }: Ran): Record<string, unknown>[] =>
    stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Record<string, unknown>]));
  const reportOf = (ran: Ran): Report => {
    expect(ran.stdout + ran.stderr).not.to.include(secret('registryPassword'));
    return eventsOf(ran).at(-1) as unknown as Report;
  };
  /** As a node asks, by tag. */
  const digestAt = async ({ server, user, password }: DockerRegistry, name: string, tag: string) => {
    const reply = await fetch(`http://${server}/v2/${name}/manifests/${tag}`, {
      headers: {
        authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
        accept: 'application/vnd.oci.image.manifest.v1+json',
      },
    });
    return reply.headers.get('docker-content-digest');
  };
  const expectAll = async ({ images }: Report) => {
    expect(images.length).to.be.at.least(2);
    for (const { name, tag, digest } of images) expect(await digestAt(registry, name, tag), name).to.equal(digest);
  };

  it('copies what the package has, tells how far it is, and copies nothing twice', async () => {
    const ran = await bring(made.full.path);
    expect(ran.code, ran.stderr).to.equal(0);
    const report = reportOf(ran);
    await expectAll(report);
    const { length: total } = report.images;
    const told = eventsOf(ran).filter(({ type }) => type === 'images') as {
      done: number;
      bytes: number;
      totalBytes: number;
    }[];
    expect(told.map(({ done }) => done)).to.deep.equal([...Array(total + 1).keys()]);
    expect(told.at(0)?.bytes).to.equal(0);
    expect(told.at(-1)?.bytes).to.equal(told.at(-1)?.totalBytes).and.to.be.above(0);

    const since = (await registry.writes()).length;
    const again = await bring(made.full.path);
    expect([again.code, reportOf(again).copied]).to.deep.equal([0, 0]);
    expect((await registry.writes()).slice(since)).to.deep.equal([]);
  });

  it('copies only what is missing, and only looks with --dry-run', async () => {
    const looked = await bring(made.full.path, '--dry-run');
    expect([looked.code, reportOf(looked).problem?.code]).to.deep.equal([4, 'not-found']);
    expect(await registry.writes()).to.deep.equal([]);

    await bring(made.full.path);
    const { images } = reportOf(await bring(made.full.path, '--dry-run'));
    const [first] = images;
    // Another image under the tag of the first: what counts is the digest.
    const other = `http://${registry.server}/v2/${first?.name}/manifests/${first?.tag}`;
    const authorization = `Basic ${Buffer.from(`${registry.user}:${registry.password}`).toString('base64')}`;
    const type = 'application/vnd.oci.image.index.v1+json';
    const index = { schemaVersion: 2, mediaType: type, manifests: [] };
    const put = await fetch(other, {
      method: 'PUT',
      headers: { authorization, 'content-type': type },
      body: JSON.stringify(index),
    });
    expect(put.status).to.equal(201);
    const mended = await bring(made.full.path);
    expect([mended.code, reportOf(mended).copied]).to.deep.equal([0, 1]);
    await expectAll(reportOf(mended));
  });

  it('mirrors what the package lacks from another registry, by the login that skopeo has for it', async () => {
    const other = await startDockerRegistry(registry.user, registry.password);
    try {
      const lacking = await bring(made.lite.path);
      expect(reportOf(lacking).problem?.detail).to.include('is not in this package');

      const from = ['--from', `http://${other.server}`];
      const auth = Buffer.from(`${other.user}:${other.password}`).toString('base64');
      const runtime = join(sandbox.path('runtime'), 'containers');
      mkdirSync(runtime, { recursive: true });
      const login = (server: string) =>
        writeFileSync(join(runtime, 'auth.json'), JSON.stringify({ auths: { [server]: { auth } } }));
      login('127.0.0.1:1');
      expect((await bring(made.lite.path, ...from)).code, 'without a login').to.equal(7);
      login(other.server);
      expect((await bring(made.lite.path, ...from)).code, 'without images there').to.equal(7);
      use(other.server);
      expect((await bring(made.full.path)).code).to.equal(0);
      use(registry.server);
      const ran = await bring(made.lite.path, ...from);
      expect(ran.code, ran.stderr).to.equal(0);
      await expectAll(reportOf(ran));
    } finally {
      await other.close();
    }
  });
});
