/** `plinth support`: what its archive holds, and above all what it does not. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateX25519Identity } from 'age-encryption';
import { expect } from 'chai';
import { extract } from 'tar';
import { version } from '../../shared/version.js';
import { createSandbox, type Sandbox } from './run-cli.js';
import { createService, json, makeView, refuse, type Service } from './service.js';

/** Of each kind one; none may be found in the archive, however it is written there. */
const planted = {
  environment: 'planted-forge1-secret-4711',
  odd: 'planted "vault" \\ password 12',
  token: 'planted-token-of-alice',
  clientSecret: 'GOCSPX-planted_client_secret',
  refreshToken: '1//0planted-refresh-token',
  testUser: 'planted-test-user-token',
  otelHeader: 'planted-otel-value',
  someoneElses: 'planted-secret-of-another-program',
};
/** Nobody told this computer of these: their form gives them away. */
const strangers = {
  accessToken: 'ya29.planted-access_token-x',
  gitHub: `ghp_${'plantedGitHubToken0123456789'}`,
  gitHubApp: `github_pat_${'planted0123456789abcdef'}`,
  webToken: 'eyJhbGciOiJub25lIn0.eyJwbGFudGVkIjoxfQ.c2lnbmVk',
  bearer: 'planted.opaque.bearer',
  webhookKey: `whsec_${Buffer.from('planted webhook key of 32 bytes!').toString('base64')}`,
  urlPassword: 'planted-url-password',
  signature: 'planted0signature1of2a3url',
  yamlPassword: 'planted-yaml-password',
  keyLine: 'plantedMC4CAQAwBQYDK2VwBCIEIJ',
};

const logText = [
  'k0s is ready',
  ...Object.values(planted),
  JSON.stringify(planted.odd),
  Buffer.from(planted.environment).toString('base64'),
  encodeURIComponent(planted.odd),
  `got ${strangers.accessToken} and ${strangers.gitHub} and ${strangers.gitHubApp}`,
  `jwt=${strangers.webToken}`,
  `Authorization: Bearer ${strangers.bearer}`,
  `key ${strangers.webhookKey}`,
  `fetch https://robot:${strangers.urlPassword}@registry.example.com/v2/`,
  `GET https://storage.example.com/b/o?X-Goog-Date=1&X-Goog-Signature=${strangers.signature}`,
  `  password: ${strangers.yamlPassword}`,
  '-----BEGIN OPENSSH PRIVATE KEY-----',
  strangers.keyLine,
  '-----END OPENSSH PRIVATE KEY-----',
  'the last line',
].join('\n');

