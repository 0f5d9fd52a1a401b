/** `npm run local` as people use it: options, env file, tokens, and a clean stop. */

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { makeFolder, runPlinth } from '../../local/demo/plinth-process.js';
import { forge1Pat } from '../../local/forge1/forge1.js';
import { envFileOf, startLocal } from '../support/halves.js';
import { oneAfterAnother, type Run } from '../support/one-after-another.js';
import { argsOf } from '../support/scene.js';

const tokenProgram = fileURLToPath(new URL('../../local/token.js', import.meta.url));

const listens = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

describe('npm run local', function () {
  this.timeout(240_000);
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'plinth-local-test-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const bad: readonly (readonly [args: string[], word: string])[] = [
    [['--port', 'many'], '--port'],
    [['--port', '70000'], '--port'],
    [['--store', 'disk'], '--store'],
    [['--time-factor', 'fast'], '--time-factor'],
    [['--seed', '1.5'], '--seed'],
    [['--machines', 'some'], '--machines must be embedded or none'],
    [['--machines', 'embedded', '--only', 'functions', '--store', 'emulator'], 'cloud half'],
    [['--world', 'old'], 'seasoned, fresh, hardened'],
    [['--world-set', 'quota.NONE=1'], 'quota.NONE'],
    [['--world', 'fresh', '--only', 'functions', '--store', 'emulator'], 'cloud half'],
    [['--set', 'PLINTH_USD_PER_HOUR=1', '--only', 'cloud', '--store', 'emulator'], 'functions half'],
    [['--set', 'PLINTH_USD_PER_HOUR=1', '--set', 'PLINTH_HOSTS=x'], '--set PLINTH_HOSTS: must be on or off'],
    [['--only', 'half'], '--only'],
    [['--only', 'cloud'], '--store emulator'],
    [['--only', 'functions', '--store', 'memory'], '--store emulator'],
    [['--env-file', 'not/there/plinth.env'], '--env-file not/there/plinth.env cannot be written'],
    [['--env-file', '.'], '--env-file . cannot be written'],
    [['--what'], '--what'],
    [['stray'], 'stray'],
  ];
  const programOf = (name: string): string => fileURLToPath(new URL(`../../local/${name}.js`, import.meta.url));
  // Without programs there are no machines, whoever runs it.
  const notHere = ['main', 'demo'];

  it('refuses what it does not understand, by name, and machines that this computer cannot hold, with exit code 2', async () => {
    const runs: readonly Run[] = [
      ...bad.map(([args]): Run => [programOf('main'), args]),
      ...notHere.map((name): Run => [programOf(name), ['--machines', 'embedded']]),
    ];
    const ended = await oneAfterAnother(runs, { cwd: folder, env: { PATH: folder } });
    expect(ended.map(({ exitCode }) => exitCode)).to.deep.equal(runs.map(() => 2));
    for (const [n, [args, word]] of bad.entries()) expect(ended[n]?.stderr, args.join(' ')).to.include(word);
    for (const n of notHere.keys()) {
      expect(ended[bad.length + n]?.stderr)
        .to.match(/--machines embedded is not possible: .*(?:missing|need)/)
        .and.to.include('--machines M');
    }
  });

  it('refuses as a process of its own, too', async () => {
    const run = startLocal(['--port', 'many'], folder);
    expect(await run.ended).to.equal(2);
    expect(run.output()).to.include('--port must be a whole number');
  });

  it('serves until it is asked to stop: env file once all is ready, a bootstrap, a token for somebody else, nothing left', async () => {
    const envFile = join(folder, 'env');
    const run = startLocal(['--time-factor', '0', '--env-file', envFile, '--state', 'mine'], folder);
    const env = await envFileOf(run, envFile);
    expect(statSync(envFile).mode & 0o777).to.equal(0o600);
    expect(Object.keys(env)).to.include.members([
      'PLINTH_ENDPOINT',
      'PLINTH_TOKEN',
      'PLINTH_ISSUER',
      'PLINTH_ACCESS_TOKEN',
      'PLINTH_IAP_TUNNEL_URL',
      'CLOUDSDK_AUTH_ACCESS_TOKEN',
    ]);
    expect(run.output())
      .to.include(`The console is at ${env['PLINTH_ENDPOINT']}: sign in as alice@example.com.`)
      .and.include('npx plinth init')
      .and.include('npx plinth up')
      .and.match(/local:token -- bob@\S+ --state mine\s/);

    const machine = makeFolder();
    const args = ['beta', 'bootstrap-cloud', ...argsOf('by-hand')];
    const secret = { PLINTH_FORGE1_APP_CLIENT_SECRET: 'x' };
    const made = await runPlinth(args, { folder: machine, env: { ...env, ...secret } });
    expect(made.exitCode, made.stderr).to.equal(0);
    // Of all that an install takes it is what nobody could guess.
    expect(run.output()).to.include(`--forge1-pat ${forge1Pat}`).and.include('--forge1-team-org example');

    const { stdout: token } = await promisify(execFile)(
      process.execPath,
      [tokenProgram, 'bob@example.com', '--state', 'mine'],
      {
        cwd: folder,
      },
    );
    const bob = await runPlinth(['beta', 'bootstrap-cloud', 'list', '--json'], {
      folder: machine,
      env: { ...env, PLINTH_TOKEN: token.trim() },
    });
    expect(bob.exitCode, bob.stderr).to.equal(0);
    expect(bob.stdout).not.to.include('by-hand');
    rmSync(machine, { recursive: true, force: true });

    run.child.kill('SIGINT');
    expect(await run.ended, run.output()).to.equal(0);
    expect(await listens(env['PLINTH_ENDPOINT'] ?? '')).to.equal(false);
    expect(await listens(env['PLINTH_ISSUER'] ?? '')).to.equal(false);
  });

  it('a token is asked for in vain where nothing runs', async () => {
    const asked = promisify(execFile)(process.execPath, [tokenProgram, 'bob@example.com'], { cwd: folder });
    const refused = await asked.catch((error: { code: number; stderr: string }) => error);
    expect(refused).to.include({ code: 2 });
    expect(refused.stderr).to.include('npm run local');
    const elsewhere = promisify(execFile)(process.execPath, [tokenProgram, 'bob@example.com', '--state', 'mine'], {
      cwd: folder,
    });
    const { stderr } = await elsewhere.catch((error: { stderr: string }) => error);
    expect(stderr).to.include('npm run local -- --state mine');
  });
});
