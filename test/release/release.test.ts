import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { readConfig } from '../../functions/config.js';
import { startReleases } from '../../local/releases/plinth.js';
import { releaseBinary } from '../../shared/release.js';
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

  it('is served locally once it is built, and nothing else is', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'plinth-release-'));
    try {
      expect(await startReleases(folder)).to.equal(undefined);
      const path = `v${version}/${sha256}/plinth-linux-amd64`;
      const lay = (sum: string) => writeFileSync(join(folder, 'plinth-linux-amd64.sha256'), sum);
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), 'program');
      lay(`${sha256}  v0.0.1/${sha256}/plinth-linux-amd64\n`);
      expect(await startReleases(folder), 'of another version').to.equal(undefined);
      lay(`${sha256}  ${path}\n`);
      const server = await startReleases(folder);
      try {
        expect(server?.sha256).to.equal(sha256);
        const reply = await fetch(`${server?.url}/${path}`);
        expect(await reply.text()).to.equal('program');
        expect((await fetch(`${server?.url}/v${version}/../../package.json`)).status).to.equal(404);
      } finally {
        await server?.close();
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
