/** A host on OpenSSH's own server: commands, uploads, big files, what goes wrong. */
import { createHash, randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { FileSource, Host, Remote } from '../../functions/remote/remote.js';
import { createRemote } from '../../functions/remote/remote.js';
import { sha256 } from '../../shared/sha256.js';
import { makeKey, withoutComment } from './keys.js';
import { problemOf } from './problem-of.js';
import { type Sshd, startSshd } from './sshd.js';

const sourceOf = (bytes: Buffer, on?: (offset: number) => void): FileSource => ({
  size: bytes.length,
  sha256: sha256(bytes),
  async *read(offset) {
    on?.(offset);
    for (let at = offset; at < bytes.length; at += 100_000) yield bytes.subarray(at, at + 100_000);
  },
});

describe('a machine with OpenSSH', () => {
  let sshd: Sshd;
  let remote: Remote;
  let host: Host;
  const request = () => ({ bootstrapId: 'b1', jumpbox: sshd.machine, privateKey: sshd.privateKey });
  before(async () => {
    sshd = await startSshd();
    remote = createRemote({}, { backoffSeconds: 1 });
    host = await remote.host(request());
  });
  after(async () => {
    await remote?.close();
    await sshd?.stop();
  });

  it('answers a command with its exit code, both outputs, and what was given on stdin', async () => {
    const { exitCode, stdout, stderr } = await host.exec('cat; echo no >&2; exit 7', { stdin: 'yes' });
    expect({ exitCode, stdout, stderr }).to.deep.equal({ exitCode: 7, stdout: 'yes', stderr: 'no\n' });
  });

  it('tells the end by a signal as a shell does', async () => {
    expect((await host.exec('kill -KILL $$')).exitCode).to.equal(137);
  });

  it('gives up a command after its time, and one that is called off', async () => {
    const late = await problemOf(host.exec('sleep 30', { timeoutSeconds: 0.2 }));
    expect(late.code).to.equal('host-unreachable');
    const off = new AbortController();
    setTimeout(() => off.abort(new Error('called off')), 100);
    const error = await host.exec('sleep 30', { signal: off.signal }).catch((thrown: unknown) => thrown);
    expect((error as Error).message).to.equal('called off');
  });

  it('runs more commands at once than OpenSSH takes sessions, over one login', async () => {
    const all = await Promise.all(Array.from({ length: 40 }, (_, n) => host.exec(`sleep 0.05; echo ${n} $PPID`)));
    expect(all.map(({ exitCode }) => exitCode)).to.deep.equal(all.map(() => 0));
    expect(new Set(all.map(({ stdout }) => stdout.split(' ')[1])).size).to.equal(1);
  });

  it('refuses a machine that shows another key than the published one, and names both', async () => {
    const other = withoutComment(makeKey().publicKey);
    const jumpbox = { ...sshd.machine, hostKeys: [other] };
    const problem = await problemOf(remote.host({ ...request(), jumpbox }));
    expect(problem.code).to.equal('host-changed');
    expect(problem.kind.retry).to.equal('none');
    const print = (line: string) =>
      `SHA256:${createHash('sha256')
        .update(Buffer.from(line.split(' ')[1] ?? '', 'base64'))
        .digest('base64')
        .replace(/=+$/, '')}`;
    expect(problem.detail)
      .to.include(print(other))
      .and.include(print(sshd.machine.hostKeys[0] ?? ''));
  });

  it('refuses a machine that published none', async () => {
    const problem = await problemOf(remote.host({ ...request(), jumpbox: { ...sshd.machine, hostKeys: [] } }));
    expect(problem.code).to.equal('host-changed');
  });

  it('waits between logins that are refused, and asks for that time', async () => {
    // Of its own: who is refused is kept from the door for a while, whatever key it then brings.
    const remote = createRemote({}, { backoffSeconds: 1 });
    const stranger = { ...request(), privateKey: sshd.strangerKey };
    const [first, ...others] = await Promise.all([1, 2, 3].map(() => problemOf(remote.host(stranger))));
    expect(first?.code).to.equal('host-login');
    expect(first?.kind.retry).to.equal('propagation');
    expect(first?.retryAfterSeconds).to.equal(1);
    expect(others.map(({ code }) => code)).to.deep.equal(['host-login', 'host-login']);
  });

  it('lets others in at the same address while the login of one bootstrap is refused', async () => {
    const remote = createRemote({}, { backoffSeconds: 30 });
    try {
      const other = { ...request(), bootstrapId: 'b2', privateKey: sshd.strangerKey };
      expect((await problemOf(remote.host(other))).code).to.equal('host-login');
      expect((await (await remote.host(request())).exec('echo in')).stdout).to.equal('in\n');
      expect((await problemOf(remote.host(other))).code).to.equal('host-login');
    } finally {
      await remote.close();
    }
  });

  it('says of a key that cannot be read that it is the key', async () => {
    const problem = await problemOf(createRemote({}).host({ ...request(), privateKey: 'no key' }));
    expect(problem.code).to.equal('bad-input');
  });

  it('uploads as a whole, with mode, whatever the path and the bytes', async () => {
    const path = `${sshd.folder}/a b/it's $HOME.bin`;
    const bytes = randomBytes(300_000);
    await host.upload(path, bytes, { mode: 0o640 });
    expect(await host.read(path)).to.deep.equal(bytes);
    expect((await host.exec(`stat -c %a "${sshd.folder}/a b/"*`)).stdout).to.equal('640\n');
    await host.upload(path, 'shorter', { mode: 0o600 });
    expect((await host.read(path))?.toString()).to.equal('shorter');
    expect(await host.read(`${sshd.folder}/none`)).to.equal(undefined);
  });

  it('leaves what stands when the content is not what its hash says', async () => {
    const path = `${sshd.folder}/kept`;
    await host.upload(path, 'kept', { mode: 0o600 });
    const problem = await problemOf(host.upload(path, 'half', { mode: 0o600, sha256: '0'.repeat(64) }));
    expect(problem.code).to.equal('host-unreachable');
    expect((await host.read(path))?.toString()).to.equal('kept');
    expect((await host.exec(`ls -A ${sshd.folder} | grep -c '^.plinth'`)).stdout).to.equal('0\n');
  });

  it('names machine and path when a disk is full', async () => {
    const path = `${sshd.smallDisk}/large`;
    const problem = await problemOf(host.upload(path, Buffer.alloc(3_000_000), { mode: 0o600 }));
    expect(problem.code).to.equal('host-full');
    expect(problem.detail).to.equal(`There is no room left on jumpbox for ${path}.`);
    expect((await host.exec(`ls -A ${sshd.smallDisk}`)).stdout).to.equal('');
  });

  it('sends a big file with progress, and after a break only what was missing', async () => {
    const bytes = randomBytes(8_000_000);
    const path = `${sshd.folder}/big`;
    const off = new AbortController();
    const broken = host.send(path, sourceOf(bytes), {
      mode: 0o755,
      signal: off.signal,
      onProgress: (there) => {
        if (there > 3_000_000) off.abort(new Error('cut'));
      },
    });
    expect(((await broken.catch((error: unknown) => error)) as Error).message).to.equal('cut');
    expect(await host.read(path)).to.equal(undefined);
    const from: number[] = [];
    const progress: number[] = [];
    await host.send(
      path,
      sourceOf(bytes, (offset) => from.push(offset)),
      {
        mode: 0o755,
        onProgress: (there) => progress.push(there),
      },
    );
    expect(from[0]).to.be.above(3_000_000);
    expect(progress.at(-1)).to.equal(bytes.length);
    expect(await host.read(path)).to.deep.equal(bytes);
    expect((await host.exec(`stat -c %a ${path}; ls -A ~/.plinth-uploads`)).stdout).to.equal('755\n');
  });

  it('makes a new connection when the one it has was cut off', async () => {
    const problem = await problemOf(host.exec('kill $PPID; sleep 5'));
    expect(problem.code).to.equal('host-unreachable');
    expect(problem.kind.retry).to.equal('transient');
    expect((await host.exec('echo again')).stdout).to.equal('again\n');
  });
});
