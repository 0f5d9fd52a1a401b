/** Jobs on a machine with OpenSSH: begun once, followed to the last byte by whoever asks, lost when they are lost. */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Host, Job, JobLook, Remote } from '../../functions/remote/remote.js';
import { createRemote } from '../../functions/remote/remote.js';
import { problemOf } from './problem-of.js';
import { type Sshd, startSshd } from './sshd.js';

describe('a job on a machine', () => {
  let sshd: Sshd;
  const remotes: Remote[] = [];
  const attach = (): Promise<Host> => {
    const remote = createRemote({});
    remotes.push(remote);
    return remote.host({ bootstrapId: 'b1', jumpbox: sshd.machine, privateKey: sshd.privateKey });
  };
  const drop = (): Promise<void> => remotes.pop()?.close() ?? Promise.resolve();
  let host: Host;
  before(async () => {
    sshd = await startSshd();
    host = await attach();
  });
  after(async () => {
    for (const remote of remotes) await remote.close();
    await sshd?.stop();
  });

  async function follow(job: Job, from = ''): Promise<{ log: string; end: JobLook }> {
    let log = from;
    for (;;) {
      const look = await job.poll(Buffer.byteLength(log), { waitSeconds: 5, maxBytes: 1000 });
      log += look.bytes.toString();
      if (look.state !== 'running' && look.size === Buffer.byteLength(log)) return { log, end: look };
    }
  }

  it('runs a script once, and tells its log and its exit code', async () => {
    const job = host.job('once');
    await job.start('echo one; sleep 0.3; echo two >&2; exit 3');
    const { log, end } = await follow(job);
    expect({ log, state: end.state, exitCode: end.exitCode }).to.deep.equal({
      log: 'one\ntwo\n',
      state: 'exited',
      exitCode: 3,
    });
    await job.start('echo one; sleep 0.3; echo two >&2; exit 3');
    expect((await job.poll(0)).size).to.equal(8);
  });

  it('is unknown before it is started', async () => {
    expect((await host.job('never').poll(0)).state).to.equal('unknown');
  });

  it('refuses another script under the same id', async () => {
    await host.job('same').start('true');
    expect((await problemOf(host.job('same').start('false'))).code).to.equal('conflict');
  });

  it('begins once when eight start it at once', async () => {
    const marks = `${sshd.folder}/marks`;
    await Promise.all(Array.from({ length: 8 }, () => host.job('eight').start(`echo run >> ${marks}; echo done`)));
    expect((await follow(host.job('eight'))).log).to.equal('done\n');
    expect((await host.exec(`cat ${marks}`)).stdout).to.equal('run\n');
  });

  it('goes on when its starter is cut off, twice, and the third reads the same log', async () => {
    const script = `for n in $(seq 40); do echo "line $n"; sleep 0.05; done; echo ran >> ${sshd.folder}/ran`;
    const expected = Array.from({ length: 40 }, (_, n) => `line ${n + 1}\n`).join('');
    let log = '';
    for (const _ of [1, 2]) {
      const starter = (await attach()).job('long');
      await starter.start(script);
      log += (await starter.poll(Buffer.byteLength(log), { maxBytes: 70, waitSeconds: 1 })).bytes.toString();
      await starter.poll(0, { waitSeconds: 20, signal: AbortSignal.timeout(20) }).catch(() => undefined);
      await drop();
    }
    const third = (await attach()).job('long');
    await third.start(script);
    const { log: whole, end } = await follow(third, log);
    expect(whole).to.equal(expected);
    expect(end.exitCode).to.equal(0);
    expect((await third.poll(0, { maxBytes: 10_000 })).bytes.toString()).to.equal(expected);
    expect((await host.exec(`cat ${sshd.folder}/ran`)).stdout).to.equal('ran\n');
  });

  it('is lost when what runs it is killed, and kill takes the rest of it down', async () => {
    const job = host.job('lost');
    await job.start('echo begun; sleep 300');
    sshd.inside('kill -9 $(cut -d" " -f1 /var/lib/plinth/jobs/lost/run)');
    expect((await job.poll(0)).state).to.equal('lost');
    await job.kill();
    expect((await host.exec('pgrep -f "^/bin/bash /var/lib/plinth/jobs/lost/script" | wc -l')).stdout.trim()).to.equal(
      '0',
    );
    await job.start('echo begun; sleep 300');
    expect((await job.poll(0)).state).to.equal('lost');
  });

  it('ends with all that it started when it is killed', async () => {
    const job = host.job('killed');
    await job.start('echo begun; sleep 301 & sleep 302; wait');
    await job.poll(0, { waitSeconds: 2 });
    await job.kill();
    const { end } = await follow(job);
    expect(end.state).to.equal('exited');
    expect(end.exitCode).to.be.above(128);
    expect((await host.exec("pgrep -fx 'sleep 30[12]' | wc -l")).stdout.trim()).to.equal('0');
  });

  /** While `work` goes on the machine's `cat` does this, as a shell has it, before it shows who a process is. */
  async function withCat(id: string, instead: (until: string) => string, work: () => Promise<void>): Promise<void> {
    const place = `${sshd.folder}/${id}`;
    mkdirSync(place);
    copyFileSync('/bin/cat', `${place}/real`);
    const program = `#!/bin/sh
case "$1" in /proc/*/stat) [ -e ${place}/over ] || ${instead(`[ -e ${place}/over ]`)} ;; esac
exec ${place}/real "$@"
`;
    writeFileSync(`${place}/cat`, program, { mode: 0o755 });
    // It stays as long as the machine does: a shell may just be about to read it.
    sshd.inside(`mount --bind ${place}/cat /bin/cat`);
    try {
      await work();
    } finally {
      writeFileSync(`${place}/over`, '');
    }
  }
  /** Of none but of the one that runs the job. */
  const withoutNotes = (id: string, work: () => Promise<void>): Promise<void> => {
    const run = `/var/lib/plinth/jobs/${id}/run`;
    const isOther = `[ -e ${run} ] && [ "$1" != "/proc/$(cut -d' ' -f1 ${run})/stat" ]`;
    return withCat(id, (over) => `if ${isOther}; then until ${over}; do sleep 0.05; done; fi`, work);
  };

  it('does not begin where it cannot be noted who runs it', async () => {
    const job = host.job('unknown-runner');
    const begin = (): Promise<void> => job.start('echo ran');
    await withCat(
      'unknown-runner',
      () => 'exit 1',
      async () => {
        expect((await problemOf(begin())).detail).to.include('it has not begun yet');
      },
    );
    await begin();
    expect((await follow(job)).log).to.equal('ran\n');
  });

  it('is ended as a whole, also when what runs it dies before it has noted what is to be ended', async () => {
    const job = host.job('unnoted');
    await withoutNotes('unnoted', async () => {
      await job.start('sleep 304');
      sshd.inside('kill -9 $(cut -d" " -f1 /var/lib/plinth/jobs/unnoted/run)');
      expect((await job.poll(0)).state).to.equal('lost');
      await job.kill();
    });
    const rest = (): string => sshd.inside("pgrep -f '[j]obs/unnoted/script|[w]rap unnoted$' || :");
    for (let looks = 0; rest() !== ''; looks++) {
      expect(looks, 'it runs on').to.be.below(100);
      await sleep(50);
    }
  });

  it('can be ended after its script, also when that is over at once', async () => {
    const job = host.job('over');
    const sleeper = `${sshd.folder}/sleeper`;
    // Long enough for the script to be over, if it is not held up.
    await withoutNotes('over', async () => {
      await job.start(`sleep 305 & echo $! > ${sleeper}`);
      await sleep(500);
    });
    await follow(job);
    // Not a zombie: the system's first process may take its time to hear of the end.
    const isThere = (): boolean => /\) [^Z] /.test(sshd.inside(`cat /proc/$(cat ${sleeper})/stat 2>/dev/null || :`));
    expect(isThere()).to.equal(true);
    await job.kill();
    expect(isThere()).to.equal(false);
  });

  it('has one winner of its claim once it has ended', async () => {
    const job = host.job('claimed');
    await job.start('true');
    await follow(job);
    const tokens = await Promise.all(['a', 'b', 'c'].map((token) => job.claim(token)));
    expect(new Set(tokens).size).to.equal(1);
    expect(await job.claim('d')).to.equal(tokens[0]);
  });

  it('is whose it was claimed with last while it runs', async () => {
    const job = host.job('adopted');
    await job.start(`until [ -e ${sshd.folder}/adopted ]; do sleep 0.05; done`);
    expect(await job.claim('first')).to.equal('first');
    expect(await job.claim('second')).to.equal('second');
    await host.exec(`touch ${sshd.folder}/adopted`);
    await follow(job);
    expect(await job.claim('third')).to.equal('second');
  });

  it('kills nobody else when its number is given away', async () => {
    const job = host.job('renumbered');
    await job.start('sleep 303 & wait');
    await job.poll(0, { waitSeconds: 1 });
    const group = '/var/lib/plinth/jobs/renumbered/group';
    const was = sshd.inside(`cat ${group}`).trim();
    for (const other of [was.replace(/ (\d+) /, ' 1 '), was.replace(/\S+$/, 'another-boot')]) {
      sshd.inside(`echo '${other}' > ${group}`);
      await job.kill();
      expect((await job.poll(0)).state, other).to.equal('running');
    }
    sshd.inside(`echo '${was}' > ${group}`);
    await job.kill();
    expect((await follow(job)).end.state).to.equal('exited');
  });

  it('tells of output that does not end with a line, byte by byte', async () => {
    const job = host.job('bytes');
    await job.start("head -c 5000 /dev/zero; printf 'é'");
    let bytes = Buffer.alloc(0);
    for (let look = await job.poll(0, { waitSeconds: 5, maxBytes: 1 }); ; ) {
      bytes = Buffer.concat([bytes, look.bytes]);
      if (bytes.length === look.size && look.state === 'exited') break;
      look = await job.poll(bytes.length, { waitSeconds: 5, maxBytes: 4000 });
    }
    expect(bytes).to.deep.equal(Buffer.concat([Buffer.alloc(5000), Buffer.from('é')]));
  });
});
