/**
 * kill -9 at seeded moments, on Google's emulators: the functions, the caller, all that stands for Google. Every time the
 * same command brings the bootstrap to its end, and nothing is made twice.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { ageIdentitiesIn, runPlinth } from '../../local/demo/plinth-process.js';
import { isAlive } from '../../local/emulators/emulators.js';
import { openStateFolder } from '../../local/stack/state-folder.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { decryptSecrets, isWrittenByHosts } from '../../shared/install-config/secrets.js';
import { type Halves, makeHalves, type Process, startLocal, until } from '../support/halves.js';
import {
  type Caller,
  expectAll,
  historyAt,
  madeTwice,
  makeCaller,
  type Outcome,
  outcomeOf,
  succeeded,
} from '../support/scene.js';

/** Seeded and spread over the time that a bootstrap takes. */
const moment = (seed: number, n: number): number => {
  const mixed = Math.imul(seed * 7919 + n * 104_729, 2_654_435_761) >>> 0;
  return 200 + (mixed % 6000);
};

describe('kill -9', function () {
  this.timeout(300_000);
  let halves: Halves;

  before(async () => {
    halves = makeHalves(['--time-factor', '0.02']);
    await halves.start('cloud');
    await halves.start('functions');
  });
  after(async () => {
    if (halves === undefined) return;
    const pids = halves.record().emulators.map(({ pid }) => pid);
    expect(await halves.stop()).to.deep.equal([0, 0]);
    expect(pids.filter(isAlive)).to.deep.equal([]);
  });

  const alice = (): Promise<Caller> => makeCaller({ url: halves.url(), record: halves.record() }, 'alice@example.com');

  /** A caller whose very first request met the kill is told to try again. */
  async function toTheEnd(caller: Caller, name: string, first: Outcome): Promise<BootstrapView> {
    if (first.exitCode === 0) return succeeded(first);
    expect([6, 7], first.stderr).to.include(first.exitCode);
    return succeeded(await caller.bootstrap(name));
  }

  for (const seed of [1, 2, 3, 4]) {
    it(`of the functions twice, seed ${seed}: the caller follows on, or goes on by the same command, to the end`, async () => {
      const caller = await alice();
      const running = caller.start(`killed-${seed}`);
      for (const n of [1, 2]) {
        await sleep(moment(seed, n));
        await halves.kill('functions');
        await sleep(moment(seed, n + 2) / 4);
        await halves.start('functions');
      }
      await expectAll(halves.record(), await toTheEnd(caller, `killed-${seed}`, outcomeOf(await running.ended)));
      expect(madeTwice(await historyAt(halves.record()))).to.deep.equal([]);
    });
  }

  it('of the functions again and again, and of the caller, in an install: each job ran once, its log is whole, and all secrets agree', async () => {
    const caller = await alice();
    const flags = { 'install-version': '1.0.0', 'install-skip-steps': ['postgres'] };
    const running = caller.spawn('killed-install', flags);
    for (const n of [1, 2, 3, 4, 5]) {
      await sleep(moment(17, n) * 1.5);
      if (n === 3) running.child.kill('SIGKILL');
      await halves.kill('functions');
      await halves.start('functions');
    }
    const first = await running.ended;
    const view = succeeded(first.exitCode === 0 ? outcomeOf(first) : await caller.bootstrap('killed-install', flags));
    expect(view.instances.filter(({ id }) => /^(package|install:dc1|k0s-ready:dc1)$/.test(id))).to.have.length(3);
    expect(madeTwice(await historyAt(halves.record()))).to.deep.equal([]);

    const said = async (command: string): Promise<string> => {
      const words = ['ssh', 'killed-install', 'jumpbox', '--', 'sudo', 'bash', '-c', `'${command}'`];
      const { exitCode, stdout, stderr } = await runPlinth(['beta', 'bootstrap-cloud', ...words], caller);
      expect(exitCode, stderr).to.equal(0);
      return stdout;
    };
    const jobs = (await said('cd /var/lib/plinth/jobs; ls')).trim().split('\n');
    expect(jobs.map((job) => job.replace(/-[0-9a-f]{12}-/, ' '))).to.deep.equal(
      [...new Set(jobs.map((job) => `${job.replace(/-[0-9a-f]{12}-\d+$/, '')} 1`))],
      'each was begun once',
    );
    for (const job of jobs.filter((each) => each.startsWith('install-'))) {
      const { stdout } = await runPlinth(['beta', 'bootstrap-cloud', 'logs', 'killed-install', 'install:dc1'], caller);
      expect(stdout.trim()).to.equal((await said(`cat /var/lib/plinth/jobs/${job}/log`)).trim());
    }
    const [identity = ''] = ageIdentitiesIn(caller.folder);
    const there = await decryptSecrets(await said(`cat /etc/platform/secrets/prod.vault.yaml`), identity);
    const own = await caller.secrets();
    const common = there.secrets.filter(({ name }) => !isWrittenByHosts(name));
    expect(common).to.deep.equal(own.secrets.filter(({ name }) => !isWrittenByHosts(name)));
  });

  it('of all that stands for Google in an install, its machines with it: they come back, and the same command ends it', async () => {
    const caller = await alice();
    const flags = { 'install-version': '1.0.0', 'install-skip-steps': ['postgres'] };
    const running = caller.start('machines-killed', flags);
    for (const n of [1, 2]) {
      await sleep(2 * moment(19, n));
      await halves.kill('cloud');
      await halves.start('cloud');
    }
    const first = await running.ended;
    const view = succeeded(first.exitCode === 0 ? outcomeOf(first) : await caller.bootstrap('machines-killed', flags));
    await expectAll(halves.record(), view);
    expect(madeTwice(await historyAt(halves.record()))).to.deep.equal([]);
  });

  it('of functions and caller at once: the same command brings it to its end', async () => {
    const caller = await alice();
    const running = caller.spawn('both-killed', { 'multi-dc': true });
    await sleep(moment(9, 1));
    running.child.kill('SIGKILL');
    await halves.kill('functions');
    await running.ended;
    await halves.start('functions');
    const bootstrap = succeeded(await caller.bootstrap('both-killed', { 'multi-dc': true }));
    await expectAll(halves.record(), bootstrap, { multiDc: true });
    expect(madeTwice(await historyAt(halves.record()))).to.deep.equal([]);
  });

  it('of all that stands for Google: it comes back with what it had, and the same command goes on', async () => {
    const caller = await alice();
    const running = caller.start('cloud-killed');
    await sleep(moment(11, 1));
    await halves.kill('cloud');
    await sleep(1000);
    await halves.start('cloud');
    await expectAll(halves.record(), await toTheEnd(caller, 'cloud-killed', outcomeOf(await running.ended)));
    expect(madeTwice(await historyAt(halves.record()))).to.deep.equal([]);
  });

  it('of everything at once, in one process: started again it goes on with what it had', async () => {
    const state = mkdtempSync(join(tmpdir(), 'plinth-whole-'));
    const envFile = join(state, 'env');
    const start = async (): Promise<Process> => {
      rmSync(envFile, { force: true });
      const run = startLocal(['--store', 'emulator', '--time-factor', '0.02', '--state', state, '--env-file', envFile]);
      await until('all is up', () => {
        if (run.child.exitCode !== null) throw new Error(run.output());
        return existsSync(envFile) ? true : undefined;
      });
      return run;
    };
    let whole = await start();
    try {
      const folder = openStateFolder(state);
      const record = () => folder.readCloud() ?? halves.record();
      const caller = await makeCaller(
        { url: folder.readFunctions()?.origin ?? '', record: record() },
        'alice@example.com',
      );
      const running = caller.start('all-killed');
      await sleep(moment(13, 1));
      whole.child.kill('SIGKILL');
      await whole.ended;
      whole = await start();
      await expectAll(record(), await toTheEnd(caller, 'all-killed', outcomeOf(await running.ended)));
      expect(madeTwice(await historyAt(record()))).to.deep.equal([]);
    } finally {
      whole.child.kill('SIGTERM');
      await whole.ended;
      rmSync(state, { recursive: true, force: true });
    }
  });
});
