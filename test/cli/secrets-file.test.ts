/** The secrets file in the caller's folder is also edited with sops: what a person does to it is never replaced in silence. */
import { readdirSync } from 'node:fs';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { expect } from 'chai';
import { decryptSecrets } from '../../shared/install-config/secrets.js';
import { bySops } from '../install-config/by-sops.js';
import { bootstrap, createSandbox, five, type Sandbox } from './run-cli.js';
import { createService, json, type Service, secretsFor } from './service.js';

const vault = 'prod.vault.yaml';

describe('the secrets file that a person edits', () => {
  let service: Service;
  let sandbox: Sandbox;
  beforeEach(async () => {
    service = await createService();
    sandbox = createSandbox(service.url);
    const { code, stderr } = await sandbox.run([...bootstrap, ...five]);
    expect(code, stderr).to.equal(0);
    service.seen.length = 0;
  });
  afterEach(async () => {
    sandbox.remove();
    await service.close();
  });

  /** Refused: nothing was asked of the service but what it has, and the folder is as it was. */
  const refused = async (text: string, ...args: string[]): Promise<string> => {
    sandbox.write(vault, text);
    const { code, stderr } = await sandbox.run([...bootstrap, ...five, ...args]);
    expect(code, stderr).to.equal(2);
    expect(service.seen.filter(({ method, path }) => method === 'POST' && path === '/bootstraps')).to.deep.equal([]);
    expect(sandbox.read(vault)).to.equal(text);
    expect(readdirSync(sandbox.folder)).to.have.members(['config.yaml', vault]);
    return stderr;
  };

  it('is refused when it was decrypted in place, with the way out, and shown to nobody', async () => {
    const plain = 'version: 1\nsecrets:\n  - name: postgresPassword\n    fields:\n      password: planted\n';
    const said = await refused(plain);
    expect(said)
      .to.include(`${vault} cannot be read: it is not encrypted`)
      .and.include('sops encrypt --in-place --age');
    expect(said).to.include('--secrets-file').and.not.include('planted');
  });

  it('is refused when it was cut short', async () => {
    const whole = sandbox.read(vault);
    for (const end of [/^sops:\n/m, /^ {4}age:\n/m, /-----END/, /^ {4}mac/m]) {
      expect(await refused(whole.slice(0, whole.search(end))), String(end)).to.match(/cut short/);
    }
    expect(await refused('')).to.include('cannot be read');
  });

  it('is refused in key groups, and with what is encrypted told by comments', async () => {
    expect(await refused(bySops('key-groups')))
      .to.include('key groups')
      .and.include('sops encrypt --age');
    expect(await refused(bySops('comment-rule'))).to.include('encrypted_comment_regex');
  });

  it("is refused when its own bootstrap's config is beside it and it is encrypted for others alone", async () => {
    const stranger = await generateX25519Identity();
    const own = await identityToRecipient(service.files.identity);
    expect(await refused(await secretsFor(stranger, 'edited'))).to.include(`--add-age ${own}`);
  });

  const during = async (text: string) => {
    service.files.secrets = await secretsFor(service.files.identity, 'second');
    service.instead.set('GET /bootstraps/b-one/config', [
      (response) => {
        sandbox.write(vault, text);
        response.end(service.files.config);
      },
    ]);
    const { code, stderr } = await sandbox.run([...bootstrap, ...five]);
    expect(code, stderr).to.equal(2);
    expect(stderr).to.include(`The bootstrap stands, but ${vault} is not written`);
    expect(sandbox.read(vault)).to.equal(text);
    expect(readdirSync(sandbox.folder)).to.have.members(['config.yaml', vault]);
    return stderr;
  };

  it('stays as it is, and the next run takes it, when it was edited while the bootstrap ran', async () => {
    const edited = await secretsFor(service.files.identity, 'edited');
    expect(await during(edited)).to.include('changed while');
    service.seen.length = 0;
    expect((await sandbox.run([...bootstrap, ...five])).code).to.equal(0);
    expect(service.request().base?.dc1?.secrets).to.equal(edited);
    const { secrets } = await decryptSecrets(sandbox.read(vault), service.files.identity);
    expect(secrets[0]?.fields?.password).to.equal('second');
  });

  it('stays as it is when it was decrypted or broken while the bootstrap ran', async () => {
    expect(await during('version: 1\nsecrets: []\n')).to.include('not encrypted');
    sandbox.write(vault, await secretsFor(service.files.identity, 'first'));
    const broken = (await secretsFor(service.files.identity, 'x')).replace(/^version: .*\n/m, '');
    expect(await during(broken)).to.include('MAC');
  });

  it('is never replaced where it does not open, though the service took it', async () => {
    const broken = sandbox.read(vault).replace(/^version: .*\n/m, '');
    sandbox.write(vault, broken);
    service.files.secrets = await secretsFor(service.files.identity, 'second');
    const { code, stderr } = await sandbox.run([...bootstrap, ...five]);
    expect([code, stderr.includes('MAC'), sandbox.read(vault) === broken]).to.deep.equal([2, true, true]);
  });

  it('in clear is refused, too, where it is of another bootstrap', async () => {
    sandbox.write('config.yaml', 'version: 1\nbootstrap:\n  id: b-other\n  projectId: other-99\n');
    service.instead.set('GET /bootstraps', [(response) => json(response, 200, [])]);
    expect(await refused('version: 1\nsecrets: []\n'))
      .to.include('not encrypted')
      .and.include('delete it');
  });
});
