/** Files of age identities are read as age reads them: all identities are tried, and a damaged line is named, not quoted. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateX25519Identity } from 'age-encryption';
import { expect } from 'chai';
import { type IdentityFile, identityFilesFor } from './identity-files.js';
import { bootstrap, createSandbox, five, type Ran, type Sandbox } from './run-cli.js';
import { createService, type Service, secretsFor } from './service.js';

describe('a file of age identities', () => {
  let service: Service;
  let sandbox: Sandbox;
  let place: string;
  let own: string;
  let files: IdentityFile[];

  before(async () => {
    service = await createService();
    sandbox = createSandbox(service.url);
    const { code, stderr } = await sandbox.run([...bootstrap, ...five]);
    expect(code, stderr).to.equal(0);
    own = service.files.identity;
    place = join(sandbox.configFolder, 'age', 'b-one.txt');
    files = await identityFilesFor(own);
  });
  after(async () => {
    sandbox.remove();
    await service.close();
  });

  const begun = () => service.seen.some(({ method, path }) => method === 'POST' && path === '/bootstraps');
  /** The service has another secrets file by then, so that both are opened with what is kept. */
  const rerun = async (text: string): Promise<Ran> => {
    writeFileSync(place, text);
    service.files.secrets = await secretsFor(own, text);
    service.seen.length = 0;
    const ran = await sandbox.run([...bootstrap, ...five]);
    expect(readFileSync(place, 'utf8')).to.equal(text);
    expect(ran.stdout + ran.stderr).not.to.match(new RegExp(`AGE-SECRET|${own.slice(20, 40)}`, 'i'));
    return ran;
  };

  it('that a run keeps opens its secrets file with any of them, and is refused by line before the start', async () => {
    for (const { name, text, damaged } of files) {
      const { code, stdout, stderr } = await rerun(text);
      const whole = damaged === undefined;
      expect([code, begun()], `${name}: ${stdout}${stderr}`).to.deep.equal(whole ? [0, true] : [2, false]);
      if (!whole) expect(stderr, name).to.include(`${place}: ${damaged} not`);
    }
  });

  it('is read around the identities of plugins', async () => {
    const { code, stderr } = await rerun(`AGE-PLUGIN-YUBIKEY-1QQPQJQXQZQVPS\n${own}\n`);
    expect(code, stderr).to.equal(0);
  });

  it('is refused before the start where no secrets file stands yet', async () => {
    rmSync(sandbox.path('prod.vault.yaml'));
    const { code, stderr } = await rerun(`${own.slice(0, 40)}\n`);
    expect([code, begun()], stderr).to.deep.equal([2, false]);
    rmSync(place);
    mkdirSync(place);
    service.seen.length = 0;
    const folder = await sandbox.run([...bootstrap, ...five]);
    expect([folder.code, begun()], folder.stderr).to.deep.equal([2, false]);
    expect(folder.stderr).to.include(`${place} cannot be read: it is a folder`);
    rmSync(place, { recursive: true });
  });

  it('that opens nothing is told with the recipients of all that it holds', async () => {
    const [one, two] = [await generateX25519Identity(), await generateX25519Identity()];
    sandbox.write('config.yaml', service.files.config);
    sandbox.write('prod.vault.yaml', service.files.secrets);
    const { code, stderr } = await rerun(`${one}\n${two}\n`);
    expect(code, stderr).to.equal(2);
    expect(stderr).to.match(/--add-age age1\w+,age1\w+ prod\.vault\.yaml/);
  });

  it('of --age-key is read in the same way', async () => {
    sandbox.write('sealed.yaml', await secretsFor(own, 'sealed'));
    for (const { name, text, damaged } of [...files, { name: 'none', text: '# none\n', damaged: 'none' }]) {
      sandbox.write('key.txt', text);
      const flags = ['--age-key', 'key.txt', '--secrets-file', 'sealed.yaml', '--state-dir', sandbox.path('state')];
      const { code, stderr } = await sandbox.run(['install', 'platform', ...flags]);
      expect(code, stderr).to.equal(2);
      // The package is missing each time.
      expect(stderr.match(/--(?:age-key|secrets-file)/g) ?? [], name).to.have.lengthOf(damaged === undefined ? 0 : 1);
      const fault = damaged === 'none' ? ' holds no age identity' : `: ${damaged} not`;
      if (damaged !== undefined) expect(stderr, name).to.include(`--age-key ${sandbox.path('key.txt')}${fault}`);
    }
  });
});
