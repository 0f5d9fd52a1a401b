import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { readConfig } from '../../functions/config.js';
import { createSimulatedCloud } from '../../local/cloud/index.js';
import { publishRelease } from '../../local/releases/plinth.js';
import { initialState, local, people } from '../../local/stack/deployment.js';
import { releaseBinary, storedAt } from '../../shared/release.js';
import { version } from '../../shared/version.js';

const sha256 = 'a1'.repeat(32);
const settings = { PLINTH_PROJECT: 'plinth-local', PLINTH_DEPLOYMENT: 'local' };

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
});
