/** Events of organizations and teams, as the deployment's webhook gets them. */
import { expect } from 'chai';
import { readConfig } from '../../functions/config.js';
import { createContext } from '../../functions/context.js';
import type { Store } from '../../functions/store/store.js';
import { sendNotices } from '../../functions/webhook/send-notices.js';
import { createClock } from '../../local/functions/clock.js';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import { OrganizationEvent } from '../../shared/organization/organization.js';
import { callEverything } from '../organizations/every-operation.js';
import {
  createOrganizationsServer,
  type OrganizationsServer,
  operator,
} from '../organizations/organizations-server.js';
import { isGenuine, type Receiver, startReceiver } from '../support/webhook-receiver.js';
import { createIssuer, type Issuer } from './issuer.js';

const key = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;

describe('events on their way to the webhook', () => {
  let issuer: Issuer;
  let store: Store;
  let server: OrganizationsServer;
  let receiver: Receiver;
  let organizationId: string;
  let minutes = 0;

  before(async () => {
    issuer = await createIssuer();
    store = createMemoryStore();
    receiver = await startReceiver();
    server = await createOrganizationsServer(issuer, { store, env: { PLINTH_WEBHOOK_URL: receiver.url } });
    organizationId = (await callEverything(server)).organization.id;
    await refuseAnother();
    await delivered();
  });
  after(async () => {
    server.close();
    issuer.close();
    await receiver.close();
  });

  /** As sweep does, minute by minute, until nothing waits. */
  async function delivered(): Promise<void> {
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
    }
  }

  /** Another account with the e-mail of a member who has changed something. */
  async function refuseAnother(): Promise<void> {
    const [as, params] = ['twin@example.com', { organizationId }];
    await server.expect(201, 'addOrganizationMember', { as: operator, params, body: { email: as, role: 'admin' } });
    await server.expect(200, 'renameOrganization', { as, params, body: { name: 'Twins' } });
    await server.expect(403, 'getOrganization', { as, subject: 'another', params });
  }

  it('are of every kind, each signed, and each sent once', () => {
    const kinds = receiver.received.map(({ text }) => (JSON.parse(text) as { type: string }).type);
    const all = OrganizationEvent.shape.action.options.map((action) => action.replace('-', '.'));
    expect([...new Set(kinds)]).to.have.members(all);
    const ids = receiver.received.map(({ headers }) => String(headers['webhook-id']));
    expect(new Set(ids).size).to.equal(ids.length);
    for (const each of receiver.received) {
      expect(isGenuine(each, key, Date.now() + minutes * 60_000)).to.equal(true);
    }
  });

  it('names who was left out of a team that came back, and why', async () => {
    const { organizationId, teamId } = await leftBehind();
    await server.expect(200, 'restoreTeam', { as: operator, params: { teamId } });
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
    return { organizationId, teamId };
  }
});