describe('plinth support', () => {
  let service: Service;
  let sandbox: Sandbox;
  let identity: string;
  beforeEach(async () => {
    identity = await generateX25519Identity();
    service = await createService();
    service.standing = true;
    sandbox = createSandbox(service.url);
    Object.assign(sandbox.env, {
      PLINTH_TOKEN: planted.token,
      PLINTH_FORGE1_APP_CLIENT_SECRET: planted.environment,
      PLINTH_VAULT_PASSWORD: planted.odd,
      OTEL_EXPORTER_OTLP_HEADERS: `api-key=${planted.otelHeader}`,
      OTHER_PROGRAM_TOKEN: planted.someoneElses,
    });
    const write = (path: string, content: string) => {
      mkdirSync(join(sandbox.configFolder, path, '..'), { recursive: true, mode: 0o700 });
      writeFileSync(join(sandbox.configFolder, path), content, { mode: 0o600 });
    };
    write(
      'config.yaml',
      `endpoints: {bootstraps: ${service.url}}\noauth: {clientId: open-id, clientSecret: ${planted.clientSecret}}\n`,
    );
    const login = { schema: 1, issuer: 'https://accounts.google.com', clientId: 'open-id', email: 'alice@example.com' };
    write(
      'credentials.json',
      JSON.stringify({ ...login, refreshToken: planted.refreshToken, idToken: strangers.webToken }),
    );
    write('age/b-one.txt', `# created: 2026\n${identity}\n`);
    write('test-users/demo.json', JSON.stringify({ name: 'tester', token: planted.testUser }));
    logs(logText + identity);
  });
  afterEach(async () => {
    sandbox.remove();
    await service.close();
  });

  function logs(text: string): void {
    const at = '2026-01-31T12:00:00.000Z';
    const path = 'GET /bootstraps/b-one/logs';
    const chunk = { offset: 0, generation: 1, at, text };
    const bytes = Buffer.byteLength(text);
    service.instead.set(path, [
      (response) => json(response, 200, [{ instance: 'k0s:dc1', generation: 1, begins: 0, bytes }]),
      (response) => json(response, 200, { instance: 'k0s:dc1', chunks: [chunk], next: bytes, more: false }),
    ]);
  }

  async function unpacked(archive = 'plinth-support-demo.tar.gz'): Promise<Readonly<Record<string, string>>> {
    const folder = join(sandbox.folder, 'unpacked');
    mkdirSync(folder);
    await extract({ file: sandbox.path(archive), cwd: folder });
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      statSync(join(folder, name)).isFile(),
    );
    return Object.fromEntries(
      files.map((name) => [name.replace('plinth-support-demo/', ''), readFileSync(join(folder, name), 'utf8')]),
    );
  }

  it('packs record, events, logs, config, versions and findings, and says what is in it and where it lies', async () => {
    const { code, stdout, stderr } = await sandbox.run(['support', 'demo']);
    expect(code, stderr).to.equal(0);
    const files = await unpacked();
    expect(Object.keys(files).sort()).to.deep.equal([
      'bootstrap.json',
      'contents.json',
      'doctor.json',
      'events.jsonl',
      'install-config-dc1.yaml',
      'logs/k0s-dc1.log',
      'settings.json',
      'versions.json',
    ]);
    for (const name of Object.keys(files)) expect(stdout).to.contain(`  ${name}\n`);
    expect(stdout).to.contain('plinth-support-demo.tar.gz holds:').and.to.contain('Names and addresses are in it');
    expect(JSON.parse(files['bootstrap.json'] ?? '')).to.deep.equal(JSON.parse(JSON.stringify(service.view)));
    expect(files['events.jsonl']?.trim().split('\n')).to.have.length(service.events.length);
    expect(JSON.parse(files['versions.json'] ?? '').commandLine.version).to.equal(version);
    expect(JSON.parse(files['doctor.json'] ?? '').map(({ name }: { name: string }) => name)).to.include(
      'bootstrap API',
    );
    expect(JSON.parse(files['settings.json'] ?? '').config).to.include({
      'oauth.clientId': 'open-id',
      'oauth.clientSecret': '<secret>',
    });
    expect(files['logs/k0s-dc1.log'])
      .to.match(/^k0s is ready\n/)
      .and.to.contain('\nthe last line');
  });

  it('holds no secret of any kind, in no form', async () => {
    service.view = makeView({
      problem: { code: 'install-failed', detail: `it said ${planted.environment} and ${strangers.accessToken}` },
    });
    const { code, stdout, stderr } = await sandbox.run(['support', 'demo', '--json']);
    expect(code, stderr).to.equal(0);
    const all = Object.values(await unpacked()).join('\n');
    const secrets = [...Object.values(planted), ...Object.values(strangers), identity];
    const found = secrets.flatMap((secret) =>
      [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), Buffer.from(secret).toString('base64')]
        .filter((form) => (all + stdout + stderr).includes(form.replace(/=+$/, '')))
        .map((form) => `${secret} as ${form}`),
    );
    expect(found).to.deep.equal([]);
    // The words around them are there, so that the test would see them.
    expect(all).to.contain('X-Goog-Signature=<secret>').and.to.contain('robot:<secret>@registry.example.com');
  });

  it('is for its owner alone, and overwrites nothing', async () => {
    expect((await sandbox.run(['support', 'demo'])).code).to.equal(0);
    expect(statSync(sandbox.path('plinth-support-demo.tar.gz')).mode & 0o777).to.equal(0o600);
    const before = readFileSync(sandbox.path('plinth-support-demo.tar.gz'));
    const again = await sandbox.run(['support', 'demo']);
    expect(again.code).to.equal(5);
    expect(again.stderr).to.contain('is there already').and.to.contain('--to');
    expect(readFileSync(sandbox.path('plinth-support-demo.tar.gz')).equals(before)).to.equal(true);
    logs('later');
    expect((await sandbox.run(['support', 'demo', '--to', 'other.tar.gz'])).code).to.equal(0);
    expect(sandbox.has('other.tar.gz')).to.equal(true);
  });

  it('says what could not be had, and packs the rest', async () => {
    service.instead.set('GET /bootstraps/b-one/logs', [refuse('forbidden', 'The logs are for its owner.')]);
    const { code, stdout } = await sandbox.run(['support', 'demo', '--json']);
    expect(code).to.equal(0);
    const { archive, files, missing } = JSON.parse(stdout);
    expect(archive).to.equal('plinth-support-demo.tar.gz');
    expect(missing).to.deep.equal([{ part: 'logs', why: 'The logs are for its owner.' }]);
    expect(files).to.include('bootstrap.json').and.to.include('doctor.json');
    expect(JSON.parse((await unpacked())['contents.json'] ?? '')).to.deep.include({ missing, project: 'demo' });
  });

  it('takes the past of one that goes on', async () => {
    service.view = makeView({ state: 'running' });
    service.stream = 'hold';
    const { code, stderr } = await sandbox.run(['support', 'demo']);
    expect(code, stderr).to.equal(0);
    expect((await unpacked())['events.jsonl']?.trim().split('\n')).to.have.length(service.events.length);
  });

  it('writes nothing for a project that the caller does not have', async () => {
    service.standing = false;
    const { code, stderr } = await sandbox.run(['support', 'demo']);
    expect(code).to.equal(4);
    expect(stderr).to.contain('You have no bootstrap');
    expect(readdirSync(sandbox.folder)).to.deep.equal([]);
  });
});
