/** What a person does to whose a bootstrap is, cut off at any call of the store: it stands as a whole or not at all, and doing it again is fine. */
import { expect } from 'chai';
import { protect } from '../../functions/bootstraps/lifetime/lifetime.js';
import { share, transfer, unshare } from '../../functions/bootstraps/people/people.js';
import type { AnyStep, StepCall } from '../../functions/engine/step.js';
import { collections } from '../../shared/names.js';
import { toy } from './toys.js';
import { alice, bob, createWorld, type KillAt, type World } from './world.js';

const carol = 'carol@example.com';

/** The two steps that show in the cloud whose it is. */
function stepsOf(world: World): AnyStep[] {
  const shows = (name: string, wantedOf: (facts: StepCall['bootstrap']) => unknown, needs = {}) => {
    const thingOf = ({ bootstrap }: StepCall) => JSON.stringify(wantedOf(bootstrap));
    return toy(world, name, {
      needs,
      observe: async (call) => {
        const thing = world.things.get(name);
        return thing === thingOf(call) ? { thing, from: {} } : undefined;
      },
      run: async (call) => {
        world.make(name, thingOf(call));
        return { kind: 'done' };
      },
    });
  };
  const project = shows('project', ({ owner, protection }) => ({ owner, reason: protection?.reason }));
  const callerRole = shows('caller-role', ({ owner, sharedMembers }) => [owner, sharedMembers], {
    project,
  });
  return [project, callerRole];
}

interface Act {
  readonly what: string;
  /** Stands already when the act begins. */
  readonly sharedWith?: string;
  act(world: World, steps: readonly AnyStep[], id: string): Promise<unknown>;
}

const until = new Date(Date.now() + 3_600_000).toISOString();

const acts: readonly Act[] = [
  { what: 'sharing', act: ({ context }, steps, id) => share(context, steps, id, alice.email, carol) },
  {
    what: 'no longer sharing',
    sharedWith: carol,
    act: ({ context }, steps, id) => unshare(context, steps, id, alice.email, carol),
  },
  {
    what: 'giving away',
    sharedWith: bob.email,
    act: ({ context }, steps, id) => transfer(context, steps, id, alice.email, bob.email),
  },
  {
    what: 'protecting',
    act: ({ context }, steps, id) =>
      protect(context, steps, id, { ...alice, operator: false }, { until, reason: 'a demo' }),
  },
];

/** All that is stored of whose it is, without times. */
async function standing({ store }: World, id: string) {
  const [record, names, counters, events, leases] = await Promise.all([
    store.get(collections.bootstraps, id),
    store.query({ collection: collections.names }),
    store.query({ collection: collections.counters }),
    store.query({ collection: collections.events, where: [['bootstrapId', '==', id]] }),
    store.query({ collection: collections.leases, where: [['bootstrapId', '==', id]] }),
  ]);
  const { owner, ownerMember, sharedWith, formerPeople, protection, events: last } = record?.data ?? {};
  return {
    record: { owner, ownerMember, sharedWith, formerPeople, protection, last },
    claimed: names.map(({ data }) => data['owner']),
    counted: counters.flatMap(({ data: { owner: counted, living } }) =>
      counted === undefined ? [] : [[counted, living]],
    ),
    told: events.length,
    leased: leases.map(({ data }) => data['instance']).sort(),
  };
}

async function begun({ sharedWith }: Act): Promise<{ world: World; steps: AnyStep[]; id: string }> {
  const world = createWorld();
  const steps = stepsOf(world);
  const { bootstrap } = await world.begin(steps);
  await world.drain(steps);
  if (sharedWith !== undefined) await share(world.context, steps, bootstrap.id, alice.email, sharedWith);
  await world.drain(steps);
  world.revive();
  return { world, steps, id: bootstrap.id };
}

