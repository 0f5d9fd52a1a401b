/** What `npm run pack` makes: the command line as a package, which runs in an empty folder with what comes along and no more. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import { sha256 } from '../../shared/sha256.js';
import { flagsRelease, version } from '../../shared/version.js';
import { answerInit } from '../../tools/images/init-answers.js';
import { startTerminal } from '../../tools/images/terminal-run.js';
import { envFileOf, startLocal } from '../support/halves.js';
import { projectFolder } from '../support/recording-store.js';

describe('the npm package', () => {
  let folder: string;
  let source: string;
  let tarball: string;
  const pack = (...args: string[]) =>
    spawnSync('npm', ['run', '-s', 'pack', '--', ...args], { cwd: source, encoding: 'utf8' });
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'plinth-packed-'));
    // A copy, as other tests run what is in dist.
    source = join(folder, 'source');
    const taken = (path: string) => !/^(?:\.|node_modules$|dist)/.test(basename(path));
    cpSync(projectFolder, source, { recursive: true, filter: (path) => path === projectFolder || taken(path) });
    symlinkSync(join(projectFolder, 'node_modules'), join(source, 'node_modules'));
    const { status, stderr } = pack();
    expect(status, stderr).to.equal(0);
    tarball = join(source, `plinth-${version}.tgz`);
    writeFileSync(join(folder, 'package.json'), '{ "private": true }');
    const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', '--omit=optional'];
    execFileSync('npm', ['install', ...quiet, tarball], { cwd: folder, stdio: 'pipe' });
  });
  after(() => rmSync(folder, { recursive: true, force: true }));
  const plinth = (...args: string[]) =>
    spawnSync(join(folder, 'node_modules', '.bin', 'plinth'), args, {
      cwd: folder,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: folder, PLINTH_ENDPOINT: 'http://127.0.0.1:29', PLINTH_TOKEN: '' },
    });

  it('holds the program and what is to be read: no sources, tests or maps', () => {
    const files = execFileSync('tar', ['-tf', tarball], { encoding: 'utf8' }).trim().split('\n');
    const notices = 'dist/cli/THIRD_PARTY_NOTICES';
    const wanted = ['package.json', 'dist/cli/main.js', notices, 'CHANGELOG.md', 'README.md'].map(
      (file) => `package/${file}`,
    );
    expect(files).to.include.members(wanted);
    const others = files.filter(
      (file) => !wanted.includes(file) && !/^package\/dist\/cli\/chunks\/[\w.-]+\.js$/.test(file),
    );
    expect(others).to.deep.equal([]);
  });

  it('tells whose work is in it, and of nothing that is not', () => {
    const notices = readFileSync(join(folder, 'node_modules/plinth/dist/cli/THIRD_PARTY_NOTICES'), 'utf8');
    expect(notices)
      .to.match(/^zod \d/m)
      .and.match(/^cac \d/m);
    // It comes beside, with its own.
    expect(notices).to.not.match(/^(ssh2|yaml|google-auth-library|@google-cloud\S*) \d/m);
  });

  it('comes out the same from the same sources, and leaves package.json as it was', () => {
    const again = join(folder, 'again');
    mkdirSync(again);
    expect(pack('--pack-destination', again).status).to.equal(0);
    const sum = (file: string) => sha256(readFileSync(file));
    expect(sum(join(again, basename(tarball)))).to.equal(sum(tarball));
    expect(sum(join(source, 'package.json'))).to.equal(sum(join(projectFolder, 'package.json')));
  });

  it('fails where it cannot be put, and leaves nothing there', () => {
    const { status } = pack('--pack-destination', join(folder, 'nowhere'));
    expect(status).to.not.equal(0);
    expect(existsSync(join(folder, 'nowhere'))).to.equal(false);
  });

  it('asks for what the command line loads, and nothing that functions need', () => {
    const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
    const manifest = read(join(folder, 'node_modules', 'plinth', 'package.json'));
    expect(manifest).to.include({ name: 'plinth', version }).and.not.have.any.keys('scripts', 'devDependencies');
    expect(Object.keys(manifest.dependencies)).to.have.members([
      'google-auth-library',
      'https-proxy-agent',
      'ssh2',
      'ws',
      'yaml',
    ]);
    expect(readdirSync(join(folder, 'node_modules'))).to.not.include('@google-cloud');
    const lock = read(join(folder, 'package-lock.json'));
    expect(Object.keys(lock.packages).length).to.be.lessThan(80);
  });

  it('runs where it was installed', () => {
    expect(plinth('--version')).to.include({ status: 0, stdout: `${version}\nflags of ${flagsRelease}\n`, stderr: '' });
    const help = plinth('--help');
    expect(help).to.include({ status: 0, stderr: '' });
    expect(help.stdout).to.include('beta bootstrap-cloud').and.include('doctor');
  });

  it('finds each package that a command loads on first use', () => {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, 'key')]);
    // The config file wants yaml, the caller google-auth-library, the key ssh2.
    execFileSync('mkdir', ['-p', join(folder, '.config', 'plinth')]);
    writeFileSync(join(folder, '.config', 'plinth', 'config.yaml'), 'endpoints:\n  api: https://api.example.com\n');
    const { status, stdout } = plinth('doctor', '--json', '--ssh-private-key-path', join(folder, 'key'));
    expect(status).to.equal(6);
    const checks: { name: string; state: string; detail: string }[] = JSON.parse(stdout).checks;
    const stateOf = (name: string) => checks.find((check) => check.name === name);
    expect(stateOf('config file')).to.include({ state: 'ok' });
    expect(stateOf('credentials')).to.include({ detail: 'plinth found no credentials to say who is calling.' });
    expect(stateOf('SSH key')).to.include({ state: 'ok' });
  });

  it('makes a project and removes it, against npm run local, with one secret in the environment and no flag', async () => {
    const bin = join(folder, 'node_modules', '.bin', 'plinth');
    const [home, work] = [join(folder, 'newcomer'), join(folder, 'newcomer', 'my-first')];
    mkdirSync(work, { recursive: true });
    const envFile = join(home, 'plinth.env');
    const service = startLocal(['--machines', 'none', '--time-factor', '0', '--env-file', envFile], home);
    try {
      const env = {
        ...(await envFileOf(service, envFile)),
        PATH: `${join(folder, 'node_modules', '.bin')}:${process.env['PATH']}`,
        HOME: home,
        PLINTH_FORGE1_APP_CLIENT_SECRET: 'secret',
      };
      const commands = ['plinth init && plinth up && plinth down'];
      const terminal = startTerminal({ columns: 80, rows: 30 }, { commands, folder: work, env });
      await answerInit(terminal, 'my-first', undefined);
      await terminal.answer(/Make it\? \[y\/N\] $/, 'y');
      await terminal.answer(/Type the name of the project to remove it: $/, 'my-first');
      const seen = (await terminal.ended).map(({ text }) => text).join('');
      expect(seen)
        .to.include('my-first is removed.')
        .and.not.match(/[Ww]arning|Error/);
      const { stdout } = spawnSync(bin, ['beta', 'bootstrap-cloud', 'list', '--json'], { env, encoding: 'utf8' });
      const { bootstraps } = JSON.parse(stdout);
      expect(bootstraps.map(({ name, state }: Record<string, string>) => [name, state])).to.deep.equal([
        ['my-first', 'removed'],
      ]);
    } finally {
      service.child.kill('SIGINT');
      await service.ended;
    }
  });
});
