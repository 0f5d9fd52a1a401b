/** `npm run local` as people use it: options, env file, tokens, and a clean stop. */

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { makeFolder, runPlinth } from '../../local/demo/plinth-process.js';
import { forge1Pat } from '../../local/forge1/forge1.js';
import { people } from '../../local/stack/deployment.js';
import { envFileOf, startLocal, startProgram } from '../support/halves.js';
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
    [['--machines', 'some'], '--machines'],
    [['--machines', 'real', '--only', 'functions', '--store', 'emulator'], 'cloud half'],
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
  it('refuses what it does not understand, by name, with exit code 2', async () => {
    for (const [args, word] of bad) {
      const run = startLocal(args, folder);
      expect(await run.ended, args.join(' ')).to.equal(2);
      expect(run.output()).to.include(word);
    }
  });

  for (const name of ['main', 'demo']) {
    it(`refuses machines that this computer cannot hold, and says what to do (${name})`, async () => {
      // Without programs there are none, whoever runs it.
      const path = fileURLToPath(new URL(`../../local/${name}.js`, import.meta.url));
      for (const machines of ['real', 'embedded']) {
        const run = startProgram(path, ['--machines', machines], { cwd: folder, env: { PATH: folder } });
        expect(await run.ended, machines).to.equal(2);
        expect(run.output()).to.match(new RegExp(`--machines ${machines} is not possible: .*(?:missing|need)`));
        expect(run.output()).to.include('--machines M');
      }
    });
  }

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

  it('runs the page of pools as it is printed', async () => {
    const page = readFileSync(fileURLToPath(new URL('../../../docs/operate/pools.md', import.meta.url)), 'utf8');
    const [, section = ''] = page.split('## Try it locally');
    const lines = [...section.matchAll(/```\n([\s\S]*?)```/g)].flatMap(([, block = '']) => block.trim().split('\n'));
    const [start = '', source, token, ...commands] = lines;
    expect([source, token]).to.deep.equal([
      'set -a; . /tmp/plinth.env; set +a',
      `export PLINTH_TOKEN=$(npm run -s local:token -- ${people.admin})`,
    ]);
    const [, words = ''] = /^npm run local -- (.*)$/.exec(start) ?? [];
    const args = [...words.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');
    const envFile = join(folder, 'env');
    const run = startLocal(
      args.map((arg) => (arg === '/tmp/plinth.env' ? envFile : arg)),
      folder,
    );
    const env = await envFileOf(run, envFile);
    const asked = await promisify(execFile)(process.execPath, [tokenProgram, people.admin], { cwd: folder });
    const operator = { folder, env: { ...env, PLINTH_TOKEN: asked.stdout.trim() } };
    expect(commands).to.have.length.above(2);
    for (const command of commands) {
      const made = await runPlinth(command.replace(/^npx plinth /, '').split(' '), operator);
      expect(made.exitCode, `${command}\n${made.stdout}${made.stderr}`).to.equal(0);
      expect(made.stdout, command)
        .to.include('europe-west4')
        .and.match(/ of 2\b|drained/);
    }
    run.child.kill('SIGINT');
    expect(await run.ended, run.output()).to.equal(0);
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
