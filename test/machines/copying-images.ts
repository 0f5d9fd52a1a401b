/** What whoever copies images to a registry on the jumpbox relies on, for any two of the programs: the distribution's, and what stands for them. */
import { appendFileSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { extract } from 'tar';
import { createSimulatedCloud } from '../../local/cloud/index.js';
import { forge1Pat, startForge1 } from '../../local/forge1/forge1.js';
import { startForge1Registry } from '../../local/forge1/registry.js';
import { createOutbound } from '../../local/machines/network/outbound.js';
import { outsideNames } from '../../local/machines/network/outside-names.js';
import { makePackage } from '../../local/packages/make-package.js';
import { writeImage } from '../../local/packages/oci-image.js';
import { initialState, local } from '../../local/stack/deployment.js';
import { publishPackage } from '../../local/stack/publish-package.js';
import { readPackageManifest } from '../../shared/package/manifest.js';
import { sha256 } from '../../shared/sha256.js';
import {
  type Lab,
  makeLab,
  type Program,
  type Ran,
  type RunningRegistry,
  registryName,
  run,
  type standIns,
  startRegistry,
} from './registry-programs.js';

type RegistryPrograms = Pick<typeof standIns, 'dockerRegistry' | 'htpasswd'>;

const indexType = 'application/vnd.oci.image.index.v1+json';

/** An image of one layer, as a layout with the tag 1.0; its digest. */
export function makeImage(folder: string, content = 'first'): Promise<string> {
  const layer = `${folder}-${content}`;
  mkdirSync(layer);
  writeFileSync(join(layer, 'file'), `${content}\n`);
  return writeImage(folder, { tag: '1.0', layers: [layer], labels: { content } });
}

/** One of two architectures; its digest. */
async function makeIndex(folder: string): Promise<string> {
  const digests = [await makeImage(folder, 'amd64'), await makeImage(folder, 'arm64')];
  const blobs = join(folder, 'blobs', 'sha256');
  const manifests = digests.map((digest, index) => ({
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    digest,
    size: readFileSync(join(blobs, digest.slice(7))).length,
    platform: { os: 'linux', architecture: ['amd64', 'arm64'][index] },
  }));
  const content = JSON.stringify({ schemaVersion: 2, mediaType: indexType, manifests });
  const digest = sha256(content);
  writeFileSync(join(blobs, digest), content);
  const annotations = { 'org.opencontainers.image.ref.name': '1.0' };
  const named = { mediaType: indexType, digest: `sha256:${digest}`, size: content.length, annotations };
  writeFileSync(join(folder, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests: [named] }));
  return `sha256:${digest}`;
}

/** A machine's way out, that leads to this computer and knows the hosts that were asked for. */
function startProxy() {
  const hosts = new Set<string>();
  const outbound = createOutbound((host, port) => {
    hosts.add(host);
    return Promise.resolve({ kind: 'open', stream: connect(port, '127.0.0.1') });
  });
  const server = createServer((socket) => outbound.take(socket)).listen(0, '127.0.0.1');
  return {
    hosts,
    url: () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close(): void {
      server.close();
      outbound.close();
    },
  };
}

/** What the sample package has, at what stands for forge1's registry. */
async function startForge1WithPackage(folder: string) {
  const cloud = await createSimulatedCloud({ initial: initialState() });
  const forge1 = await startForge1();
  const { port, close } = await startForge1Registry(cloud.world, forge1, local.packagesBucket);
  const made = await makePackage(folder);
  await publishPackage(cloud, made);
  await extract({ file: made.lite.path, cwd: folder }, ['package.json']);
  return {
    host: `${outsideNames.forge1Registry}:${port}`,
    images: readPackageManifest(readFileSync(join(folder, 'package.json'), 'utf8')).images,
    async close() {
      await close();
      await forge1.close();
      await cloud.close();
    },
  };
}

