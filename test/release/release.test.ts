import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { readConfig } from '../../functions/config.js';
import { createSimulatedCloud } from '../../local/cloud/index.js';
import { initialState, local, people } from '../../local/stack/deployment.js';
import { publishRelease } from '../../local/stack/plinth-release.js';
import { releaseBinary, storedAt } from '../../shared/release.js';
import { version } from '../../shared/version.js';

const sha256 = 'a1'.repeat(32);
const settings = {
  PLINTH_PROJECT: 'plinth-local',
  PLINTH_DEPLOYMENT: 'local',
  PLINTH_MACHINE_ACCESS: 'direct',
  PLINTH_SSH_SOURCE_RANGES: '127.0.0.0/8',
};

describe('the release of this version', () => {
  it('bears the version of package.json', () => {
    expect(JSON.parse(readFileSync('package.json', 'utf8'))).to.include({ version });
  });

  it('is named by the settings, down to its checksum', () => {
    const config = readConfig({
      ...settings,
      PLINTH_RELEASES_URL: 'https://releases.example.com/plinth/',
      PLINTH_RELEASE_SHA256: sha256,
    });
    expect(releaseBinary(config)).to.deep.equal({
      url: `https://releases.example.com/plinth/v${version}/${sha256}/plinth-linux-amd64`,
      sha256,
    });
  });

  it('lies beside another one of the same version: none takes the place of what a deployment fetches', () => {
    const [one, other] = ['a1', 'b2'].map((byte) =>
      releaseBinary({ releases: { url: 'https://releases.example.com', sha256: byte.repeat(32) } }),
    );
    expect(one?.url).not.to.equal(other?.url);
  });

  it('is not fetched when nobody says where it is', () => {
    expect(() => releaseBinary(readConfig(settings)))
      .to.throw(/names no place/)
      .with.deep.include({
        code: 'bad-input',
        errors: [{ path: '--remote-cli-binary', message: 'must be given here' }],
      });
  });

  it('is not fetched when nothing tells what it must be', () => {
    const config = readConfig({ ...settings, PLINTH_RELEASES_URL: 'https://releases.example.com' });
    expect(() => releaseBinary(config)).to.throw(/checksum/);
  });

  it('may lie in a private bucket, or on any web server', () => {
    const at = (url: string) =>
      releaseBinary(readConfig({ ...settings, PLINTH_RELEASES_URL: url, PLINTH_RELEASE_SHA256: sha256 })).url;
    const path = `v${version}/${sha256}/plinth-linux-amd64`;
    expect(at('gs://acme-plinth-releases/releases/')).to.equal(`gs://acme-plinth-releases/releases/${path}`);
    expect(storedAt(at('gs://acme-plinth-releases'))).to.deep.equal({ bucket: 'acme-plinth-releases', object: path });
    expect(storedAt(at('https://releases.example.com'))).to.equal(undefined);
    for (const wrong of ['gs://', 'gs://Acme/releases', 'gs://acme/a b', 'gs://acme/"', 'ftp://releases.example.com'])
      expect(() => at(wrong), wrong).to.throw(/PLINTH_RELEASES_URL/);
  });

  it('is put into its bucket locally once it is built, and nothing else is', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'plinth-release-'));
    const cloud = await createSimulatedCloud({ initial: initialState() });
    try {
      expect(await publishRelease(cloud, folder)).to.equal(undefined);
      const path = `v${version}/${sha256}/plinth-linux-amd64`;
      const lay = (sum: string) => writeFileSync(join(folder, 'plinth-linux-amd64.sha256'), sum);
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      const program = Buffer.alloc(5_000_000, 'program');
      writeFileSync(join(folder, path), program);
      lay(`${sha256}  v0.0.1/${sha256}/plinth-linux-amd64\n`);
      expect(await publishRelease(cloud, folder), 'of another version').to.equal(undefined);
      lay(`${sha256}  ${path}\n`);
      // A kept cloud has it already.
      for (const _time of [1, 2]) expect((await publishRelease(cloud, folder))?.sha256).to.equal(sha256);
      const object = encodeURIComponent(`releases/${path}`);
      const read = (headers: Record<string, string>) =>
        fetch(`${cloud.endpoints.storage}/storage/v1/b/${local.releaseBucket}/o/${object}?alt=media`, { headers });
      const reply = await read({ authorization: `Bearer ${cloud.identity.accessToken(people.admin)}` });
      expect(Buffer.from(await reply.arrayBuffer()).equals(program)).to.equal(true);
      expect((await read({})).status).to.equal(401);
    } finally {
      await cloud.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('is linked into a kept cloud, which has it when a build has removed it, and sends any range of it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'plinth-release-'));
    const path = `v${version}/${sha256}/plinth-linux-amd64`;
    const program = Buffer.from(Array.from({ length: 5_000_000 }, (_, at) => at % 251));
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), program);
    writeFileSync(join(folder, 'plinth-linux-amd64.sha256'), `${sha256}  ${path}\n`);
    const options = { initial: initialState(), snapshotFile: join(folder, 'kept.json') };
    let cloud = await createSimulatedCloud(options);
    const ask = (query: string, headers: Record<string, string> = {}) =>
      fetch(
        `${cloud.endpoints.storage}/storage/v1/b/${local.releaseBucket}/o/${encodeURIComponent(`releases/${path}`)}${query}`,
        {
          headers: {
            authorization: `Bearer ${cloud.identity.accessToken(people.admin)}`,
            // A kept cloud takes its ports again: a connection that was kept may be one to the cloud before it.
            connection: 'close',
            ...headers,
          },
        },
      );
    try {
      await publishRelease(cloud, folder);
      expect(statSync(join(folder, path)).nlink).to.equal(2);
      const shown = await (await ask('')).json();
      expect(shown).to.include({ size: '5000000', md5Hash: createHash('md5').update(program).digest('base64') });
      await cloud.close();
      rmSync(join(folder, path));
      cloud = await createSimulatedCloud(options);
      expect(await (await ask('')).json()).to.deep.equal(shown);
      const whole = await ask('?alt=media');
      expect(whole.headers.get('content-length')).to.equal('5000000');
      expect(Buffer.from(await whole.arrayBuffer()).equals(program)).to.equal(true);
      for (const [range, status, first, end] of [
        ['bytes=4999990-', 206, 4_999_990, 5_000_000],
        ['bytes=70000-4900000', 206, 70_000, 4_900_001],
        ['bytes=9-3', 200, 0, 5_000_000],
        ['bytes=5000000-', 416, 0, 0],
      ] as const) {
        const part = await ask('?alt=media', { range });
        expect(part.status, range).to.equal(status);
        expect(Buffer.from(await part.arrayBuffer()).equals(program.subarray(first, end)), range).to.equal(true);
      }
    } finally {
      await cloud.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('is known by its checksums from before, until it is another', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'plinth-release-'));
    const path = `v${version}/${sha256}/plinth-linux-amd64`;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, 'plinth-linux-amd64.sha256'), `${sha256}  ${path}\n`);
    try {
      for (const content of ['one', 'one', 'another']) {
        writeFileSync(join(folder, path), content);
        const cloud = await createSimulatedCloud({ initial: initialState() });
        try {
          await publishRelease(cloud, folder);
          const [object] = Object.values(cloud.world.table('storage.objects'));
          expect(object).to.include({ md5Hash: createHash('md5').update(content).digest('base64') });
        } finally {
          await cloud.close();
        }
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
