/** The command line as one executable, built and run where there is neither Node nor a package.json. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { linuxAmd64Fault } from '../../shared/linux-binary.js';
import { sha256 } from '../../shared/sha256.js';
import { flagsRelease, version } from '../../shared/version.js';
import { bootstrap, five, watch } from '../cli/run-cli.js';
import { createService, json, planReply } from '../cli/service.js';

const build = () =>
  execFileSync(process.execPath, [fileURLToPath(new URL('../../tools/bundle/build-binary.js', import.meta.url))]);
const sha256Of = (file: string) => sha256(readFileSync(file));
const built = join('dist', 'bin', 'plinth-linux-amd64');

describe('the single executable', () => {
  let folder: string;
  before(() => {
    build();
    folder = mkdtempSync(join(tmpdir(), 'plinth-single-'));
    cpSync(built, join(folder, 'plinth'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));
  const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    spawnSync(join(folder, 'plinth'), args, { cwd: folder, env, encoding: 'utf8' });

  it('is for Linux on amd64, and lies where its checksum says', () => {
    expect(linuxAmd64Fault(readFileSync(built))).to.equal(undefined);
    const path = `v${version}/${sha256Of(built)}/plinth-linux-amd64`;
    const released = join('dist', 'release');
    expect(readFileSync(join(released, 'plinth-linux-amd64.sha256'), 'utf8')).to.equal(`${sha256Of(built)}  ${path}\n`);
    expect(sha256Of(join(released, path))).to.equal(sha256Of(built));
  });

  it('holds, and has beside it, whose work is in it: Node itself and each package', () => {
    const notices = readFileSync(`${built}.THIRD_PARTY_NOTICES`);
    expect(notices.toString())
      .to.include('Node.js is licensed for use as follows')
      .and.match(/^zod \d/m)
      .and.match(/^ssh2 \d/m);
    expect(readFileSync(built).includes(notices), 'in the executable').to.equal(true);
    const released = join('dist', 'release', `v${version}`, sha256Of(built), 'plinth-linux-amd64.THIRD_PARTY_NOTICES');
    expect(readFileSync(released).equals(notices)).to.equal(true);
  });

  it('comes out the same from the same sources', () => {
    const before = sha256Of(built);
    build();
    expect(sha256Of(built)).to.equal(before);
  });

  it('tells its version and its help in an empty environment', () => {
    expect(run(['--version'])).to.include({ status: 0, stdout: `${version}\nflags of ${flagsRelease}\n`, stderr: '' });
    const { stdout } = run(['--version', '--json']);
    expect(JSON.parse(stdout)).to.deep.equal({
      type: 'result',
      exitCode: 0,
      name: 'plinth',
      version,
      flags: flagsRelease,
    });
    const help = run(['beta', 'bootstrap-cloud', '--help']);
    expect(help).to.include({ status: 0, stderr: '' });
    expect(help.stdout).to.include('--remote-cli-binary');
  });

  it('takes no orders for Node: neither its options nor the environment', () => {
    expect(run(['--version'], { NODE_OPTIONS: '--require=/nowhere.js' })).to.include({ status: 0, stderr: '' });
    expect(run(['--eval', 'process.exit(77)']).status).to.equal(2);
  });

  it('says what is wrong with a command line, all at once', () => {
    const { status, stderr } = run([...bootstrap, '--dry-run', '--region=nowhere']);
    expect(status).to.equal(2);
    for (const flag of ['--project-name', '--billing-account', '--base-domain']) expect(stderr).to.include(flag);
  });

  it('asks the service for the plan of a dry run', async () => {
    const service = await createService();
    service.instead.set('POST /bootstraps', [(response) => json(response, 200, planReply())]);
    const env = { PLINTH_ENDPOINT: service.url, PLINTH_TOKEN: 'token-of-alice', HOME: folder };
    try {
      const child = spawn(join(folder, 'plinth'), [...bootstrap, ...five, '--dry-run'], { cwd: folder, env });
      const { code, stdout, stderr } = await watch(child).ended;
      expect(code, stderr).to.equal(0);
      expect(stdout).to.include('Cloud project');
    } finally {
      await service.close();
    }
  });
});
