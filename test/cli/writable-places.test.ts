/** All that will be written is tried before anything is made. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { bootstrap, five, type Sandbox } from './run-cli.js';
import { json, type Service } from './service.js';
import { useService } from './use-service.js';

describe('a place where plinth will write', () => {
  let service: Service;
  let sandbox: Sandbox;
  useService((each) => {
    ({ service, sandbox } = each);
  });
  const begin = [...bootstrap, ...five];
  const refused = async (args: readonly string[], told: RegExp, env = {}) => {
    service.instead.set('POST /preflights', [(response) => json(response, 200, { go: true, findings: [] })]);
    const { code, stdout, stderr } = await sandbox.run(args, env);
    expect(code, stderr).to.equal(2);
    expect(stdout + stderr)
      .to.match(told)
      .and.not.match(/inside plinth|ENO|EIS|EACC/);
    expect(service.seen.filter(({ method, path }) => method === 'POST' && path === '/bootstraps')).to.deep.equal([]);
  };

  for (const [what, place, told] of [
    ['a missing folder', 'gone/plan.json', /--plan gone\/plan\.json cannot be written: there is no such folder/],
    ['a folder', '.', /--plan \. cannot be written: it is a folder/],
    ['no name', '', /--plan cannot be written: it has no name/],
    ['a folder that takes no files', '/proc/plan.json', /--plan \/proc\/plan\.json cannot be written: its folder/],
  ] as const) {
    it(`is refused as --plan with ${what}, by the bootstrap and by cleanup, before the service is asked`, async () => {
      await refused([...begin, `--plan=${place}`], told);
      await refused([...bootstrap, 'cleanup', 'demo', `--plan=${place}`], told);
      expect(service.seen).to.deep.equal([]);
    });
  }

  it('is the config folder, for the age identity: it is tried by the run, --check and up', async () => {
    const env = { XDG_CONFIG_HOME: '/proc' };
    const told = /\/proc\/plinth\/age cannot be written: .*XDG_CONFIG_HOME/s;
    await refused(begin, told, env);
    await refused([...begin, '--check'], told, env);
    sandbox.write(
      'plinth.yaml',
      five
        .map((flag) => flag.replace(/^--(\S+?)=(.*)$/, '$1: $2'))
        .join('\n')
        .replace(/: app-secret$/, ': {env: APP}'),
    );
    await refused(['up', '--yes'], told, { ...env, APP: 'app-secret' });
  });

  it('is the config folder, for an SSH key and a test user: each is named', async () => {
    rmSync(join(sandbox.home, '.ssh', 'id_rsa.pub'));
    mkdirSync(dirname(sandbox.configFolder), { recursive: true });
    writeFileSync(sandbox.configFolder, 'a file');
    const flags = ['--create-test-user', '--install-version=1', '--registry-user=u', '--write-config=false'];
    await refused([...begin, ...flags], /plinth\/ssh cannot be written: its folder is a file/);
    await refused([...begin, ...flags], /plinth\/test-users cannot be written: its folder is a file/);
  });

  it('is the config folder of a login, and the file of plinth support, before anybody is asked', async () => {
    const env = { XDG_CONFIG_HOME: '/proc', PLINTH_OAUTH_CLIENT_ID: 'id', PLINTH_ISSUER: service.url };
    await refused(['login'], /\/proc\/plinth cannot be written: .*XDG_CONFIG_HOME/s, env);
    await refused(
      ['support', 'demo', '--to=gone/x.tar.gz'],
      /gone\/x\.tar\.gz cannot be written: there is no such folder/,
    );
    expect(service.seen).to.deep.equal([]);
  });

  it('need not be writable where nothing will be written', async () => {
    const { code, stderr } = await sandbox.run([...begin, '--write-config=false'], { XDG_CONFIG_HOME: '/proc' });
    expect(code, stderr).to.equal(0);
  });

  it('may be lost later: the other files are written all the same', async () => {
    service.instead.set('POST /bootstraps/b-one/age-identity', [
      (response) => {
        rmSync(sandbox.configFolder, { recursive: true, force: true });
        mkdirSync(dirname(sandbox.configFolder), { recursive: true });
        writeFileSync(sandbox.configFolder, 'a file');
        json(response, 200, { identity: service.files.identity });
      },
    ]);
    const { code, stderr } = await sandbox.run(begin);
    expect(code, stderr).to.equal(2);
    expect(stderr).to.include('The bootstrap stands, but').and.include('its folder is a file');
    expect([existsSync(sandbox.path('config.yaml')), existsSync(sandbox.path('prod.vault.yaml'))]).to.deep.equal([
      true,
      true,
    ]);
  });

  it('may hold something else by then, which is said', async () => {
    service.instead.set('GET /bootstraps/b-one/config', [
      (response) => {
        execFileSync('mkfifo', [sandbox.path('config.yaml')]);
        response.end(service.files.config);
      },
    ]);
    const { code, stderr } = await sandbox.run(begin);
    expect(code, stderr).to.equal(2);
    expect(stderr).to.include('The bootstrap stands, but config.yaml is not written: it is no regular file');
  });

  it('that refuses is no fault of plinth, also of plinth configure', async () => {
    mkdirSync(dirname(sandbox.configFolder), { recursive: true });
    writeFileSync(sandbox.configFolder, 'a file');
    await refused(['configure', '--force', '--client-id=one', `--api-endpoint=${service.url}`], /cannot be/);
  });
});
