/** What is added to a document again and again, by its owner, by machines or by time: each document keeps the latest of it. */
import { expect } from 'chai';
import { startedAgain } from '../../functions/bootstraps/budget/stop-vms.js';
import { share, unshare } from '../../functions/bootstraps/people/people.js';
import { searchHourly } from '../../functions/cleanup/hourly-search.js';
import { lookAtMachines } from '../../functions/cleanup/unplanned-machines.js';
import type { BootstrapRecord } from '../../functions/engine/record/documents.js';
import { createStepLog } from '../../functions/engine/record/log.js';
import { planOfRecord } from '../../functions/engine/record/plan-of-record.js';
import { endInstance } from '../../functions/engine/record/transition.js';
import { type AnyStep, needsClient, type Outcome } from '../../functions/engine/step.js';
import { collections } from '../../shared/names.js';
import { Problem } from '../../shared/problems.js';
import { redactorOf } from '../support/redactor.js';
import { toy } from './toys.js';
import { alice, createWorld, type World } from './world.js';

const vms = { of: 'vms', keys: () => ['k0s-1', 'jumpbox'] } as const;
const numbered = (count: number, name: string): string[] => Array.from({ length: count }, (_, i) => `${name}-${i}`);

describe('a document that is added to again and again', () => {
  let world: World;
  let steps: AnyStep[];
  let id: string;
  beforeEach(async () => {
    world = createWorld();
    steps = [toy(world, 'project'), toy(world, 'apis'), toy(world, 'caller-role'), toy(world, 'vm', { each: vms })];
    id = (await world.begin(steps)).bootstrap.id;
    await world.drain(steps);
  });
  const change = (data: object) =>
    world.store.commit([{ kind: 'update', collection: collections.bootstraps, id, data: { ...data } }]);

  it('keeps the latest of the people whose role is taken back', async () => {
    await change({ formerPeople: numbered(500, 'former') });
    for (const email of ['zoe@example.org', 'yan@example.org']) {
      await share(world.context, steps, id, alice.email, email);
      await unshare(world.context, steps, id, alice.email, email);
      await world.drain(steps);
    }
    const { formerPeople = [] } = (await world.read(id)).data;
    expect(formerPeople).to.have.length(500);
    expect(formerPeople.slice(-2)).to.deep.equal(['zoe@example.org', 'yan@example.org']);
  });

  it('keeps how long each VM was stopped, in few pauses', async () => {
    let record: BootstrapRecord = (await world.read(id)).data;
    const start = Date.parse(record.createdAt);
    const minute = (n: number): string => new Date(start + n * 60_000).toISOString();
    const plan = planOfRecord(steps, record);
    for (let n = 0; n < 300; n++) {
      for (const vm of ['vm:k0s-1', 'vm:jumpbox']) {
        const resolution = { state: 'done', output: { stopped: true } } as const;
        record = endInstance(record, plan, { id: vm, resolution, at: minute(10 * n), attempt: 0 }).record;
      }
      record = startedAgain(record, minute(10 * n + 3));
    }
    const { pauses = [] } = record;
    expect(pauses).to.have.length.below(100);
    for (const vm of ['k0s-1', 'jumpbox']) {
      const own = pauses.filter((pause) => pause.vm === vm);
      const stopped = own.map(({ from, until = '' }) => (Date.parse(until) - Date.parse(from)) / 60_000);
      expect(stopped.reduce((sum, each) => sum + each, 0)).to.equal(900);
      expect(
        own.every(({ from }, i) => i === 0 || from >= (own[i - 1]?.until ?? '')),
        'one after the other',
      ).to.equal(true);
    }
  });

  it('keeps the latest warnings', async () => {
    let record: BootstrapRecord = (await world.read(id)).data;
    const plan = planOfRecord(steps, record);
    for (const warning of numbered(1000, 'warning')) {
      const resolution = { state: 'done', output: {}, warning } as const;
      record = endInstance(record, plan, { id: 'apis', resolution, at: record.createdAt, attempt: 0 }).record;
    }
    expect(record.warnings).to.have.length.below(101);
    expect(record.warnings.at(-1)).to.equal('warning-999');
  });

  it('names some of thousands of machines that no plan holds, and tells how many there are', async () => {
    const machines = numbered(5000, 'mine').map((name) => ({ name, zone: 'europe-west4-a' }));
    const context = { ...world.context, cloud: { vmLookup: { list: async () => machines } } } as never;
    for (let hour = 0; hour < 2; hour++) await lookAtMachines(context, [await world.read(id)]);
    const { data } = await world.read(id);
    expect(data.unplanned).to.have.length(100);
    const events = await world.store.query({ collection: collections.events, where: [['bootstrapId', '==', id]] });
    const told = events.flatMap(({ data: { event } }) => {
      const { action = '' } = event as { action?: string };
      return action.includes('plinth did not make') ? [action] : [];
    });
    expect(told).to.have.length(1);
    expect(told[0]).to.contain('and 4900 more');
    expect(told[0]).to.have.length.below(5000);
  });

  it('names no more unknown projects than fit, however many there are', async () => {
    const unknown = numbered(3000, 'unknown').map((projectId) => ({ projectId, name: 'projects/1', state: 'ACTIVE' }));
    const find = async (projectId: string) => unknown.find((each) => each.projectId === projectId);
    const cloud = { projects: { search: async () => unknown, find }, vmLookup: { list: async () => [] } };
    const context = { ...world.context, cloud } as never;
    const place = { collection: collections.passes, id: 'unknown-projects' };
    const told = numbered(1980, 'unknown');
    await world.store.commit([{ kind: 'create', ...place, data: { schema: 1, at: new Date(0).toISOString(), told } }]);
    await searchHourly(context);
    expect((await world.store.get(place.collection, place.id))?.data['told']).to.have.length(2000);
  });

  it('keeps how far the latest logs of a step were read', async () => {
    const whose = { bootstrapId: id, instance: 'vm:k0s-1', generation: 1, expireAt: '2030-01-01T00:00:00.000Z' };
    const clock = { ...world.context.clock, pause: async () => undefined };
    const log = createStepLog({ store: world.store, clock }, whose, redactorOf());
    for (const job of numbered(300, 'job')) await log.append(job, 0, Buffer.from('a line\n'), true);
    const [head] = await world.store.query({ collection: collections.logHeads });
    expect(head?.data['read']).to.have.length.below(101);
    expect(await log.offset('job-299')).to.equal(7);
  });
});

describe('a text that a machine chooses', () => {
  const endless = 'x'.repeat(2 * 1024 * 1024);
  const ends: Readonly<Record<string, readonly [state: string, outcome: () => Outcome]>> = {
    'why a step failed': [
      'failed',
      () => {
        throw new Problem('host-failed', endless);
      },
    ],
    'what a step awaits of the caller': ['running', () => needsClient(endless)],
  };
  for (const [what, [expected, outcome]] of Object.entries(ends)) {
    it(`is kept in short: ${what}`, async () => {
      const world = createWorld();
      const step = toy(world, 'project', { run: async () => outcome() });
      const { id } = (await world.begin([step])).bootstrap;
      await world.drain([step]);
      expect((await world.read(id)).data.state).to.equal(expected);
      for (const [collection, documents] of Object.entries(world.store.dump())) {
        for (const [name, data] of Object.entries(documents))
          expect(JSON.stringify(data).length, `${collection}/${name}`).to.be.below(30_000);
      }
    });
  }
});
