/** Events that are sent to the webhook again: which, how, for whom. */
import { expect } from 'chai';
import { readConfig } from '../../functions/config.js';
import { createContext } from '../../functions/context.js';
import type { Store } from '../../functions/store/store.js';
import { liftNotice } from '../../functions/webhook/notices.js';
import { sendNotices } from '../../functions/webhook/send-notices.js';
import { createClock } from '../../local/functions/clock.js';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import { OrganizationEvent } from '../../shared/organization/organization.js';
import type { Replayed } from '../../shared/organization/replay.js';
import type { ProblemBody } from '../../shared/problems.js';
import { callEverything, type Furnished } from '../organizations/every-operation.js';
import {
  createOrganizationsServer,
  type OrganizationsServer,
  operator,
} from '../organizations/organizations-server.js';
import { isGenuine, type Received, type Receiver, startReceiver } from '../support/webhook-receiver.js';
import { createIssuer, type Issuer } from './issuer.js';

const key = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;

describe('a replay to the webhook', () => {
  let issuer: Issuer;
  let store: Store;
  let server: OrganizationsServer;
  let receiver: Receiver;
  let made: Furnished;
  let minutes = 0;
  /** What was sent first, by its id. */
  let first: ReadonlyMap<string, Received>;

  before(async () => {
    issuer = await createIssuer();
    store = createMemoryStore();
    receiver = await startReceiver();
    server = await createOrganizationsServer(issuer, { store, env: { PLINTH_WEBHOOK_URL: receiver.url } });
    made = await callEverything(server, { webhook: true });
    await refuseAnother();
    await delivered();
    first = byId(receiver.received);
  });
  after(async () => {
    server.close();
    issuer.close();
    await receiver.close();
  });
  beforeEach(() => {
    receiver.received.length = 0;
  });

  const byId = (all: readonly Received[]) => new Map(all.map((each) => [String(each.headers['webhook-id']), each]));
  const idsOf = (all: readonly Received[]) => all.map(({ headers }) => String(headers['webhook-id']));
  /** A refusal is told once for each membership and account, so its message is named after these. */
  const isOf = (id: string, { id: eventId, action }: OrganizationEvent): boolean =>
    id.endsWith(eventId) || (action === 'identity-refused' && id.includes('_identity-refused-'));
  /** As sweep does, minute by minute, until nothing waits. How many had been received after each. */
  async function delivered(): Promise<number[]> {
    const received: number[] = [];
    const config = readConfig({
      PLINTH_PROJECT: 'plinth-test',
      PLINTH_DEPLOYMENT: 'test',
      PLINTH_MACHINE_ACCESS: 'direct',
      PLINTH_SSH_SOURCE_RANGES: '127.0.0.0/8',
      PLINTH_WEBHOOK_URL: receiver.url,
    });
    const secretManager = { versions: async () => ['1'], read: async () => key };
    const clock = { ...createClock(1), now: () => new Date(Date.now() + minutes * 60_000) };
    const context = createContext(config, {
      store,
      clock,
      cloud: { secretManager } as never,
      log: () => undefined,
    });
    while ((await store.query({ collection: 'notices', limit: 1 })).length > 0) {
      await sendNotices(context);
      minutes += 1;
      received.push(receiver.received.length);
    }
    return received;
  }
  const waiting = async () =>
    (await store.query({ collection: 'notices' })).map(({ id, data }) => ({ id, ...liftNotice(data) }));
  const dueMoments = async () => (await waiting()).map(({ dueAt }) => Date.parse(dueAt)).sort((a, b) => a - b);
  const gaps = (moments: readonly number[]) => moments.slice(1).map((moment, i) => moment - (moments[i] ?? 0));
  const params = () => ({ organizationId: made.organization.id });
  const replay = (body: object, as: string = operator) =>
    server.expect<Replayed>(200, 'replayOrganizationEvents', { as, params: params(), body });
  const events = async () =>
    (
      await server.expect<OrganizationEvent[]>(200, 'listOrganizationEvents', { as: operator, params: params() })
    ).reverse();

  /** Another account with the e-mail of a member who has changed something. */
  async function refuseAnother(): Promise<void> {
    const as = 'twin@example.com';
    await server.expect(201, 'addOrganizationMember', {
      as: operator,
      params: params(),
      body: { email: as, role: 'admin' },
    });
    await server.expect(200, 'renameOrganization', { as, params: params(), body: { name: 'Twins' } });
    await server.expect(403, 'getOrganization', { as, subject: 'another', params: params() });
  }

  it('has had every kind of event sent before', () => {
    const kinds = new Set([...first.values()].map(({ text }) => (JSON.parse(text) as { type: string }).type));
    const all = OrganizationEvent.shape.action.options.map((action) => action.replace('-', '.'));
    expect([...kinds]).to.have.members(all);
  });

  it('sends all from a time on, oldest first, each signed, with the id and the text that it had', async () => {
    const told = await events();
    const { events: count, next } = await replay({ since: '2026-01-01T00:00:00Z' });
    expect([count, next]).to.deep.equal([told.length, undefined]);
    const until = await delivered();
    expect(receiver.received).to.have.length(told.length);
    for (const each of receiver.received) {
      expect(each.text).to.equal(first.get(String(each.headers['webhook-id']))?.text);
      expect(isGenuine(each, key, Date.now() + minutes * 60_000)).to.equal(true);
    }
    const at = (id: string) => told.findIndex((event) => isOf(id, event));
    const minuteOf = idsOf(receiver.received)
      .map((id, i) => ({ place: at(id), minute: until.findIndex((count) => i < count) }))
      .sort((a, b) => a.place - b.place)
      .map(({ minute }) => minute);
    expect(minuteOf, 'oldest first').to.deep.equal([...minuteOf].sort((a, b) => a - b));
  });

  it('twice at once sends each once, and later once more with the same id', async () => {
    await Promise.all([replay({ since: '2026-01-01T00:00:00Z' }), replay({ since: '2026-01-01T00:00:00Z' })]);
    await delivered();
    const ids = idsOf(receiver.received);
    expect(new Set(ids).size).to.equal(ids.length);
    await replay({ since: '2026-01-01T00:00:00Z' });
    await delivered();
    expect(new Set(idsOf(receiver.received)).size).to.equal(ids.length);
  });

  it('takes its turn with others at the same time, so that all together send no more a minute than one', async () => {
    const since = { since: '2026-01-01T00:00:00Z' };
    const organizations = await Promise.all(['Left', 'Right'].map((name) => recorded(name)));
    await delivered();
    const asked = await Promise.all(
      organizations.map((organizationId) =>
        server.expect<Replayed>(200, 'replayOrganizationEvents', {
          as: operator,
          params: { organizationId },
          body: since,
        }),
      ),
    );
    const moments = await dueMoments();
    expect(gaps(moments)).to.deep.equal(Array.from({ length: 2 * 61 - 1 }, () => 1200));
    const untils = asked.map(({ until = '' }) => Date.parse(until));
    expect(Math.max(...untils)).to.equal(Math.max(...moments) + 60_000);
    await delivered();
  });

  it('takes one place for each event, however often the same is asked for at once', async () => {
    const organizationId = await recorded('Ten');
    await delivered();
    const begins = Date.now() + 3_600_000;
    await withLine(begins, async (line) => {
      const slow = await createOrganizationsServer(issuer, {
        store: readTogether(10),
        env: { PLINTH_WEBHOOK_URL: receiver.url },
      });
      const asked = { as: operator, params: { organizationId }, body: { since: '2026-01-01T00:00:00Z' } };
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => slow.expect<Replayed>(200, 'replayOrganizationEvents', asked)),
      );
      slow.close();
      expect(new Set(answers.map(({ events: count }) => count))).to.deep.equal(new Set([61]));
      expect(await line()).to.equal(begins + 61 * 1200);
    });
    await delivered();
  });

  it('takes 1.2 seconds of the line for each event, and no whole minute', async () => {
    const organizations = await Promise.all(['Short', 'Shorter'].map((name) => recorded(name, 2)));
    await delivered();
    for (const organizationId of organizations) {
      await server.expect(200, 'replayOrganizationEvents', {
        ...{ as: operator, params: { organizationId } },
        body: { since: '2026-01-01T00:00:00Z' },
      });
    }
    expect(gaps(await dueMoments())).to.deep.equal([1200, 1200, 1200, 1200, 1200]);
    await delivered();
  });

  it('postpones nothing that waits, and brings forward what would wait for longer', async () => {
    const organizationId = await recorded('Waiting', 60);
    const before = await waiting();
    expect(before).to.have.length(61);
    const later = before[60]?.id ?? '';
    const { expireAt } = before[60] ?? {};
    const dueAt = new Date(Date.now() + 10 * 3_600_000).toISOString();
    await store.commit([{ kind: 'update', collection: 'notices', id: later, data: { dueAt, attempts: 5 } }]);
    const asked = { as: operator, params: { organizationId }, body: { since: '2026-01-01T00:00:00Z' } };
    const answers = await Promise.all([
      server.expect<Replayed>(200, 'replayOrganizationEvents', asked),
      server.expect<Replayed>(200, 'replayOrganizationEvents', asked),
    ]);
    expect(answers.map(({ events: count }) => count)).to.deep.equal([61, 61]);
    const after = await waiting();
    const without = (all: typeof before) => all.filter(({ id }) => id !== later);
    expect(without(after)).to.deep.equal(without(before));
    const brought = after.find(({ id }) => id === later);
    expect(brought?.attempts).to.equal(0);
    expect(Date.parse(brought?.dueAt ?? dueAt)).to.be.below(Date.now() + 3_600_000);
    expect(Date.parse(brought?.expireAt ?? '')).to.be.at.least(Date.parse(expireAt ?? ''));
    await delivered();
  });

  it('is refused where the line has no room for it, naming the limit and where to begin later', async () => {
    const organizationId = await recorded('Refused', 60);
    await delivered();
    const params = { organizationId };
    const told = await server.expect<OrganizationEvent[]>(200, 'listOrganizationEvents', { as: operator, params });
    const first = told.at(-1)?.id;
    // It would take a minute until there are 61 places.
    const until = roomFor(10);
    await withLine(until, async (line) => {
      const { status, headers, body } = await server.ask('replayOrganizationEvents', {
        ...{ as: operator, params },
        body: { since: '2026-01-01T00:00:00Z' },
      });
      expect(status).to.equal(429);
      expect((body as ProblemBody).detail).to.match(
        /^At most 72000 events of the deployment may wait to be sent again: 719\d\d do, and these are 61\.$/,
      );
      expect(body).to.include({ code: 'too-many', limit: 'eventsSentAgain', value: 72_000, next: first });
      expect(Number(headers.get('retry-after'))).to.be.within(1, 62);
      expect(await waiting()).to.deep.equal([]);
      expect(await line()).to.equal(until);
      const few = { ...{ as: operator, params }, body: { eventId: told.at(9)?.id } };
      for (const again of ['there is room for ten', 'what waits takes no place']) {
        expect((await server.expect<Replayed>(200, 'replayOrganizationEvents', few)).events, again).to.equal(10);
      }
    });
    await delivered();
  });

  it('that the line has no room for to its end names the event to go on with, and what it sends goes out', async () => {
    const organizationId = await recorded('Half', 60, 2);
    await delivered();
    const params = { organizationId };
    const told = (
      await server.expect<OrganizationEvent[]>(200, 'listOrganizationEvents', { as: operator, params })
    ).reverse();
    expect(told).to.have.length(121);
    const next = told[100]?.id;
    await withLine(roomFor(115), async () => {
      const since = { as: operator, params, body: { since: '2026-01-01T00:00:00Z' } };
      for (const again of ['once', 'and again, as what waits takes no place']) {
        const answer = await server.expect<Replayed>(200, 'replayOrganizationEvents', since);
        expect(answer, again).to.include({ events: 100, next });
        expect(await waiting()).to.have.length(100);
        expect(Date.parse(answer.until ?? '')).to.equal(((await dueMoments()).at(-1) ?? 0) + 60_000);
      }
      const rest = await server.ask('replayOrganizationEvents', { ...since, body: { eventId: next } });
      expect(rest.status).to.equal(429);
      expect(rest.body).to.include({ limit: 'eventsSentAgain', next });
    });
    await delivered();
  });

  /** Outside of transactions, so many read what waits before the first of them goes on. */
  function readTogether(count: number): Store {
    let left = count;
    let go: () => void = () => undefined;
    const all = new Promise<void>((resolve) => {
      go = resolve;
    });
    return {
      ...store,
      async getMany(collection, ids) {
        const found = await store.getMany(collection, ids);
        if (collection !== 'notices') return found;
        left -= 1;
        if (left === 0) go();
        await all;
        return found;
      },
    };
  }

  /** When a line that has room for so many ends. */
  const roomFor = (places: number) => Date.now() + (72_000 - places) * 1200;
  /** With a line that ends then. `work` gets when it ends by now. */
  async function withLine(until: number, work: (line: () => Promise<number>) => Promise<void>): Promise<void> {
    const place = { collection: 'passes', id: 'replays' };
    const found = () => store.get(place.collection, place.id);
    const before = await found();
    await store.commit([{ kind: 'set', ...place, data: { schema: 1, until: new Date(until).toISOString() } }]);
    try {
      await work(async () => Date.parse(String((await found())?.data['until'])));
    } finally {
      await store.commit([
        before === undefined ? { kind: 'delete', ...place } : { kind: 'set', ...place, data: before.data },
      ]);
    }
  }

  /** Its making, and its members. */
  async function recorded(name: string, count = 60, times = 1): Promise<string> {
    const { id } = await server.expect<{ id: string }>(201, 'createOrganization', { as: operator, body: { name } });
    for (let n = 0; n < times; n++) {
      const members = Array.from({ length: count }, (_, i) => ({ email: `member-${n * count + i}@example.com` }));
      await server.expect(200, 'addOrganizationMembers', {
        as: operator,
        params: { organizationId: id },
        body: { members },
      });
    }
    return id;
  }

  it('goes on from an event, and sends those of a team from before it came into its organization', async () => {
    const told = await events();
    const from = told.at(-3) as OrganizationEvent;
    expect((await replay({ eventId: from.id })).events).to.equal(3);
    await delivered();
    expect(idsOf(receiver.received).every((id) => told.slice(-3).some((event) => isOf(id, event)))).to.equal(true);
    receiver.received.length = 0;
    const ofTeam = { as: 'alice@example.com', params: { teamId: made.standalone.teamId } };
    const { events: count } = await server.expect<Replayed>(200, 'replayTeamEvents', {
      ...ofTeam,
      body: { since: '2026-01-01T00:00:00Z' },
    });
    const record = await server.expect<unknown[]>(200, 'listTeamEvents', ofTeam);
    expect(count).to.equal(record.length);
    await delivered();
    const types = receiver.received.map(({ text }) => (JSON.parse(text) as { type: string }).type);
    expect(types).to.include('team.created').and.to.include('team.migrated');
  });

  it('is for admins, and needs one beginning that is there', async () => {
    const since = { since: '2026-01-01T00:00:00Z' };
    const refused = async (status: number, as: string, body: object) =>
      server.expect(status, 'replayOrganizationEvents', { as, params: params(), body });
    await refused(403, 'erin@example.com', since);
    await refused(404, 'nobody@example.com', since);
    for (const body of [{}, { ...since, eventId: '00062a5c3f0b1e-1a2b3c4d' }, { since: 'yesterday' }]) {
      await refused(400, operator, body);
    }
    await refused(400, operator, { eventId: '00062a5c3f0b1e-1a2b3c4d' });
    expect((await replay({ since: '2100-01-01T00:00:00Z' })).events).to.equal(0);
  });

  it('names who was left out of a team that came back, and why', async () => {
    const { server: other, organizationId, teamId } = await leftBehind();
    await other.expect(200, 'restoreTeam', { as: operator, params: { teamId } });
    const restored = (await store.query({ collection: 'notices' }))
      .map(({ data }) => JSON.parse(String(data['body'])) as { type: string; data: Record<string, unknown> })
      .find(({ type, data }) => type === 'team.restored' && data['teamId'] === teamId);
    expect(restored?.data).to.deep.include({
      organizationId,
      removed: ['zed@example.com'],
      why: 'They had left the organization that the team came back into.',
    });
    await delivered();
  });

  /** A deleted team, one of whose members has left its organization meanwhile. */
  async function leftBehind() {
    const as = operator;
    const { id: organizationId } = await server.expect<{ id: string }>(201, 'createOrganization', {
      as,
      body: { name: 'Left' },
    });
    const email = 'zed@example.com';
    await server.expect(201, 'addOrganizationMember', { as, params: { organizationId }, body: { email } });
    const { teamId } = await server.expect<{ teamId: number }>(201, 'createTeam', {
      as,
      body: { name: 'Left', organizationId },
    });
    await server.expect(201, 'addTeamMember', { as, params: { teamId }, body: { email } });
    await server.expect(200, 'deleteTeam', { as, params: { teamId } });
    await server.expect(204, 'removeOrganizationMember', { as, params: { organizationId, email } });
    return { server, organizationId, teamId };
  }
});
