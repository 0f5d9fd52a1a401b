/** What stands for skopeo, docker-registry and htpasswd in simulated machines, judged by the distribution's own. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { sha256 } from '../../shared/sha256.js';
import { copiesImages, makeImage } from './copying-images.js';
import { distribution, type Lab, makeLab, password, run, standIns, user } from './registry-programs.js';

describe("images are copied by the distribution's skopeo, to what stands for docker-registry", function () {
  this.timeout(120_000);
  copiesImages(distribution.skopeo, { ...standIns, htpasswd: distribution.htpasswd });
});

describe("images are copied by what stands for skopeo, to the distribution's docker-registry", function () {
  this.timeout(120_000);
  copiesImages(standIns.skopeo, { ...distribution, htpasswd: standIns.htpasswd });
});

describe("what stands for skopeo, docker-registry and htpasswd, beside the distribution's", function () {
  this.timeout(120_000);
  let lab: Lab;
  before(async () => {
    lab = await makeLab();
  });
  after(() => lab?.remove());

  it('stores images as the other does, and each serves what the other stored', async () => {
    const digest = await makeImage(join(lab.folder, 'image'));
    for (const [writer, reader] of [
      [standIns, distribution],
      [distribution, standIns],
    ] as const) {
      const written = await lab.registry(writer);
      const from = `oci:${join(lab.folder, 'image')}:1.0`;
      const login = (server: string): string => `--authfile=${lab.logins([server])}`;
      const pushed = await run(distribution.skopeo, [
        ...['--insecure-policy', 'copy', '--all', login(written.server), `--dest-cert-dir=${lab.certificates}`],
        ...[from, `docker://${written.server}/a/b:1.0`],
      ]);
      expect(pushed.code, pushed.stderr).to.equal(0);
      await written.kill();
      const { server } = await lab.registry(reader, written.folder);
      const again = join(lab.folder, `pulled-from-${reader === standIns ? 'ours' : 'theirs'}`);
      const pulled = await run(distribution.skopeo, [
        ...['--insecure-policy', 'copy', '--all', login(server), `--src-cert-dir=${lab.certificates}`],
        ...[`docker://${server}/a/b:1.0`, `oci:${again}:1.0`],
      ]);
      expect(pulled.code, pulled.stderr).to.equal(0);
      const listed = await run(distribution.skopeo, [
        ...['list-tags', login(server), `--cert-dir=${lab.certificates}`, `docker://${server}/a/b`],
      ]);
      expect(JSON.parse(listed.stdout)).to.deep.include({ Tags: ['1.0'] });
      expect(`sha256:${sha256(readFileSync(join(again, 'blobs', 'sha256', digest.slice(7))))}`).to.equal(digest);
    }
  });

  it('says of what is wrong what the other says', async () => {
    const { server } = await lab.registry(distribution);
    await makeImage(join(lab.folder, 'small'));
    const from = `oci:${join(lab.folder, 'small')}:1.0`;
    const [no, yes] = [`--authfile=${lab.logins([])}`, `--authfile=${lab.logins([server])}`];
    const trust = `--cert-dir=${lab.certificates}`;
    for (const args of [
      ['copy', '--no-such-flag', 'a', 'b'],
      ['--all', 'copy'],
      ['copy', '-x', 'a', 'b'],
      ['copy', '--tls-verify=maybe', 'a', 'b'],
      ['copy', '--retry-times'],
      ['inspect', '--raw'],
      ['inspect', '--raw', 'nonsense'],
      [],
      ['inspect', '--raw', yes, `docker://${server}/a:1`],
      ['inspect', '--raw', yes, 'docker://127.0.0.1:1/a:1'],
      ['inspect', '--raw', '--tls-verify=false', yes, 'docker://127.0.0.1:1/a:1'],
      ['inspect', '--raw', trust, no, `docker://${server}/a:1`],
      ['inspect', '--raw', trust, yes, `docker://${server}/a:1`],
      ['inspect', '--raw', trust, yes, `docker://${server}/a@sha256:${'0'.repeat(64)}`],
      ['--insecure-policy', 'copy', '--all', yes, from.replace(/1\.0$/, '2.0'), `docker://${server}/a:1`],
      ['--insecure-policy', 'copy', '--all', '--quiet', no, `--dest-${trust.slice(2)}`, from, `docker://${server}/a:1`],
    ]) {
      const [ours, theirs] = [await run(standIns.skopeo, args), await run(distribution.skopeo, args)];
      const messageOf = (stderr: string) => /level=fatal msg=.*/.exec(stderr)?.[0];
      expect(messageOf(ours.stderr), args.join(' ')).to.equal(messageOf(theirs.stderr));
      expect([ours.code, ours.stdout], args.join(' ')).to.deep.equal([theirs.code, theirs.stdout]);
    }
  });

  it('writes a user as the other reads one', async () => {
    for (const [writer, reader] of [
      [standIns, distribution],
      [distribution, standIns],
    ] as const) {
      const written = await run(writer.htpasswd, ['-niB', user], { input: password });
      expect(written.stdout).to.match(/^platform:\$2y\$05\$[./A-Za-z0-9]{53}\n\n$/);
      const { server, folder } = await lab.registry({ ...reader, htpasswd: writer.htpasswd });
      const ask = ['inspect', '--raw', '--tls-verify=false', `docker://${server}/a:1`];
      const { stderr } = await run(standIns.skopeo, [...ask, `--authfile=${lab.logins([server])}`]);
      expect(stderr, folder).to.include('manifest unknown');
    }
    const file = join(lab.folder, 'users');
    const ours = await run(standIns.htpasswd, ['-niB', user], { input: `${password}\n` });
    writeFileSync(file, ours.stdout);
    expect((await run(distribution.htpasswd, ['-vi', file, user], { input: password })).code).to.equal(0);
    expect((await run(distribution.htpasswd, ['-vi', file, user], { input: 'wrong' })).code).to.equal(3);
  });
});
