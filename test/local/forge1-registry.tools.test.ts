/** What stands for forge1's registry: who gets in, what it holds. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { extract } from 'tar';
import { createSimulatedCloud, type SimulatedCloud } from '../../local/cloud/index.js';
import { type Forge1, forge1Pat, startForge1 } from '../../local/forge1/forge1.js';
import { type Forge1Registry, startForge1Registry } from '../../local/forge1/registry.js';
import { makePackage } from '../../local/packages/make-package.js';
import { initialState, local } from '../../local/stack/deployment.js';
import { publishPackage } from '../../local/stack/publish-package.js';
import { type PackageManifest, readPackageManifest } from '../../shared/package/manifest.js';
import { makeSkopeo, type Skopeo } from '../support/skopeo.js';

describe("what stands for forge1's registry", function () {
  this.timeout(240_000);
  let folder: string;
  let cloud: SimulatedCloud;
  let forge1: Forge1;
  let registry: Forge1Registry;
  let skopeo: Skopeo;
  let images: PackageManifest['images'];

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'plinth-forge1-registry-'));
    skopeo = makeSkopeo();
    cloud = await createSimulatedCloud({ initial: initialState() });
    forge1 = await startForge1();
    registry = await startForge1Registry(cloud.world, forge1, local.packagesBucket);
    const made = await makePackage(folder);
    await extract({ file: made.full.path, cwd: folder }, ['package.json']);
    images = readPackageManifest(readFileSync(join(folder, 'package.json'), 'utf8')).images;
    expect(await ask(`GET ${pathOf(0)}`, basic(forge1Pat))).to.equal('404 MANIFEST_UNKNOWN');
    await publishPackage(cloud, made);
  });
  after(async () => {
    await registry?.close();
    await forge1?.close();
    await cloud?.close();
    skopeo?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  const host = (): string => `127.0.0.1:${registry.port}`;
  const pathOf = (index: number): string => `${images[index]?.name}/manifests/${images[index]?.digest}`;
  const basic = (token: string, user = 'somebody'): string => `Basic ${btoa(`${user}:${token}`)}`;
  async function ask(line: string, authorization?: string): Promise<string> {
    const [method = '', path = ''] = line.split(' ');
    const headers = authorization === undefined ? {} : { authorization };
    const reply = await fetch(`http://${host()}/v2/${path}`, { method, headers });
    const { errors } = (await reply.json().catch(() => ({}))) as { errors?: { code: string }[] };
    return [reply.status, ...(errors ?? []).map(({ code }) => code)].join(' ');
  }

  it('gives every image of the packages that are released, by digest and tag, and counts what it gave', async () => {
    const login = { host: host(), user: 'somebody', password: forge1Pat };
    const since = registry.served.length;
    for (const { name, digest, tag } of images) {
      const to = join(skopeo.folder, name.replace('/', '-'));
      const from = `docker://${host()}/${name}@${digest}`;
      const copied = await skopeo.run(login, 'copy', '--src-tls-verify=false', from, `oci:${to}:${tag}`);
      expect(copied.code, copied.stderr).to.equal(0);
    }
    const given = registry.served.slice(since).filter(({ what }) => what === 'manifests');
    expect(given.map(({ image, reference }) => `${image}@${reference}`)).to.deep.equal(
      images.map(({ name, digest }) => `${name}@${digest}`),
    );
    const tags = await skopeo.run(login, 'list-tags', '--tls-verify=false', `docker://${host()}/${images[0]?.name}`);
    expect(JSON.parse(tags.stdout)).to.deep.include({ Tags: [images[0]?.tag] });
  });

  it('lets in nobody but who has a token that may read packages', async () => {
    const wrong = { host: host(), user: 'somebody', password: 'wrong' };
    const from = `docker://${host()}/${images[0]?.name}:${images[0]?.tag}`;
    for (const login of [undefined, wrong]) {
      const { code, stderr } = await skopeo.run(login, 'inspect', '--tls-verify=false', from);
      expect(code).to.not.equal(0);
      expect(stderr).to.match(/unauthorized|authentication required/);
    }
    forge1.world.tokens['reads-no-packages'] = ['read:org'];
    const answers = [
      await ask(`GET ${pathOf(0)}`),
      await ask(`GET ${pathOf(0)}`, basic('wrong')),
      await ask(`GET ${pathOf(0)}`, basic(forge1Pat, '')),
      await ask(`GET ${pathOf(0)}`, basic('reads-no-packages')),
      await ask(`GET ${pathOf(0)}`, `Bearer ${btoa(forge1Pat)}`),
      await ask(`GET ${pathOf(0)}`, basic(forge1Pat)),
    ];
    expect(answers).to.deep.equal([
      '401 UNAUTHORIZED',
      '401 UNAUTHORIZED',
      '401 UNAUTHORIZED',
      '403 DENIED',
      '200',
      '200',
    ]);
  });

  it('takes nothing', async () => {
    expect(await ask(`POST ${images[0]?.name}/blobs/uploads/`, basic(forge1Pat))).to.equal('403 DENIED');
  });
});