export function copiesImages(skopeo: Program, programs: RegistryPrograms): void {
  let lab: Lab;
  let registry: RunningRegistry;
  let digest: string;
  before(async () => {
    lab = await makeLab();
    registry = await lab.registry(programs);
    digest = await makeImage(join(lab.folder, 'image'));
  });
  after(() => lab?.remove());

  const copy = (from: string, to: string, logins: string, ...more: string[]): Promise<Ran> =>
    run(skopeo, [
      ...['--insecure-policy', 'copy', '--all', '--quiet', '--retry-times', '3'],
      ...[`--src-authfile=${logins}`, `--dest-authfile=${logins}`],
      ...[`--src-cert-dir=${lab.certificates}`, `--dest-cert-dir=${lab.certificates}`, ...more, from, to],
    ]);
  const raw = (image: string, logins: string): Promise<Ran> =>
    run(skopeo, [
      ...['--insecure-policy', 'inspect', '--raw', `--authfile=${logins}`, `--cert-dir=${lab.certificates}`, image],
    ]);
  const layout = (name: string): string => `oci:${join(lab.folder, name)}:1.0`;
  const push = (name: string, to = name) =>
    copy(layout(name), `docker://${registry.server}/sample/${to}:1.0`, lab.logins([registry.server]));
  const mustDo = ({ code, stderr }: Ran): void => void expect([code, stderr]).to.deep.equal([0, '']);
  const mustFail = ({ code, stderr }: Ran, saying: RegExp): void => {
    expect(code).to.equal(1);
    expect(stderr)
      .to.match(/level=fatal msg="/)
      .and.to.match(saying);
  };

  it('out of a layout to a registry and on to another, the same by digest', async () => {
    mustDo(await push('image'));
    const other = await lab.registry(programs);
    const logins = lab.logins([registry.server, other.server]);
    const to = `docker://${other.server}/mirror/image`;
    mustDo(await copy(`docker://${registry.server}/sample/image@${digest}`, `${to}:1.0`, logins));
    for (const image of [`${to}:1.0`, `${to}@${digest}`]) {
      const read = await raw(image, logins);
      mustDo(read);
      expect(`sha256:${sha256(read.stdout)}`).to.equal(digest);
    }
  });

  it('sends nothing twice but the manifest', async () => {
    mustDo(await push('image', 'again'));
    const since = (await registry.writes()).length;
    mustDo(await push('image', 'again'));
    expect((await registry.writes()).slice(since)).to.deep.equal(['PUT /v2/sample/again/manifests/1.0']);
  });

  it('with all architectures', async () => {
    const index = await makeIndex(join(lab.folder, 'many'));
    mustDo(await push('many'));
    const logins = lab.logins([registry.server]);
    const read = await raw(`docker://${registry.server}/sample/many:1.0`, logins);
    expect(`sha256:${sha256(read.stdout)}`).to.equal(index);
    const { manifests } = JSON.parse(read.stdout) as { manifests: { digest: string }[] };
    for (const each of manifests) mustDo(await raw(`docker://${registry.server}/sample/many@${each.digest}`, logins));
  });

  it('for nobody without the password, and for nobody who does not know the authority', async () => {
    mustDo(await push('image', 'shut'));
    const image = `docker://${registry.server}/sample/shut:1.0`;
    const wrong = lab.logins([registry.server], { [registry.server]: 'wrong' });
    mustFail(await raw(image, lab.logins([])), /unauthorized/);
    mustFail(await raw(image, wrong), /unauthorized/);
    mustFail(await copy(layout('image'), image, wrong), /unauthorized/);
    const strange = join(lab.folder, 'no-authority');
    const logins = lab.logins([registry.server]);
    mustFail(await run(skopeo, ['inspect', '--raw', `--cert-dir=${strange}`, `--authfile=${logins}`, image]), /x509/);
    mustDo(await run(skopeo, ['inspect', '--raw', '--tls-verify=false', `--authfile=${logins}`, image]));
  });

  it('to a registry that is not there yet, when it is', async () => {
    const { server, folder, kill } = await lab.registry(programs);
    await kill();
    const copied = copy(layout('image'), `docker://${server}/sample/late:1.0`, lab.logins([server]));
    // It asks at once, and again after 1, 2 and 4 seconds.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const late = await startRegistry(programs.dockerRegistry, server, folder);
    const { code, stderr } = await copied;
    await late.kill();
    expect(code, stderr).to.equal(0);
    expect(stderr).to.match(/level=warning msg="Failed, retrying in [12]s \.\.\. \(\d\/3\)/);
  });

  it('by the login that is found where none is named', async () => {
    mustDo(await push('image', 'known'));
    const folder = join(lab.folder, 'runtime', 'containers');
    mkdirSync(folder, { recursive: true });
    cpSync(lab.logins([registry.server]), join(folder, 'auth.json'));
    const image = `docker://${registry.server}/sample/known:1.0`;
    const env = { XDG_RUNTIME_DIR: join(lab.folder, 'runtime') };
    mustDo(await run(skopeo, ['inspect', '--raw', `--cert-dir=${lab.certificates}`, image], { env }));
    mustFail(await run(skopeo, ['inspect', '--raw', `--cert-dir=${lab.certificates}`, image]), /unauthorized/);
  });

  it("from forge1's registry, which asks for a token, through the machine's proxy, with the system's authorities", async () => {
    const [proxy, forge1] = [startProxy(), await startForge1WithPackage(lab.folder)];
    try {
      const here = `${registryName}:${registry.server.split(':')[1]}`;
      const logins = lab.logins([here, forge1.host], { [forge1.host]: forge1Pat });
      const env = {
        HTTP_PROXY: proxy.url(),
        HTTPS_PROXY: proxy.url(),
        SSL_CERT_FILE: join(lab.certificates, 'ca.crt'),
      };
      const mirror = (name: string, tag: string, of: string, authFile: string): Promise<Ran> => {
        const places = [`docker://${forge1.host}/${name}@${of}`, `docker://${here}/${name}:${tag}`];
        const options = [`--authfile=${authFile}`, '--src-tls-verify=false'];
        return run(skopeo, ['--insecure-policy', 'copy', '--all', '--quiet', ...options, ...places], { env });
      };
      for (const { name, tag, digest: wanted } of forge1.images) {
        mustDo(await mirror(name, tag, wanted, logins));
        const read = await run(
          skopeo,
          ['inspect', '--raw', `--authfile=${logins}`, `docker://${here}/${name}:${tag}`],
          { env },
        );
        expect(`sha256:${sha256(read.stdout)}`, read.stderr).to.equal(wanted);
      }
      expect([...proxy.hosts].sort()).to.deep.equal([registryName, outsideNames.forge1Registry]);
      const [first] = forge1.images;
      const wrong = lab.logins([here, forge1.host]);
      const tried = await mirror(first?.name ?? '', '2', first?.digest ?? '', wrong);
      mustFail(tried, /unable to retrieve auth token: invalid username\/password/);
    } finally {
      proxy.close();
      await forge1.close();
    }
  });

  it('not when a blob is not what its digest says, here or there', async () => {
    cpSync(join(lab.folder, 'image'), join(lab.folder, 'bad'), { recursive: true });
    const blobs = join(lab.folder, 'bad', 'blobs', 'sha256');
    for (const name of readdirSync(blobs)) if (name !== digest.slice(7)) appendFileSync(join(blobs, name), 'x');
    mustFail(await push('bad'), /Digest did not match|does not match expected/);
    mustFail(
      await raw(`docker://${registry.server}/sample/bad:1.0`, lab.logins([registry.server])),
      /manifest unknown/,
    );

    mustDo(await push('image', 'rotten'));
    const stored = join(registry.folder, 'data', 'docker', 'registry', 'v2', 'blobs', 'sha256');
    for (const name of readdirSync(blobs)) appendFileSync(join(stored, name.slice(0, 2), name, 'data'), 'x');
    const logins = lab.logins([registry.server]);
    const from = `docker://${registry.server}/sample/rotten`;
    mustFail(await raw(`${from}@${digest}`, logins), /match|verif|error/i);
    mustFail(await copy(`${from}:1.0`, `docker://${registry.server}/sample/onward:1.0`, logins), /match|error/i);
  });
}
