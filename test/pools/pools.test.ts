/** Pools of prepared projects: how sweep keeps them, and who gets a project of them. */
import { expect } from 'chai';
import { switchAdmission } from '../../functions/bootstraps/begin/admission.js';
import { beginOrResume } from '../../functions/bootstraps/begin/begin.js';
import { listBootstraps } from '../../functions/bootstraps/find.js';
import { requestRemoval } from '../../functions/bootstraps/removal/removal.js';
import { viewOf } from '../../functions/bootstraps/view.js';
import { createAccess } from '../../functions/http/bootstraps/access.js';
import { listFor } from '../../functions/http/bootstraps/listed.js';
import { readPools, turnPools } from '../../functions/pools/status.js';
import { collections } from '../../shared/names.js';
import { alice, bob, given } from '../engine/world.js';
import { acceptOptions } from '../support/accept-options.js';
import { createPoolWorld, type PoolWorld, region } from './pool-world.js';

const day = 86_400;
const operator = { ...alice, operator: true, identity: 'one' } as never;

describe('a pool of prepared projects', () => {
  let made: PoolWorld;
  const start = async (size: number, settings?: Readonly<Record<string, string>>): Promise<PoolWorld> => {
    made = createPoolWorld(size, settings);
    await made.fill();
    return made;
  };
  const members = async () => (await made.records()).filter(({ data }) => data.pool !== undefined);

  it('is filled to its size, with the steps that are prepared and no others', async () => {
    const { world } = await start(7);
    const found = await members();
    expect(found).to.have.length(7);
    for (const { data } of found) {
      expect(data.projectId).to.match(/^pool-[a-z0-9]{8}$/);
      expect(data.state).to.equal('succeeded');
      expect(Object.keys(data.instances)).to.have.members(['policies', 'project', 'network']);
    }
    expect([...world.things.keys()].filter((thing) => thing.endsWith('/vm'))).to.deep.equal([]);
    expect(await world.store.query({ collection: collections.names })).to.deep.equal([]);
    // Few steps of a bootstrap are no time of one.
    expect(await world.store.query({ collection: collections.durations })).to.deep.equal([]);
    expect(await made.keep()).to.deep.equal({ made: 0, looked: 0, setAside: 0 });
  });

  it('is not filled beyond its size by runs at once', async () => {
    made = createPoolWorld(4);
    await Promise.all([made.keep(), made.keep(), made.keep()]);
    expect(await members()).to.have.length(4);
  });

  it('shows its projects to nobody, operators included', async () => {
    const { world } = await start(2);
    expect(await listBootstraps(world.context)).to.deep.equal([]);
    for (const { id, data } of await members()) {
      expect(await listFor(world.context, operator, { name: data.projectId })).to.deep.equal([]);
      const seen = await createAccess(world.context)
        .visible(id, operator)
        .catch((error: unknown) => error);
      expect(seen).to.have.property('code', 'not-found');
    }
  });

  it('gives one to a bootstrap that fits: name, owner and time are of the claim, and what stands is kept', async () => {
    const { world, steps } = await start(2);
    world.pass(3600);
    const { bootstrap, created } = await made.begin('mine', { projectTtl: '2h' });
    expect(created).to.equal(true);
    expect(bootstrap.data.projectId).to.match(/^pool-/);
    await world.drain(steps);
    const { data } = await world.read(bootstrap.id);
    expect(data).to.include({ state: 'succeeded', name: 'mine', owner: alice.email });
    expect(Date.parse(data.deadlineAt) - Date.parse(data.createdAt)).to.equal(2 * 3600 * 1000);
    expect(Date.parse(data.createdAt) - Date.parse(data.prepared?.since ?? '')).to.be.within(3_600_000, 3_700_000);
    expect(world.made.get(`${data.projectId}/network`)).to.equal(1);
    expect(world.things.get(`${data.projectId}/project`)).to.deep.equal({ of: 'mine' });
    expect(world.things.has(`${data.projectId}/vm`)).to.equal(true);
    expect((await viewOf(world.context, steps, { ...bootstrap, data })).prepared).to.equal(data.prepared?.since);
    expect((await listBootstraps(world.context)).map(({ id }) => id)).to.deep.equal([bootstrap.id]);
  });

  for (const [what, changes] of [
    ['another region', { region: 'europe-west1' }],
    ['another billing account', { billingAccount: 'AAAAAA-BBBBBB-CCCCCC' }],
    ['another folder', { folderId: '2' }],
  ] as const) {
    it(`gives none to a bootstrap with ${what}, which says so`, async () => {
      const { world, steps } = await start(1);
      const { bootstrap } = await made.begin('mine', changes);
      expect(bootstrap.data.projectId).to.match(/^mine-/);
      const { unprepared, prepared } = await viewOf(world.context, steps, bootstrap);
      expect(unprepared).to.equal('no pool is for its parent, billing account and region');
      expect(prepared).to.equal(undefined);
      expect(await members()).to.have.length(1);
    });
  }

  it('is taken once each by a hundred claims at once, and the rest goes the long way', async () => {
    const { world, steps } = await start(60);
    const begun = await Promise.all(Array.from({ length: 100 }, (_, n) => made.begin(`project ${n}`)));
    const ids = begun.map(({ bootstrap }) => bootstrap.data.projectId);
    expect(new Set(ids).size).to.equal(100);
    expect(ids.filter((id) => id.startsWith('pool-'))).to.have.length(60);
    await world.drain(steps);
    const views = await Promise.all(begun.map(async ({ bootstrap: { id } }) => (await world.read(id)).data));
    expect(views.filter(({ state }) => state !== 'succeeded')).to.deep.equal([]);
    expect(views.filter(({ prepared }) => prepared !== undefined)).to.have.length(60);
    expect(
      views.filter(({ unprepared }) => unprepared === 'no prepared project of its pool could be had'),
    ).to.have.length(40);
    const counters = (await world.store.get(collections.counters, 'living'))?.data;
    expect(Object.values(counters?.['pools'] ?? {})).to.deep.equal([{ taken: 60, missed: 40 }]);
    expect(counters).to.deep.include({ inAll: 100 });
  });

  it('gives one owner in a day as many projects as they may have at once, however fast they are given back', async () => {
    const { world, steps } = await start(5, { PLINTH_LIVING_PER_OWNER: '2' });
    const prepared = async (name: string, caller = alice): Promise<boolean> => {
      const { bootstrap } = await made.begin(name, {}, caller);
      await requestRemoval(world.context, steps, bootstrap.id, { by: caller.email, why: 'asked' });
      await world.drain(steps);
      const { unprepared } = (await world.read(bootstrap.id)).data;
      if (unprepared !== undefined) expect(unprepared).to.equal('you have had 2 of its pool within a day');
      return unprepared === undefined;
    };
    const got: boolean[] = [];
    for (let n = 0; n < 6; n++) got.push(await prepared(`loop ${n}`));
    expect(got).to.deep.equal([true, true, false, false, false, false]);
    expect(await prepared('of bob', bob)).to.equal(true);
    world.pass(day);
    expect(await prepared('a day later')).to.equal(true);
  });

  it('is taken once each by claims of two processes at once', async () => {
    const { world } = await start(6);
    // Another process knows nothing of whom this one wants to give what.
    const { store } = world.context;
    const others = { ...world.context, store: { ...store } };
    const there = (n: number) => {
      const all = { ...given, projectName: `there ${n}`, region };
      const { options, secrets, warnings } = acceptOptions(all);
      const facts = { caller: bob, options, secrets, given: all, sshPublicKey: 'ssh-ed25519 AAAA bob', warnings };
      return beginOrResume(others, made.steps, facts);
    };
    const begun = await Promise.all([0, 1, 2].flatMap((n) => [made.begin(`here ${n}`), there(n)]));
    const ids = begun.map(({ bootstrap }) => bootstrap.data.projectId);
    expect(new Set(ids).size).to.equal(6);
    expect(ids.filter((id) => !id.startsWith('pool-'))).to.deep.equal([]);
    for (const { bootstrap } of begun) {
      const versions = (world.secrets.get(`${bootstrap.id}-caller`) ?? []).filter((version) => version !== '');
      expect(versions, 'secrets of others').to.have.length(1);
    }
  });

  it('is left by whoever looked at it before another process claimed it, and counts afterwards', async () => {
    const { world } = await start(2);
    const { store } = world.context;
    let here: ReturnType<PoolWorld['begin']> | undefined;
    const getMany: typeof store.getMany = async (collection, ids) => {
      if (collection === collections.counters) {
        here ??= made.begin('here');
        await here;
      }
      return store.getMany(collection, ids);
    };
    const all = { ...given, projectName: 'there', region };
    const { options, secrets, warnings } = acceptOptions(all);
    const facts = { caller: bob, options, secrets, given: all, sshPublicKey: 'ssh-ed25519 AAAA bob', warnings };
    const there = await beginOrResume({ ...world.context, store: { ...store, getMany } }, made.steps, facts);
    const begun = [await here, there].map((each) => each?.bootstrap.data);
    expect(begun.map((data) => data?.name)).to.deep.equal(['here', 'there']);
    expect(new Set(begun.map((data) => data?.projectId)).size).to.equal(2);
    expect(begun.map((data) => data?.prepared?.claimedAt === undefined)).to.deep.equal([false, false]);
    expect(await members()).to.have.length(0);
  });

  it('keeps no secret of whoever looked at a project that was removed before the secret was written', async () => {
    const { world, steps } = await start(1);
    const [member] = await members();
    const { store } = world.context;
    let isRemoved = false;
    const getMany: typeof store.getMany = async (collection, ids) => {
      if (collection === collections.counters && !isRemoved) {
        isRemoved = true;
        Object.assign(world.context.config, { pools: [] });
        await made.keep();
        await requestRemoval(world.context, steps, member?.id ?? '', { by: 'plinth', why: 'expired' });
        await world.drain(steps);
      }
      return store.getMany(collection, ids);
    };
    const all = { ...given, projectName: 'late', region };
    const { options, secrets, warnings } = acceptOptions(all);
    const facts = { caller: bob, options, secrets, given: all, sshPublicKey: 'ssh-ed25519 AAAA bob', warnings };
    const late = await beginOrResume({ ...world.context, store: { ...store, getMany } }, made.steps, facts);
    expect((await world.read(member?.id ?? '')).data.state).to.equal('removed');
    expect(late.bootstrap.data.projectId).to.match(/^late-/);
    expect([...world.secrets.keys()]).to.deep.equal([`${late.bootstrap.id}-caller`]);
  });

  it('makes another for one that was claimed, and never takes a project back', async () => {
    const { world, steps } = await start(1);
    const { bootstrap } = await made.begin('mine');
    await made.fill();
    await requestRemoval(world.context, steps, bootstrap.id, { by: alice.email, why: 'asked' });
    await world.drain(steps);
    expect((await world.read(bootstrap.id)).data.state).to.equal('removed');
    await made.fill();
    const found = await members();
    expect(found).to.have.length(1);
    expect(found[0]?.data.projectId).not.to.equal(bootstrap.data.projectId);
    const again = await made.begin('again');
    expect(again.bootstrap.data.projectId).to.equal(found[0]?.data.projectId);
  });

  it('has each looked at again once a day', async () => {
    const { world, steps } = await start(2);
    world.pass(day + 60);
    expect(await made.keep()).to.include({ looked: 2, made: 0 });
    expect((await members()).map(({ data }) => data.state)).to.deep.equal(['running', 'running']);
    await world.drain(steps);
    expect((await members()).map(({ data }) => [data.state, data.generation])).to.deep.equal([
      ['succeeded', 2],
      ['succeeded', 2],
    ]);
    expect(await made.keep()).to.include({ looked: 0 });
  });

  it('sets aside what is broken, and rests before it makes another', async () => {
    made = createPoolWorld(1);
    made.broken.add('network');
    await made.fill();
    const [failed] = await made.records();
    expect(failed?.data.state).to.equal('failed');
    const left = (await made.records()).find(({ id }) => id === failed?.id);
    expect(left?.data.pool).to.equal(undefined);
    expect(left?.data.deadlineAt).to.equal(left?.data.removeAt);
    expect(Date.parse(left?.data.deadlineAt ?? '')).to.be.at.most(made.world.context.clock.now().getTime());
    made.broken.clear();
    expect(await made.keep()).to.include({ made: 0 });
    const { pools } = await readPools(made.world.context);
    expect(pools[0]).to.include({ free: 0, size: 1 });
    expect(pools[0]?.rest?.why).to.equal(failed?.data.problem?.detail);
    made.world.pass(3601);
    expect(await made.keep()).to.include({ made: 1 });
    expect((await made.begin('mine')).bootstrap.data.projectId).to.match(/^mine-/);
  });

  it('rests no more once an operator fills it', async () => {
    made = createPoolWorld(1);
    made.broken.add('network');
    await made.fill();
    made.broken.clear();
    const { pools } = await turnPools(made.world.context, alice.email, 'fill');
    expect(pools[0]).not.to.have.property('rest');
    expect(await made.keep()).to.include({ made: 1 });
  });

  const dryLines = (): string[] =>
    made.world.logs.map(({ message }) => message).filter((message) => message.startsWith('Dry pools'));

  it('is told to be dry at each look while it has nothing to give, with the reason', async () => {
    made = createPoolWorld(1);
    made.broken.add('network');
    await made.fill();
    const [failed] = await made.records();
    const [{ key } = { key: '' }] = made.world.context.config.pools;
    expect(dryLines()).to.deep.equal([
      `Dry pools of prepared projects: ${key}, its projects are being made`,
      `Dry pools of prepared projects: ${key}, ${failed?.data.problem?.detail}`,
    ]);
    made.broken.clear();
    made.world.pass(3601);
    await made.fill();
    const until = dryLines().length;
    await made.keep();
    expect(dryLines()).to.have.length(until);
  });

  it('gets nothing new while an operator has new bootstraps stopped, and is not told to be dry', async () => {
    const { world } = await start(1);
    await switchAdmission(world.context, alice.email, { state: 'stopped', reason: 'the account is closed' });
    Object.assign(world.context.config, { pools: world.context.config.pools.map((each) => ({ ...each, size: 3 })) });
    expect(await made.keep()).to.deep.equal({ made: 0, looked: 0, setAside: 0 });
    world.pass(8 * day);
    expect(await made.keep()).to.include({ made: 0 });
    expect(dryLines().filter((line) => !line.includes('being made'))).to.deep.equal([]);
    const until = dryLines().length;
    await made.keep();
    expect(dryLines()).to.have.length(until);
    await switchAdmission(world.context, alice.email, { state: 'open' });
    expect(await made.keep()).to.include({ made: 2 });
  });

  it('is not told to be dry where an operator drained it', async () => {
    const { world } = await start(1);
    await turnPools(world.context, alice.email, 'drain');
    await made.keep();
    const until = dryLines().length;
    await made.keep();
    expect(await members()).to.deep.equal([]);
    expect(dryLines()).to.have.length(until);
  });

  it('sets aside all of a pool that the deployment keeps no more, and gives none of them', async () => {
    const { world } = await start(3);
    Object.assign(world.context.config, { pools: [] });
    const { bootstrap } = await made.begin('mine');
    expect(bootstrap.data.projectId).to.match(/^mine-/);
    expect(bootstrap.data.unprepared).to.equal(undefined);
    expect(await made.keep()).to.deep.equal({ made: 0, looked: 0, setAside: 3 });
    expect(await members()).to.deep.equal([]);
  });

  it('gives none that was begun for other ways of the deployment', async () => {
    const { world } = await start(1);
    Object.assign(world.context.config, { loadBalancers: 'internal' });
    expect((await made.begin('mine')).bootstrap.data.projectId).to.match(/^mine-/);
    expect(await made.keep()).to.include({ setAside: 1, made: 1 });
  });

  it('gives none past its oldest age', async () => {
    const { world } = await start(1);
    world.pass(8 * day);
    expect((await made.begin('mine')).bootstrap.data.projectId).to.match(/^mine-/);
  });

  it('passes over and sets aside what somebody has deleted by hand: the next one is given, or the long way is gone', async () => {
    await start(2);
    const [first, second] = (await members()).map(({ data }) => data.projectId);
    deleteByHand(first);
    expect((await made.begin('after-first')).bootstrap.data.projectId).to.equal(second);
    expect(await members()).to.deep.equal([]);
    await made.fill();
    const others = await members();
    expect(others).to.have.length(2);
    for (const { data } of others) deleteByHand(data.projectId);
    const own = await made.begin('after-all');
    expect(own.bootstrap.data.projectId).to.match(/^after-all-/);
    expect(await members()).to.deep.equal([]);
  });

  /** Google shows a deleted project for thirty days. */
  function deleteByHand(projectId = ''): void {
    const { projects } = made.world.context.cloud;
    const { find } = projects;
    Object.assign(projects, {
      find: async (id: string) => {
        const found = await find(id);
        return id === projectId && found !== undefined ? { ...found, state: 'DELETE_REQUESTED' } : found;
      },
    });
  }

  it('gives one also while Google does not say whether it stands', async () => {
    const { world } = await start(1);
    const [first] = await members();
    const find = () => Promise.reject(new Error('too many requests'));
    Object.assign(world.context.cloud, { projects: { find } });
    expect((await made.begin('mine')).bootstrap.data.projectId).to.equal(first?.data.projectId);
  });
});
