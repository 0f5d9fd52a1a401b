/** Warnings before a project's time is over: a day, an hour, ten minutes; each once, whatever dies; sent until they are taken. */
import { expect } from 'chai';
import { extend, protect, unprotect } from '../../functions/bootstraps/lifetime/lifetime.js';
import { warn } from '../../functions/bootstraps/lifetime/warn.js';
import { requestRemoval } from '../../functions/bootstraps/removal/removal.js';
import { eventId } from '../../functions/engine/record/documents.js';
import { sendNotices } from '../../functions/webhook/send-notices.js';
import { collections, deploymentSecrets } from '../../shared/names.js';
import { isGenuine, type Receiver, startReceiver } from '../support/webhook-receiver.js';
import { toy } from './toys.js';
import { createWorld, type World } from './world.js';

const hour = 3600;
const secretOf = (letter: string) => `whsec_${Buffer.alloc(32, letter).toString('base64')}`;

describe('warnings before a project’s time is over', () => {
  let world: World;
  beforeEach(() => {
    world = createWorld();
  });
  const steps = () => [toy(world, 'project', {})];
  async function made(projectTtl: string, projectName = 'My project'): Promise<string> {
    const { bootstrap } = await world.begin(steps(), { projectTtl, projectName });
    await world.drain(steps());
    return bootstrap.id;
  }
  async function told(id: string) {
    const { data } = await world.read(id);
    const ids = Array.from({ length: data.events }, (_, i) => eventId(id, i + 1));
    const found = await world.store.getMany(collections.events, ids);
    return found.flatMap((document) => {
      const event = document?.data['event'] as { type: string; text: string; advice: string; at: string };
      return event.type === 'warning' ? [event] : [];
    });
  }
  /** What is told each minute of that time. */
  async function livesFor(seconds: number): Promise<void> {
    for (let passed = 0; passed < seconds; passed += 60) {
      world.pass(60);
      await warn(world.context);
    }
  }

  it('are told where the time to live allows, each once, with what to do', async () => {
    for (const [projectTtl, seconds, leads] of [
      ['2d', 49 * hour, ['1d', '1h', '10m']],
      ['2h', 3 * hour, ['1h', '10m']],
      ['1h', 2 * hour, ['10m']],
      ['10m', hour, []],
    ] as const) {
      const id = await made(projectTtl, `lives ${projectTtl}`);
      await livesFor(seconds);
      const events = await told(id);
      expect(events.map(({ text }) => /removed in (\w+),/.exec(text)?.[1])).to.deep.equal([...leads]);
      const { data } = await world.read(id);
      for (const { text, advice } of events) {
        expect(text).to.contain(data.projectId).and.to.contain(data.deadlineAt);
        expect(advice).to.contain(`extend ${data.projectId} --ttl`);
      }
      expect(data.warnAt).to.equal(undefined);
    }
  });

  it('are found by one query of what is due, however many live', async () => {
    for (let i = 0; i < 30; i++) await made('2d', `many ${i}`);
    const id = await made('2h');
    world.pass(hour + 60);
    const before = world.counts.reads;
    expect(await warn(world.context)).to.deep.equal({ warned: 1, more: false });
    expect(world.counts.reads - before).to.equal(2);
    expect(await told(id)).to.have.length(1);
    expect(await warn(world.context)).to.deep.equal({ warned: 0, more: false });
    expect(world.counts.reads - before).to.equal(3);
  });

  it('that do not fit into one run are told by the next', async () => {
    for (let i = 0; i < 5; i++) await made('2h', `many ${i}`);
    world.pass(hour + 60);
    expect(await warn(world.context, 3)).to.deep.equal({ warned: 3, more: true });
    expect(await warn(world.context, 3)).to.deep.equal({ warned: 2, more: false });
  });

  it('say how long is really left when they come late, and none is told for what is over', async () => {
    const late = await made('2d', 'late');
    world.pass(48 * hour - 30 * 60);
    await warn(world.context);
    expect((await told(late)).map(({ text }) => /removed in (\w+),/.exec(text)?.[1])).to.deep.equal(['30m']);
    const over = await made('2h', 'over');
    world.pass(3 * hour);
    expect((await warn(world.context)).warned).to.equal(0);
    expect((await world.read(over)).data.warnAt).to.equal(undefined);
  });

  it('are told anew for a new deadline, and go by the end of a protection', async () => {
    const id = await made('2h');
    await livesFor(hour + 60);
    expect((await world.read(id)).data.warned).to.not.equal(undefined);
    await extend(world.context, steps(), id, 'alice@example.com', '3h');
    await world.drain(steps());
    // What was told is of another time.
    expect((await world.read(id)).data.warned).to.equal(undefined);
    expect((await world.read(id)).data.state).to.equal('succeeded');
    await livesFor(hour);
    expect(await told(id)).to.have.length(1);
    const until = new Date(world.context.clock.now().getTime() + 30 * hour * 1000).toISOString();
    // The ceiling of this world is two hours, and operators pass it.
    const operator = { email: 'ops@example.com', operator: true };
    await protect(world.context, steps(), id, operator, { until, reason: 'a demo' });
    await livesFor(5 * hour);
    expect(await told(id)).to.have.length(1);
    await livesFor(2 * hour);
    expect((await told(id)).at(-1)?.text)
      .to.contain('removed in 1d')
      .and.to.contain(until);
    await unprotect(world.context, steps(), id, 'alice@example.com');
    await livesFor(hour);
    expect(await told(id)).to.have.length(2);
  });

  it('are not told of what is being removed', async () => {
    const id = await made('2h');
    await requestRemoval(world.context, steps(), id, { by: 'alice@example.com', why: 'asked' });
    await livesFor(2 * hour);
    expect(await told(id)).to.deep.equal([]);
    await world.drain(steps());
    expect((await world.read(id)).data.state).to.equal('removed');
  });

  it('advise what is still possible where the ceiling is reached', async () => {
    world = createWorld({ PLINTH_MAX_TTL_SECONDS: String(2 * hour) });
    const id = await made('2h');
    await livesFor(hour + 60);
    const [event] = await told(id);
    expect(event?.advice).to.contain('Only an operator').and.to.contain('protect');
  });

  it('are told once, killed before or after any call of the store, and by several at once', async () => {
    for (let call = 1; call <= 6; call++) {
      for (const when of ['before', 'after'] as const) {
        world = createWorld();
        const id = await made('2h');
        world.pass(hour + 60);
        world.revive();
        world.kill({ call, when });
        await warn(world.context).catch(() => undefined);
        world.revive();
        await Promise.all([warn(world.context), warn(world.context), warn(world.context)]);
        expect(await told(id), `${when} call ${call}`).to.have.length(1);
      }
    }
  });

  it('are not held up by a record that cannot be read', async () => {
    const broken = await made('2h', 'broken');
    // Else both may be due at the same moment, and come in the order of their ids, which are made by chance.
    world.pass(1);
    const id = await made('2h', 'whole');
    await world.store.commit([
      { kind: 'update', collection: collections.bootstraps, id: broken, data: { schema: 99 } },
    ]);
    world.pass(hour + 60);
    expect((await warn(world.context, 1)).warned).to.equal(0);
    expect((await warn(world.context, 1)).warned).to.equal(1);
    expect(await told(id)).to.have.length(1);
    expect(world.logs.some(({ severity, message }) => severity === 'ERROR' && message.includes(broken))).to.equal(true);
  });

  describe('sent to a webhook', () => {
    let receiver: Receiver;
    let id: string;
    const key = secretOf('k');
    beforeEach(async () => {
      receiver = await startReceiver();
      world = createWorld({ PLINTH_WEBHOOK_URL: receiver.url });
      world.secrets.set(deploymentSecrets.webhookKey, [key]);
      id = await made('2h');
      world.pass(hour + 60);
      await warn(world.context);
    });
    afterEach(() => receiver.close());
    const now = () => world.context.clock.now().getTime();
    const left = async () => (await world.store.query({ collection: collections.notices })).length;

    it('are signed, say all that matters, and are sent once when they are taken', async () => {
      expect(await sendNotices(world.context)).to.deep.equal({ sent: 1, refused: 0 });
      const [got] = receiver.received;
      if (got === undefined) throw new Error('nothing came');
      expect(isGenuine(got, key, now())).to.equal(true);
      expect(isGenuine({ ...got, text: `${got.text} ` }, key, now())).to.equal(false);
      expect(isGenuine(got, secretOf('x'), now())).to.equal(false);
      expect(got.path).to.equal('/hook?from=plinth');
      expect(got.headers['content-type']).to.equal('application/json');
      const [event] = await told(id);
      const { data } = await world.read(id);
      expect(JSON.parse(got.text)).to.deep.equal({
        type: 'bootstrap.expiring',
        timestamp: event?.at,
        data: {
          bootstrapId: id,
          name: data.name,
          projectId: data.projectId,
          owner: data.owner,
          removeAt: data.deadlineAt,
          text: event?.text,
          advice: event?.advice,
        },
      });
      world.pass(24 * hour);
      expect(await sendNotices(world.context)).to.deep.equal({ sent: 0, refused: 0 });
      expect(await left()).to.equal(0);
    });

    it('are sent again, later each time, with the same id, until they are taken', async () => {
      receiver.answer = (response) => response.writeHead(500).end('no');
      await sendNotices(world.context);
      await sendNotices(world.context);
      expect(receiver.received).to.have.length(1);
      world.pass(61);
      await sendNotices(world.context);
      world.pass(61);
      await sendNotices(world.context);
      expect(receiver.received).to.have.length(2);
      receiver.answer = (response) => response.writeHead(200).end('yes');
      world.pass(300);
      await sendNotices(world.context);
      expect(receiver.received).to.have.length(3);
      const ids = new Set(receiver.received.map(({ headers }) => headers['webhook-id']));
      expect([...ids]).to.deep.equal([`msg_${eventId(id, (await world.read(id)).data.events).replace('~', '_')}`]);
      const texts = new Set(receiver.received.map(({ text }) => text));
      expect(texts.size).to.equal(1);
      expect(receiver.received.every((got) => got.headers['webhook-signature'] !== undefined)).to.equal(true);
      expect(await left()).to.equal(0);
    });

    it('follow no redirect, and are given up after a day, or when they are not wanted any more', async () => {
      const other = await startReceiver();
      receiver.answer = (response) => response.writeHead(307, { location: other.url }).end();
      for (let tries = 0; tries < 20; tries++) {
        await sendNotices(world.context);
        world.pass(10 * hour);
      }
      expect(other.received).to.deep.equal([]);
      expect(receiver.received).to.have.length(8);
      expect(await left()).to.equal(0);
      expect(world.logs.some(({ message }) => message.includes('given up: the receiver answered 307'))).to.equal(true);
      await other.close();
      receiver.answer = (response) => response.writeHead(410).end();
      await made('2h', 'unwanted');
      world.pass(hour + 60);
      await warn(world.context);
      await sendNotices(world.context);
      expect(await left()).to.equal(0);
    });

    it('go out once each, with several senders at once, and a sender that dies leaves them to the next', async () => {
      for (let i = 0; i < 9; i++) await made('2h', `many ${i}`);
      world.pass(hour + 60);
      await warn(world.context);
      world.revive();
      world.kill({ call: 4, when: 'after' });
      await sendNotices(world.context).catch(() => undefined);
      world.revive();
      await Promise.all([sendNotices(world.context), sendNotices(world.context)]);
      world.pass(61);
      await sendNotices(world.context);
      expect(await left()).to.equal(0);
      const ids = new Set(receiver.received.map(({ headers }) => headers['webhook-id']));
      expect(ids.size).to.equal(10);
    });

    it('are signed with each key that is enabled, and wait where there is none', async () => {
      world.secrets.set(deploymentSecrets.webhookKey, ['no key']);
      const refused = await sendNotices(world.context).catch((error: unknown) => String(error));
      expect(refused).to.contain('holds no key');
      world.secrets.set(deploymentSecrets.webhookKey, [key, secretOf('n')]);
      expect((await sendNotices(world.context)).sent).to.equal(1);
      const [got] = receiver.received;
      if (got === undefined) throw new Error('nothing came');
      expect(isGenuine(got, key, now())).to.equal(true);
      expect(isGenuine(got, secretOf('n'), now())).to.equal(true);
    });
  });
});
