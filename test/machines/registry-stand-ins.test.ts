/** What stands for skopeo, docker-registry and htpasswd in simulated machines, with Node alone. Beside the real ones: registry-stand-ins.tools.test.ts. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { makeImage } from './copying-images.js';
import { type Lab, makeLab, type Program, run, standIns, user } from './registry-programs.js';

describe('what stands for skopeo, docker-registry and htpasswd', function () {
  this.timeout(60_000);
  let lab: Lab;
  before(async () => {
    lab = await makeLab();
  });
  after(() => lab?.remove());

  const refused = async (program: Program, ...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(program, args, { input: 'secret' });
    expect([code === 0, stdout]).to.deep.equal([false, '']);
    return stderr;
  };

  it('are what the packages of the archive of simulated machines hold', () => {
    for (const path of ['skopeo/bin/skopeo', 'docker-registry/bin/docker-registry', 'apache2-utils/bin/htpasswd']) {
      const file = join('local', 'machines', 'archive', path);
      const [, program = ''] = /^exec node \/run\/plinth-local\/(\S+) "\$@"$/m.exec(readFileSync(file, 'utf8')) ?? [];
      expect([existsSync(program), statSync(file).mode & 0o111], path).to.deep.equal([true, 0o111]);
    }
  });

  it('refuse what the real ones know, and they do not stand for', async () => {
    const { skopeo, dockerRegistry, htpasswd } = standIns;
    const places = ['oci:there:1.0', 'docker://127.0.0.1:1/a:1.0'];
    expect(await refused(skopeo, 'delete', ...places)).to.include('unknown command');
    expect(await refused(skopeo, 'inspect', places[1] ?? '')).to.include('--raw');
    expect(await refused(skopeo, 'copy', 'docker://127.0.0.1:1/a', 'dir:b')).to.include('writing to dir');
    expect(await refused(skopeo, 'copy', 'dir:b', 'docker://127.0.0.1:1/a')).to.include('the transport dir');
    expect(await refused(skopeo, 'copy', 'oci:there:1.0')).to.include('Exactly two arguments expected');
    expect(await refused(dockerRegistry, 'garbage-collect', 'config.yml')).to.include('unknown command');
    expect(await refused(dockerRegistry, 'serve', '--no-such-flag')).to.include('unknown flag');
    expect(await refused(htpasswd, '-nbB', user, 'secret')).to.include('-b is unknown');
    expect(await refused(htpasswd, '-ni', user)).to.include('-B is missing');
  });

  it('refuse a config with a key that they do not know, by its name', async () => {
    const { folder, kill } = await lab.registry(standIns);
    await kill();
    const path = join(folder, 'config.yml');
    writeFileSync(path, `${readFileSync(path, 'utf8')}proxy:\n  remoteurl: https://registry.example.com\n`);
    expect(await refused(standIns.dockerRegistry, 'serve', path)).to.match(/^configuration error: .*"proxy"/);
  });

  it('keep what was pushed when the registry is killed', async () => {
    const before = await lab.registry(standIns);
    await makeImage(join(lab.folder, 'kept'));
    const options = [`--authfile=${lab.logins([before.server])}`, `--dest-cert-dir=${lab.certificates}`];
    const from = `oci:${join(lab.folder, 'kept')}:1.0`;
    const pushed = await run(standIns.skopeo, ['copy', '--all', ...options, from, `docker://${before.server}/a:1.0`]);
    expect(pushed.code, pushed.stderr).to.equal(0);
    await before.kill();
    const { server } = await lab.registry(standIns, before.folder);
    const login = [`--authfile=${lab.logins([server])}`, `--cert-dir=${lab.certificates}`];
    const read = await run(standIns.skopeo, ['inspect', '--raw', ...login, `docker://${server}/a:1.0`]);
    expect(read.code, read.stderr).to.equal(0);
  });
});
