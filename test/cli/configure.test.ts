/** `plinth configure`: asked on a terminal or told by flags; nothing is written that the service does not confirm. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { local } from '../../local/stack/deployment.js';
import { createStack, type Stack } from '../../local/stack/stack.js';
import { createSandbox, type Sandbox } from './run-cli.js';

describe('plinth configure', function () {
  this.timeout(60_000);
  let stack: Stack;
  let sandbox: Sandbox;
  before(async () => {
    stack = await createStack();
  });
  after(() => stack?.close());
  beforeEach(() => {
    sandbox = createSandbox();
  });
  afterEach(() => sandbox.remove());

  const file = () => join(sandbox.configFolder, 'config.yaml');
  const written = () => readFileSync(file(), 'utf8');
  const stand = (text: string) => {
    mkdirSync(sandbox.configFolder, { recursive: true });
    writeFileSync(file(), text);
  };
  const endpoints = () => ['--bootstraps-endpoint', stack.url, '--api-endpoint', `${stack.url}/`];

  it('writes what flags say, for its owner alone and whole, and other commands go by it', async () => {
    const args = [...endpoints(), '--client-id', local.oauthClient, '--issuer', stack.record.issuerUrl];
    const { code, stdout, stderr } = await sandbox.run(['configure', ...args]);
    expect(code, stderr).to.equal(0);
    expect(stdout).to.include(`endpoints.bootstraps  ${stack.url}`).and.include('Next: plinth login');
    expect(stderr).to.match(/endpoints\.api: plinth \d/);
    expect((statSync(file()).mode & 0o777).toString(8)).to.equal('600');
    expect(readdirSync(sandbox.configFolder)).to.deep.equal(['config.yaml']);
    const env = { PLINTH_TOKEN: (await stack.tokens('alice@example.com')).idToken };
    expect((await sandbox.run(['org', 'list'], env)).code).to.equal(0);
    expect((await sandbox.run(['doctor'], env)).code).to.equal(0);
    const again = await sandbox.run(['configure', ...args]);
    expect(again.stdout).to.include('nothing changes');
  });

  it('keeps what no flag names, comments too, takes away what is -, and shows what changed', async () => {
    stand(
      `# ours\nendpoints:\n  bootstraps: ${stack.url} # the first\noauth:\n  clientId: old\n  clientSecret: planted-secret\n`,
    );
    const { code, stdout, stderr } = await sandbox.run([
      'configure',
      '--api-endpoint',
      stack.url,
      '--client-id',
      '-',
      '--json',
    ]);
    expect(code, stderr).to.equal(0);
    expect(JSON.parse(stdout).changes).to.deep.equal([
      { name: 'endpoints.api', from: null, to: stack.url },
      { name: 'oauth.clientId', from: 'old', to: null },
    ]);
    expect(written())
      .to.include('# ours')
      .and.include('# the first')
      .and.include('planted-secret')
      .and.not.include('clientId');
    const taken = await sandbox.run(['configure', '--api-endpoint', stack.url], {
      PLINTH_OAUTH_CLIENT_SECRET: 'planted-new',
    });
    expect(taken.stdout).to.include('oauth.clientSecret');
    expect(taken.stdout + taken.stderr + stdout + stderr).to.not.include('planted-');
    expect(written()).to.include('planted-new');
  });

  it('takes the config file that terraform prints', async () => {
    const printed = `endpoints:\n  api: ${stack.url}\n  bootstraps: ${stack.url}\n`;
    sandbox.write('printed.yaml', printed);
    const { code, stderr } = await sandbox.run(['configure', '--from', 'printed.yaml']);
    expect(code, stderr).to.equal(0);
    expect(written()).to.include(`bootstraps: ${stack.url}`);
    sandbox.write('printed.yaml', 'endpoint: x\n');
    const wrong = await sandbox.run(['configure', '--from', 'printed.yaml']);
    expect(wrong.code).to.equal(2);
    expect(wrong.stderr).to.include('printed.yaml:1:endpoint is no setting of this file');
  });

  it('tells all faults at once, and writes nothing', async () => {
    const flags = ['--bootstraps-endpoint', 'nowhere', '--api-endpoint', 'http://example.com', '--client-id', 'a b'];
    const { code, stderr } = await sandbox.run(['configure', ...flags]);
    expect(code).to.equal(2);
    expect(stderr)
      .to.include('--bootstraps-endpoint must be a URL')
      .and.include('--api-endpoint must begin with https://')
      .and.include('--client-id holds a space');
    expect((await sandbox.run(['configure'])).stderr).to.match(/--bootstraps-endpoint, .* is needed/);
    expect(existsSync(file())).to.equal(false);
  });

  it('writes nothing that does not answer as it should, unless it is forced', async () => {
    const args = [
      'configure',
      '--bootstraps-endpoint',
      'http://127.0.0.1:29',
      '--api-endpoint',
      stack.record.issuerUrl,
    ];
    const { code, stderr } = await sandbox.run(args);
    expect(code).to.equal(6);
    expect(stderr)
      .to.match(/endpoints\.bootstraps, http:\S+: it cannot be reached \(ECONNREFUSED\)/)
      .and.match(/endpoints\.api, http:\S+: it answered \d+, and not as plinth does/);
    expect(existsSync(file())).to.equal(false);
    const forced = await sandbox.run([...args, '--force']);
    expect([forced.code, forced.stderr.includes('Warning:')]).to.deep.equal([0, true]);
    expect(written()).to.include('127.0.0.1:29');
  });

  it('asks on a terminal with what stands as default, and shows no secret', async () => {
    stand(`endpoints:\n  bootstraps: ${stack.url}\noauth:\n  issuer: ${stack.record.issuerUrl}\n`);
    sandbox.env['NO_COLOR'] = '1';
    const started = sandbox.spawnOnTerminal(['configure']);
    const answer = async (question: RegExp, text: string) => {
      await started.saw(question);
      started.type(text);
    };
    await answer(/bootstrap API \[http:\S+\]: $/, '\n');
    await answer(/organizations and teams \[none\]: $/, 'nowhere\n');
    await answer(/It must be a URL\.\s+URL of the API of organizations and teams \[none\]: $/, `${stack.url}\n`);
    await answer(/people log in \[none\]: $/, `${local.oauthClient}\n`);
    await answer(/secret \(not shown\) \[none\]: $/, 'planted-secret\r');
    const { code, stdout } = await started.ended;
    expect(code, stdout).to.equal(0);
    expect(stdout).to.not.include('planted-secret');
    expect(stdout).to.match(/oauth\.clientSecret +<secret>/);
    expect(written()).to.include('clientSecret: planted-secret').and.include(`api: ${stack.url}`);
  });

  it('changes nothing after Ctrl-C', async () => {
    const started = sandbox.startOnTerminal(['configure']);
    await started.saw(/bootstrap API \[none\]: $/);
    started.type('\u0003');
    expect((await started.ended).code).to.equal(130);
    expect(existsSync(file())).to.equal(false);
  });
});