describe('what a person takes back while a step gives it', () => {
  /** The step that shows it is held up as it gives what it was told to, and lets go late. */
  async function givingLate() {
    const { world, steps, id } = await begun(acts[1] as Act);
    const [project, callerRole] = steps as [AnyStep, AnyStep];
    let arrived: () => void = () => undefined;
    const there = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    let letGo: () => void = () => undefined;
    const slow = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const late = {
      ...callerRole,
      run: async (call: StepCall) => {
        arrived();
        await slow;
        return callerRole.run(call);
      },
    };
    world.things.delete('caller-role');
    await unshare(world.context, steps, id, alice.email, carol);
    await share(world.context, steps, id, alice.email, carol);
    world.waits.length = 0;
    const [, message] = world.queue.splice(0);
    const first = world.run([project, late], message as never);
    await there;
    return { world, steps, id, first, letGo };
  }

  it('is looked at when the last of that is over', async () => {
    const { world, steps, id, first, letGo } = await givingLate();
    await unshare(world.context, steps, id, alice.email, carol);
    const message = world.take();
    // What the first had asked for before it heard of it happens in the meantime.
    const second = world.run(steps, message);
    letGo();
    await Promise.all([first, second]);
    expect(await first).to.equal('lost');
    expect(await second).to.equal('done');
    expect(world.waits[0]).to.be.within(80, 90);
    expect(world.things.get('caller-role')).to.equal(JSON.stringify([alice.email, []]));
  });

  it('is not given by a record that was read before, with a lease that was read after', async () => {
    const { world, steps, id } = await begun(acts[1] as Act);
    world.things.delete('caller-role');
    // Takes it back and gives it again, so that a message waits.
    await unshare(world.context, steps, id, alice.email, carol);
    await share(world.context, steps, id, alice.email, carol);
    world.waits.length = 0;
    const [, message] = world.queue.splice(0);
    if (message === undefined) throw new Error('nothing was published');
    const { store } = world.context;
    const { get } = store;
    let takenBack: Promise<unknown> | undefined;
    Object.assign(store, {
      async get(collection: string, document: string) {
        if (collection === collections.leases && takenBack === undefined) {
          await Promise.resolve();
          takenBack = unshare(world.context, steps, id, alice.email, carol);
          await takenBack;
        }
        return get(collection, document);
      },
    });
    await world.run(steps, message);
    await world.drain(steps);
    expect(world.things.get('caller-role')).to.equal(JSON.stringify([alice.email, []]));
  });

  it('is not looked at sooner because it is changed once more', async () => {
    const { world, steps, id, first, letGo } = await givingLate();
    await unshare(world.context, steps, id, alice.email, carol);
    world.pass(5);
    await share(world.context, steps, id, alice.email, bob.email);
    world.queue.shift();
    await world.run(steps, world.take());
    expect(world.waits[0]).to.be.within(75, 85);
    letGo();
    await first;
  });

  it('is looked at at once where nobody holds it', async () => {
    const { world, steps, id } = await begun(acts[1] as Act);
    world.waits.length = 0;
    await unshare(world.context, steps, id, alice.email, carol);
    await world.drain(steps);
    expect(world.waits).to.deep.equal([]);
    expect(world.things.get('caller-role')).to.equal(JSON.stringify([alice.email, []]));
  });
});

describe('what a person does, cut off before or after any call of the store', () => {
  for (const act of acts) {
    it(`stands as a whole or not at all, is carried out, and may be done again: ${act.what}`, async () => {
      const whole = await begun(act);
      const before = await standing(whole.world, whole.id);
      await act.act(whole.world, whole.steps, whole.id);
      const calls = whole.world.calls();
      const after = await standing(whole.world, whole.id);
      expect(after).not.to.deep.equal(before);
      await whole.world.drain(whole.steps);
      const shown = [...whole.world.things];
      const end = await standing(whole.world, whole.id);
      expect(calls).to.be.greaterThan(1);

      const cuts = Array.from({ length: calls }, (_, n) => n + 1).flatMap((call) =>
        (['before', 'after'] as const).flatMap((when) => [true, false].map((again) => ({ call, when, again }))),
      );
      let stood = 0;
      for (const { again, ...kill } of cuts satisfies readonly (KillAt & { again: boolean })[]) {
        const { world, steps, id } = await begun(act);
        const where = `${kill.when} call ${kill.call}${again ? ', and again' : ''}`;
        world.kill(kill);
        await act.act(world, steps, id).then(
          () => expect.fail(`${where}: said that all went well`),
          () => undefined,
        );
        world.queue.splice(0);
        world.revive();
        const now = await standing(world, id);
        const isWhole = now.told === after.told;
        if (isWhole) stood += 1;
        expect(now, where).to.deep.equal(isWhole ? after : before);
        if (again) await act.act(world, steps, id);
        // Its messages were lost with it.
        world.pass(120);
        await world.sweep();
        await world.drain(steps);
        if (!again && !isWhole) continue;
        expect([...world.things], where).to.deep.equal(shown);
        const { told: _, ...rest } = await standing(world, id);
        const { told: __, ...wanted } = end;
        const events = { last: again && act.what === 'protecting' ? rest.record.last : wanted.record.last };
        expect(rest, where).to.deep.equal({ ...wanted, record: { ...wanted.record, ...events } });
      }
      expect(stood, 'cut off after it stood').to.be.greaterThan(0);
    });
  }
});
