import { expect } from 'chai';
import { beginOrResume } from '../../functions/bootstraps/begin/begin.js';
import { recordAction } from '../../functions/bootstraps/files.js';
import { findByName, listBootstraps } from '../../functions/bootstraps/find.js';
import { previewOf } from '../../functions/bootstraps/plan.js';
import { summaryOf, viewOf } from '../../functions/bootstraps/view.js';
import type { OnCall } from '../../functions/cloud/rest.js';
import { ownerCountId } from '../../functions/engine/record/counts.js';
import { nameId } from '../../functions/engine/record/documents.js';
import { readEvents, readProgress } from '../../functions/engine/record/events.js';
import { readFile } from '../../functions/engine/record/files.js';
import { makeProjectId } from '../../functions/engine/record/ids.js';
import { getBootstrap } from '../../functions/engine/record/update.js';
import type { AnyStep } from '../../functions/engine/step.js';
import { realRandom } from '../../functions/host/random.js';
import type { Write } from '../../functions/store/store.js';
import { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { collections } from '../../shared/names.js';
import { Problem } from '../../shared/problems.js';
import { acceptOptions } from '../support/accept-options.js';
import { letters, toy } from './toys.js';
import { alice, bob, createWorld, given, type World } from './world.js';

const problemOf = async (work: Promise<unknown>): Promise<Problem> => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Problem)) throw new Error(`no problem: ${error}`);
  return error;
};

