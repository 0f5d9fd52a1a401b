/** The command line as an npm package: what is in it, and that it runs in an empty folder with what comes along and no more. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { version } from '../../shared/version.js';

describe('the npm package', () => {
  let folder: string;
  let tarball: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'plinth-packed-'));
    const script = fileURLToPath(new URL('../../docs/pack-cli.js', import.meta.url));
    tarball = execFileSync(process.execPath, [script, folder], { encoding: 'utf8' }).trim();
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

  it('holds the program and the changes: no sources, tests or maps', () => {
    expect(basename(tarball)).to.equal(`plinth-${version}.tgz`);
    const files = execFileSync('tar', ['-tf', tarball], { encoding: 'utf8' }).trim().split('\n');
    expect(files).to.include.members(['package/package.json', 'package/main.js', 'package/CHANGELOG.md']);
    const others = files.filter(
      (file) => !/^package\/(?:package\.json|main\.js|CHANGELOG\.md|chunks\/[\w.-]+\.js)$/.test(file),
    );
    expect(others).to.deep.equal([]);
  });

  it('asks for what the command line loads, and nothing that functions need', () => {
    const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
    const manifest = read(join(folder, 'node_modules', 'plinth', 'package.json'));
    expect(manifest).to.include({ name: 'plinth', version }).and.not.have.any.keys('scripts', 'devDependencies');
    expect(Object.keys(manifest.dependencies)).to.have.members(['google-auth-library', 'ssh2', 'yaml']);
    expect(readdirSync(join(folder, 'node_modules'))).to.not.include('@google-cloud');
    const lock = read(join(folder, 'package-lock.json'));
    expect(Object.keys(lock.packages).length).to.be.lessThan(80);
  });

  it('runs where it was installed', () => {
    expect(plinth('--version')).to.include({ status: 0, stdout: `${version}\n`, stderr: '' });
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
});
