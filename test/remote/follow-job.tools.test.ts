/**
 * A step that follows a job, by the engine, on a machine with OpenSSH: wherever its function is killed, the script runs once
 * and its log is whole, free of secrets. What was lost, what failed, what an earlier generation began.
 */
import { expect } from 'chai';
import { readEvents } from '../../functions/engine/record/events.js';
import type { AnyStep, StepCall } from '../../functions/engine/step.js';
import { createRemote, type Host, type Job, type Remote } from '../../functions/remote/remote.js';
import { followJob, keepLog } from '../../functions/steps/hosts/follow-job.js';
import { collections } from '../../shared/names.js';
import { toy } from '../engine/toys.js';
import { createWorld, given, Killed, type World } from '../engine/world.js';
import { type Sshd, startSshd } from './sshd.js';

interface Exchange {
  /** The n-th question to the machine, from 1. */
  readonly call: number;
  readonly when: 'before' | 'after';
}

const secret = String(given.forge1AppClientSecret);

describe('a step that follows a job', () => {
  let sshd: Sshd;
  let remote: Remote;
  let host: Host;
  before(async () => {
    sshd = await startSshd();
    remote = createRemote({});
    host = await remote.host({ bootstrapId: 'b1', jumpbox: sshd.machine, privateKey: sshd.privateKey });
  });
  after(async () => {
    await remote?.close();
    await sshd?.stop();
  });

  /** The same host; the process is killed at that exchange, and what is dead asks nothing. */
  function watched(world: World, at?: Exchange): { readonly host: Host; readonly exchanges: () => number } {
    let exchanges = 0;
    const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
      if (world.isDead()) throw new Killed();
      exchanges++;
      const hit = at?.call === exchanges ? at.when : undefined;
      if (hit === 'before') world.die();
      if (world.isDead()) throw new Killed();
      const answer = await work();
      if (hit === 'after') world.die();
      if (world.isDead()) throw new Killed();
      return answer;
    };
    const job = (id: string): Job => {
      const real = host.job(id);
      return {
        id,
        start: (script) => guarded(() => real.start(script)),
        poll: (offset, options) => guarded(() => real.poll(offset, options)),
        claim: (token) => guarded(() => real.claim(token)),
        kill: () => guarded(() => real.kill()),
      };
    };
    const read: Host['read'] = (path) => guarded(() => host.read(path));
    return { host: { ...host, job, read }, exchanges: () => exchanges };
  }

  /** Done when the file is there that the script leaves. */
  function following(world: World, name: string, script: string, on: Host = watched(world).host): AnyStep[] {
    const isThere = async (): Promise<boolean> => (await on.read(`${sshd.folder}/${name}`)) !== undefined;
    return [
      toy(world, 'install', {
        lane: 'host',
        async observe(call) {
          if (!(await isThere())) return undefined;
          await keepLog(call, on, name, script);
          return { thing: name, from: {} };
        },
        run: (call: StepCall) => followJob(call, on, { name, script, what: 'Installing', isThere }),
      }),
    ];
  }

  async function logOf(world: World, id: string): Promise<string> {
    const chunks = await world.store.query({ collection: collections.logs, where: [['bootstrapId', '==', id]] });
    return chunks
      .sort((a, b) => Number(a.data['offset']) - Number(b.data['offset']))
      .map(({ data }) => data['text'])
      .join('');
  }

  const expected = Array.from({ length: 8 }, (_, n) => `line ${n + 1} of <secret>\n`).join('');
  const scriptOf = (name: string): string =>
    `for n in $(seq 8); do echo "line $n of ${secret.slice(0, 9)}""${secret.slice(9)}"; sleep 0.1; done
echo ran >> ${sshd.folder}/${name}-runs
echo done > ${sshd.folder}/${name}`;
  const runsOf = (name: string): string => sshd.inside(`cat ${sshd.folder}/${name}-runs 2>/dev/null || :`);

  async function law(name: string, prepare: (world: World) => Exchange | undefined): Promise<boolean> {
    const world = createWorld();
    const script = scriptOf(name);
    const { bootstrap } = await world.begin(following(world, name, script));
    const on = watched(world, prepare(world));
    const steps = following(world, name, script, on.host);
    await world.drain(steps).catch((error: unknown) => expect(error).to.be.instanceOf(Killed));
    const died = world.isDead();
    for (let tries = 0; (await world.states(bootstrap.id))['install'] !== 'done'; tries++) {
      expect(tries, `${name} goes on`).to.be.below(5);
      if (world.isDead()) world.revive();
      world.pass(300);
      await world.sweep();
      await world.drain(steps);
    }
    expect(await logOf(world, bootstrap.id), name).to.equal(expected);
    expect(runsOf(name), name).to.equal('ran\n');
    expect(JSON.stringify(world.store.dump()), name).not.to.include(secret);
    return died;
  }

  /** A few at once, until killing no longer hits anything. */
  async function everywhere(
    name: string,
    at: (call: number, when: Exchange['when']) => (world: World) => Exchange | undefined,
  ) {
    let hits = 0;
    for (let call = 1; ; call += 4) {
      const points = [0, 1, 2, 3].flatMap((more) =>
        (['before', 'after'] as const).map((when) => [call + more, when] as const),
      );
      const died = await Promise.all(points.map(([nth, when]) => law(`${name}-${nth}-${when}`, at(nth, when))));
      hits += died.filter((each) => each).length;
      if (died.some((each) => !each)) return hits;
    }
  }

  it('runs it once and keeps its whole log when it is killed at any call of the store', async () => {
    const hits = await everywhere('store', (call, when) => (world) => {
      world.kill({ call: world.calls() + call, when });
      return undefined;
    });
    expect(hits).to.be.above(12);
  }).timeout(240_000);

  it('does so when it is killed at any exchange with the machine', async () => {
    expect(await everywhere('exchange', (call, when) => () => ({ call, when }))).to.be.above(8);
  }).timeout(240_000);

  it('begins anew what was lost with its machine, and ends what is left of it', async () => {
    const world = createWorld();
    const script = `[ -e ${sshd.folder}/second ] && long=0 || long=304; echo begun; sleep $long; echo done > ${sshd.folder}/lost`;
    const steps = following(world, 'lost', script);
    const { bootstrap } = await world.begin(steps);
    const run = world.drain(steps);
    const jobs = '/var/lib/plinth/jobs/lost-*';
    const isThere = (file: string) => sshd.inside(`cat ${jobs}/${file} 2>/dev/null || :`) !== '';
    // What the script has said shows that it runs; its group is noted before.
    while (!isThere('log') || !isThere('claim')) await new Promise((resolve) => setTimeout(resolve, 50));
    sshd.inside(`touch ${sshd.folder}/second; kill -9 $(cut -d' ' -f1 ${jobs}/run)`);
    await run;
    expect(await world.states(bootstrap.id)).to.deep.equal({ install: 'done' });
    expect(await logOf(world, bootstrap.id)).to.equal('begun\nbegun\n');
    expect((await host.exec('pgrep -fx "sleep 304" | wc -l')).stdout.trim()).to.equal('0');
  }).timeout(240_000);

  it('is failed with its last words in this generation, also when they were read before, and begun anew in the next', async () => {
    const world = createWorld();
    const script = `echo "no room for ${secret.slice(0, 9)}""${secret.slice(9)}"; [ -e ${sshd.folder}/healed ] || exit 7; echo done > ${sshd.folder}/failing`;
    const steps = following(world, 'failing', script);
    const { bootstrap } = await world.begin(steps);
    await world.drain(steps);
    const { data } = await world.read(bootstrap.id);
    expect(data.instances['install']?.problem?.detail).to.equal(
      'Installing failed on jumpbox with exit code 7: no room for <secret>',
    );
    sshd.inside(`touch ${sshd.folder}/healed`);
    await world.begin(steps);
    await world.drain(steps);
    expect(await world.states(bootstrap.id)).to.deep.equal({ install: 'done' });
    expect(await logOf(world, bootstrap.id)).to.equal('no room for <secret>\n'.repeat(2));
    const [head] = await world.store.query({ collection: collections.logHeads });
    expect(head?.data).to.include({ generation: 2, begins: 'no room for <secret>\n'.length });
  }).timeout(240_000);

  it('follows what an earlier generation began and still runs, and takes its end as its own', async () => {
    for (const [end, state] of [
      ['exit 7', 'failed'],
      ['true', 'done'],
    ] as const) {
      const world = createWorld();
      const name = `earlier-${state}`;
      const script = `echo ran >> ${sshd.folder}/${name}-runs; until [ -e ${sshd.folder}/${name}-go ]; do sleep 0.05; done; echo over; ${end}; echo done > ${sshd.folder}/${name}`;
      const { bootstrap } = await world.begin(following(world, name, script));
      const first = watched(world, { call: 4, when: 'before' });
      await world.drain(following(world, name, script, first.host)).catch(() => undefined);
      expect(world.isDead()).to.equal(true);
      world.revive();
      world.pass(300);
      // Another option, another generation.
      await world.begin(following(world, name, script), { projectTtl: '3h' });
      expect((await world.read(bootstrap.id)).data.generation).to.equal(2);
      const second = world.drain(following(world, name, script));
      const claims = `cat /var/lib/plinth/jobs/${name}-*/claim 2>/dev/null || :`;
      while (!sshd.inside(claims).includes('generation 2')) await new Promise((resolve) => setTimeout(resolve, 50));
      sshd.inside(`touch ${sshd.folder}/${name}-go`);
      await second;
      expect(await world.states(bootstrap.id)).to.deep.equal({ install: state });
      expect(await logOf(world, bootstrap.id)).to.equal('over\n');
      expect(runsOf(name)).to.equal('ran\n');
      const { events } = await readEvents({ store: world.store }, bootstrap.id);
      expect(JSON.stringify(events)).not.to.include('undefined');
    }
  }).timeout(240_000);
});
