/** The record of an organization: in the order in which the database took what it tells of, and with nothing missing. */
import { expect } from 'chai';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import type { Organization, OrganizationEvent } from '../../shared/organization/organization.js';
import type { Team } from '../../shared/organization/team.js';
import {
  createOrganizationsServer,
  makeSecrets,
  type OrganizationsServer,
} from '../organizations/organizations-server.js';
import { createIssuer, type Issuer } from './issuer.js';

const halfAnHour = 1800;
const alice = 'alice@example.com';
const bob = 'bob@example.com';

describe('the events of an organization', () => {
  let issuer: Issuer;
  /** Processes whose clocks are wrong, each in its own way. */
  let servers: OrganizationsServer[] = [];
  before(async () => {
    issuer = await createIssuer();
    const store = createMemoryStore();
    const secrets = makeSecrets();
    servers = await Promise.all(
      [halfAnHour, 0, -halfAnHour].map((clockSeconds) =>
        createOrganizationsServer(issuer, {
          store: { ...store },
          secrets,
          clockSeconds,
          env: { PLINTH_ORGANIZATION_CREATORS: 'example.com' },
        }),
      ),
    );
  });
  after(() => {
    for (const server of servers) server.close();
    issuer?.close();
  });

  const server = (turn: number): OrganizationsServer => servers[turn % servers.length] as OrganizationsServer;
  const organization = async (turn: number): Promise<string> =>
    (await server(turn).expect<Organization>(201, 'createOrganization', { body: { name: 'Acme' } })).id;

  /** Newest first, whole or in pages. */
  async function events(organizationId: string, limit?: number): Promise<OrganizationEvent[]> {
    const found: OrganizationEvent[] = [];
    let query: Record<string, string> = limit === undefined ? {} : { limit: String(limit) };
    for (let turn = 0; ; turn++) {
      const reply = await server(turn).ask('listOrganizationEvents', { params: { organizationId }, query });
      expect(reply.status).to.equal(200);
      found.push(...(reply.body as OrganizationEvent[]));
      const next = /cursor=([^&>]+)/.exec(reply.headers.get('link') ?? '')?.[1];
      if (next === undefined) return found;
      query = { limit: String(limit), cursor: decodeURIComponent(next) };
    }
  }

  it('come in the order of the commits, whatever the clocks of the processes say', async () => {
    for (let first = 0; first < servers.length; first++) {
      const organizationId = await organization(first);
      const added = Array.from({ length: 7 }, (_, i) => `person-${i}@example.com`);
      for (const [i, email] of added.entries()) {
        await server(first + i).expect(201, 'addOrganizationMember', { params: { organizationId }, body: { email } });
      }
      const expected = [...added.toReversed(), undefined];
      const whole = await events(organizationId);
      expect(whole.map(({ email }) => email)).to.deep.equal(expected);
      for (const limit of [1, 3, 50]) expect(await events(organizationId, limit)).to.deep.equal(whole);
      const times = whole.map(({ at }) => at);
      expect(times).to.deep.equal(times.toSorted().toReversed());
    }
  });

  it('number the changes of a team, and those of a member, who may come back, without a gap', async () => {
    const organizationId = await organization(0);
    const ofBob = { organizationId, email: bob };
    const add = { params: { organizationId }, body: { email: bob } };
    await server(0).expect(201, 'addOrganizationMember', add);
    await server(1).expect(200, 'setOrganizationMemberRole', { params: ofBob, body: { role: 'admin' } });
    await server(2).expect(204, 'removeOrganizationMember', { params: ofBob });
    await server(0).expect(201, 'addOrganizationMember', add);
    const { teamId } = await server(1).expect<Team>(201, 'createTeam', { body: { name: 'Red' } });
    for (const operation of ['add', 'remove', 'add'] as const) {
      if (operation === 'add')
        await server(2).expect(201, 'addTeamMember', { params: { teamId }, body: { email: bob } });
      else await server(2).expect(204, 'removeTeamMember', { params: { teamId, email: bob } });
    }
    await server(0).expect(200, 'migrateTeam', { params: { teamId }, body: { organizationId } });
    await server(0).expect(204, 'removeTeamMember', { params: { teamId, email: bob } });
    await server(1).expect(204, 'removeOrganizationMember', { params: ofBob });

    const told = (await events(organizationId)).toReversed();
    const versions = (which: (event: OrganizationEvent) => boolean) => told.filter(which).map(({ version }) => version);
    expect(versions(({ email, teamId: team }) => email === bob && team === undefined)).to.deep.equal([1, 2, 3, 4, 5]);
    // The team was made, and changed three times, before it came here.
    expect(versions(({ teamId: team }) => team === teamId)).to.deep.equal([5, 6]);
    expect(versions(({ action }) => action === 'organization-created')).to.deep.equal([1]);
    expect(told[0]?.actor).to.equal(alice);
  });
});