describe('a bootstrap', () => {
  let world: World;
  let steps: AnyStep[];
  beforeEach(() => {
    world = createWorld();
    const project = toy(world, 'project');
    steps = [project, toy(world, 'vm', { each: letters, needs: { project } })];
  });
  const secretsIn = () => [...world.secrets.values()].flat();

  it('stands whole in one commit: name, counters, record, lease, event', async () => {
    const { bootstrap } = await world.begin(steps);
    const all = world.store.dump();
    expect(Object.values(all).map((documents) => Object.keys(documents).length)).to.have.members([1, 1, 2, 1, 1]);
    expect(all['counters']?.['living']).to.deep.include({ schema: 1, inAll: 1 });
    expect(all['counters']?.[ownerCountId(alice.email)]).to.deep.include({ owner: alice.email, living: 1 });
    expect(bootstrap.id).to.match(/^b[a-z0-9]{15}$/);
    expect(world.queue).to.deep.equal([{ schema: 1, bootstrapId: bootstrap.id, instance: 'project', generation: 1 }]);
  });

  it('keeps what the caller gave in secret in Secret Manager alone', async () => {
    await world.begin(steps);
    expect(JSON.stringify(world.store.dump())).not.to.include(given.forge1AppClientSecret);
    expect(secretsIn()).to.deep.equal([JSON.stringify({ forge1AppClientSecret: given.forge1AppClientSecret })]);
  });

  it('chooses its project id once, by the name', async () => {
    const { bootstrap } = await world.begin(steps);
    expect(bootstrap.data.projectId).to.match(/^my-project-[a-z0-9]{8}$/);
    const again = await world.begin(steps, { projectTtl: '3h' });
    expect(again.bootstrap.data.projectId).to.equal(bootstrap.data.projectId);
  });

  for (const name of [
    'My project',
    '1234',
    "A'very! long name of a proj",
    '!!!!',
    'x-----------------------y',
    'ÄÖÜ test',
  ]) {
    it(`makes of "${name}" an id that Google takes`, () => {
      expect(makeProjectId(realRandom, name)).to.match(/^[a-z][a-z0-9-]{4,28}[a-z0-9]$/);
    });
  }

  it('makes ids without the words that Google allows in none', () => {
    const restricted = /google|null|undefined|ssl/;
    const named = ['my ssl test', 'Google demo', 'sssll', 'null', 'undefined', 'goo!gle'].map((name) =>
      makeProjectId(realRandom, name),
    );
    expect(named.filter((id) => restricted.test(id))).to.deep.equal([]);
    // By chance one in some 8,000.
    const ids = Array.from({ length: 200_000 }, () => makeProjectId(realRandom, 'race'));
    expect(ids.filter((id) => restricted.test(id))).to.deep.equal([]);
  });

  it('is one for many who begin it at once', async () => {
    const begun = await Promise.all(Array.from({ length: 8 }, () => world.begin(steps)));
    expect(new Set(begun.map(({ bootstrap }) => bootstrap.id)).size).to.equal(1);
    expect(begun.filter(({ created }) => created)).to.have.length(1);
    expect(secretsIn()).to.have.length(1);
  });

  it('has its secrets also if its name is taken and freed again while it is begun', async () => {
    const { store } = world.context;
    let commits = 0;
    let reads = 0;
    const claim = { collection: collections.names, id: nameId(given.projectName ?? '') };
    const { bootstrap: other } = await world.begin(steps, { projectName: 'Another' });
    await store.commit([
      { kind: 'update', collection: collections.bootstraps, id: other.id, data: { state: 'removed' } },
    ]);
    const racing = {
      ...world.context,
      store: {
        ...store,
        async get(collection: string, id: string) {
          const found = await store.get(collection, id);
          if (collection !== collections.names || ++reads !== 2) return found;
          // One that was removed just now: its claim is gone with it.
          await store.commit([{ kind: 'delete', ...claim }]);
          return found;
        },
        async commit(writes: readonly Write[]) {
          if (++commits === 1) {
            const data = { schema: 1, bootstrapId: other.id, owner: alice.email };
            await store.commit([{ kind: 'create', ...claim, data }]);
          }
          return store.commit(writes);
        },
      },
    };
    const { options, secrets, warnings } = acceptOptions(given);
    const facts = { caller: alice, options, secrets, given, sshPublicKey: 'ssh-ed25519 AAAA alice', warnings };
    const { bootstrap, created } = await beginOrResume(racing, steps, facts);
    expect(created).to.equal(true);
    expect(world.secrets.get(`${bootstrap.id}-caller`)).to.have.length(1);
  });

  it("is refused under the name of another's", async () => {
    await world.begin(steps);
    const problem = await problemOf(world.begin(steps, {}, bob));
    expect(problem.code).to.equal('conflict');
    expect(problem.detail).not.to.include(alice.email);
  });

  describe('limits', () => {
    it('holds for each owner, whoever races', async () => {
      world = createWorld({ PLINTH_LIVING_PER_OWNER: '3' });
      const results = await Promise.allSettled(
        Array.from({ length: 8 }, (_, n) => world.begin(steps, { projectName: `project ${n}` })),
      );
      expect(results.filter(({ status }) => status === 'fulfilled')).to.have.length(3);
      const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as Problem] : []));
      for (const problem of refused)
        expect([problem.code, problem.members?.['limit']]).to.deep.equal(['too-many', 'livingPerOwner']);
      expect(world.secrets.size, 'what was refused leaves no secret').to.equal(3);
      await world.begin(steps, { projectName: 'of another' }, bob);
    });

    it('holds for all together', async () => {
      world = createWorld({ PLINTH_LIVING_IN_ALL: '1' });
      await world.begin(steps);
      const problem = await problemOf(world.begin(steps, { projectName: 'another' }, bob));
      expect([problem.code, problem.members?.['limit']]).to.deep.equal(['too-many', 'livingInAll']);
    });

    it('does not keep anybody from resuming', async () => {
      world = createWorld({ PLINTH_LIVING_PER_OWNER: '1' });
      await world.begin(steps);
      expect((await world.begin(steps)).created).to.equal(false);
    });
  });

  describe('the same command again', () => {
    it('just follows what is on its way already', async () => {
      const first = await world.begin(steps);
      const again = await world.begin(steps);
      expect([again.created, again.changes, again.bootstrap.data.generation]).to.deep.equal([false, [], 1]);
      expect(again.bootstrap.version).to.equal(first.bootstrap.version);
    });

    it('looks at everything again once it has ended', async () => {
      const { bootstrap } = await world.begin(steps);
      await world.drain(steps);
      world.things.delete('vm:b');
      await world.begin(steps);
      await world.drain(steps);
      expect(Object.fromEntries(world.made)).to.deep.equal({ project: 1, 'vm:a': 1, 'vm:b': 2, 'vm:c': 1 });
      expect((await world.read(bootstrap.id)).data).to.deep.include({ state: 'succeeded', generation: 2 });
    });

    it('shows what changes, secrets masked', async () => {
      await world.begin(steps);
      const { changes } = await world.begin(steps, { projectTtl: '5h', forge1AppClientSecret: 'planted-other-secret' });
      expect(changes).to.deep.equal([
        { option: '--project-ttl', from: '2h', to: '5h' },
        { option: '--forge1-app-client-secret', from: '<secret>', to: '<secret>' },
      ]);
      await world.drain(steps);
      expect(secretsIn()).to.have.length(2);
      expect(JSON.stringify(world.store.dump())).not.to.include('planted-');
    });

    it('refuses all that cannot change at once, showing both values', async () => {
      await world.begin(steps);
      const problem = await problemOf(
        world.begin(steps, { baseDomain: 'other.example', region: 'europe-west1', zone: 'europe-west1-b' }),
      );
      expect(problem.code).to.equal('conflict');
      expect(problem.errors?.map(({ path }) => path).sort()).to.deep.equal(['--base-domain', '--region', '--zone']);
      expect(problem.detail).to.include('example.com').and.include('other.example');
    });

    it('counts another time to live from when it began', async () => {
      const { bootstrap } = await world.begin(steps);
      world.pass(600);
      const again = await world.begin(steps, { projectTtl: '5h' });
      const { createdAt, deadlineAt } = again.bootstrap.data;
      expect((Date.parse(deadlineAt) - Date.parse(createdAt)) / 3600_000).to.equal(5);
      expect(createdAt).to.equal(bootstrap.data.createdAt);
      const same = await world.begin(steps);
      expect(same.bootstrap.data.deadlineAt).to.equal(deadlineAt);
    });

    it('refuses a time to live that is over already', async () => {
      await world.begin(steps);
      world.pass(7200);
      expect((await problemOf(world.begin(steps, { projectTtl: '1h' }))).code).to.equal('bad-input');
    });
  });

  it('is found by name, project id and id, and listed newest first', async () => {
    const one = (await world.begin(steps)).bootstrap;
    world.pass(1);
    const two = (await world.begin(steps, { projectName: 'second' })).bootstrap;
    await world.begin(steps, { projectName: 'of bob' }, bob);
    for (const name of ['My project', one.data.projectId, one.id]) {
      expect((await findByName(world.context, name))?.id, name).to.equal(one.id);
    }
    expect(await findByName(world.context, 'nothing')).to.equal(undefined);
    expect(await getBootstrap(world.context, 'nothing')).to.equal(undefined);
    const listed = await listBootstraps(world.context, { person: alice.email });
    expect(listed.map(({ id }) => id)).to.deep.equal([two.id, one.id]);
    expect(await listBootstraps(world.context)).to.have.length(3);
    expect(await summaryOf(world.context, steps, one)).to.deep.include({
      id: one.id,
      name: 'My project',
      state: 'running',
    });
  });

  it('is shown as the contract says', async () => {
    const { bootstrap } = await world.begin(steps);
    await world.drain(steps);
    const view = await viewOf(world.context, steps, await world.read(bootstrap.id));
    expect(BootstrapView.parse(view)).to.deep.equal(view);
    expect(view.options).to.deep.equal({
      projectName: given.projectName,
      billingAccount: given.billingAccount,
      baseDomain: given.baseDomain,
      forge1AppClientId: given.forge1AppClientId,
    });
    expect(view.instances.map(({ id, state }) => `${id} ${state}`)).to.deep.equal([
      'project done',
      'vm:a done',
      'vm:b done',
      'vm:c done',
    ]);
  });

  const tunnels = [
    { title: 'tells where the tunnel to its jumpbox ends', machineAccess: 'iap' },
    { title: 'tells of no tunnel where the jumpbox has a public address', machineAccess: 'direct' },
    { title: 'tells of no tunnel where an earlier release began it', machineAccess: undefined },
  ] as const;
  for (const { title, machineAccess } of tunnels) {
    it(title, async () => {
      const { bootstrap } = await world.begin(steps);
      const vm = (name: string) => ({
        ...{
          name,
          zone: 'europe-west4-b',
          machineType: 'e2-medium',
          internalIp: '10.10.0.2',
          provisioning: 'standard',
        },
      });
      const done = (output: unknown) => ({ state: 'done', attempt: 0, output }) as const;
      const instances = { 'vm:jumpbox': done(vm('jumpbox')), 'vm:k0s-1': done(vm('k0s-1')) };
      const data = { ...bootstrap.data, machineAccess, instances };
      const view = await viewOf(world.context, steps, { ...bootstrap, data });
      const project = bootstrap.data.projectId;
      const place = { project, zone: 'europe-west4-b', instance: 'jumpbox' };
      expect(view.machineAccess).to.equal(machineAccess ?? 'direct');
      expect(view.result.vms.map(({ name, tunnel }) => [name, tunnel])).to.deep.equal([
        ['jumpbox', machineAccess === 'iap' ? place : undefined],
        ['k0s-1', undefined],
      ]);
    });
  }

  describe('events', () => {
    it('go on after a cursor, and end with the bootstrap', async () => {
      const { bootstrap } = await world.begin(steps);
      const first = await readEvents(world.context, bootstrap.id);
      expect([first.events.length, first.ended]).to.deep.equal([1, false]);
      await world.drain(steps);
      const rest = await readEvents(world.context, bootstrap.id, first.events[0]?.cursor);
      expect([rest.events.length, rest.ended]).to.deep.equal([5, true]);
      const none = await readEvents(world.context, bootstrap.id, rest.events.at(-1)?.cursor);
      expect(none).to.deep.include({ events: [], ended: true });
    });

    it('refuse a cursor that is none', async () => {
      const { bootstrap } = await world.begin(steps);
      expect((await problemOf(readEvents(world.context, bootstrap.id, 'x'))).code).to.equal('bad-input');
    });

    it('tell of what a person did', async () => {
      const { bootstrap } = await world.begin(steps);
      await Promise.all([1, 2, 3].map(() => recordAction(world.context, bootstrap.id, alice.email, 'age-identity')));
      const { events } = await readEvents(world.context, bootstrap.id);
      expect(events.map(({ event }) => event.type)).to.deep.equal(['state', 'action', 'action', 'action']);
    });

    it('come with what is under way now', async () => {
      let seen: unknown;
      const slow = toy(world, 'slow', {
        run: async (_, make) => {
          seen ??= await readProgress(world.context, id);
          return make();
        },
      });
      const { bootstrap } = await world.begin([slow]);
      const { id } = bootstrap;
      await world.drain([slow]);
      expect(seen).to.be.an('array').with.length(1);
      expect((seen as object[])[0]).to.deep.include({ type: 'progress', instance: 'slow', attempt: 0 });
    });

    it('tell of the cloud calls of an instance before its end', async () => {
      const calling = toy(world, 'calling');
      let report: OnCall = () => undefined;
      const { cloud } = world.context;
      Object.assign(cloud, {
        reportingTo(listener: typeof report) {
          report = listener;
          return cloud;
        },
      });
      const step = {
        ...calling,
        run(call: never) {
          report('GET https://x → 200', { name: 'GET x', result: '200', milliseconds: 1 });
          return calling.run(call);
        },
      };
      const { bootstrap } = await world.begin([step as AnyStep]);
      await world.drain([step as AnyStep]);
      const { events } = await readEvents(world.context, bootstrap.id);
      expect(events.map(({ event }) => event.type)).to.deep.equal(['state', 'call', 'instance', 'state']);
    });
  });

  it('keeps files that steps write', async () => {
    const writer = toy(world, 'writer', {
      run: async ({ files }, make) => {
        await files.write('config-dc1', 'version: 1');
        expect(await files.read('config-dc1')).to.equal('version: 1');
        return make();
      },
    });
    const { bootstrap } = await world.begin([writer]);
    await world.drain([writer]);
    expect(await readFile(world.context, bootstrap.id, 'config-dc1')).to.equal('version: 1');
    expect(await readFile(world.context, bootstrap.id, 'config-dc2')).to.equal(undefined);
  });

  it('hands steps what the caller held already, and keeps it over the next command', async () => {
    const seen: unknown[] = [];
    const step = toy(world, 'a', {
      observe: async ({ bootstrap }, look) => {
        seen.push(bootstrap.base);
        return look();
      },
    });
    const { options, secrets, warnings } = acceptOptions(given);
    const facts = { caller: alice, options, secrets, given, sshPublicKey: 'ssh-ed25519 AAAA alice', warnings };
    const base = { dc1: { config: 'version: 1', secrets: 'sops: {}' }, dc2: undefined };
    const { bootstrap } = await beginOrResume(world.context, [step], facts);
    await world.drain([step]);
    seen.length = 0;
    await beginOrResume(world.context, [step], { ...facts, base });
    await world.drain([step]);
    await beginOrResume(world.context, [step], facts);
    await world.drain([step]);
    expect(seen).to.have.length(2);
    for (const each of seen) expect(each).to.deep.equal({ dc1: base.dc1 });
    expect(JSON.stringify(world.store.dump()['bootstraps'])).not.to.include('sops');
    expect((await world.read(bootstrap.id)).data.generation).to.equal(3);
  });

  it('tells what it would make without making it', () => {
    const { options } = acceptOptions(given);
    expect(previewOf(steps, { options, machineAccess: 'direct' })[1]).to.deep.equal({
      id: 'vm:a',
      title: 'The vm a',
      lane: 'cloud',
      needs: ['project'],
      makes: ['vm a'],
    });
  });
});
