/** What bootstraps have cost, over HTTP. Their VMs stand in the records, as the steps would have written them. */
import { expect } from 'chai';
import { type CostGroup, type CostsView, costGroups } from '../../shared/bootstrap/costs.js';
import { microsOf } from '../../shared/bootstrap/money.js';
import type { BeginReply } from '../../shared/bootstrap/routes.js';
import { collections } from '../../shared/names.js';
import { createRandom } from '../organizations/random.js';
import { type BootstrapsServer, createBootstrapsServer, makeRequest } from './bootstraps-server.js';
import { createIssuer, type Issuer } from './issuer.js';

const hour = 3_600_000;
const people = ['alice@example.com', 'carol@example.com', 'dave@example.com'];

describe('what bootstraps have cost', () => {
  let issuer: Issuer;
  let server: BootstrapsServer;
  before(async () => {
    issuer = await createIssuer();
    server = await createBootstrapsServer(issuer);
  });
  after(() => {
    server.close();
    issuer.close();
  });

  /** A jumpbox of a removed bootstrap, that stood between two times. */
  async function stood(name: string, as: string, from: number, until: number, region = 'europe-west4') {
    const options = { region, zone: `${region}-b` };
    const { bootstrap } = await server.json<BeginReply>(201, 'POST', '/bootstraps', {
      body: makeRequest(name, options),
      as,
    });
    await server.settle();
    const { store } = server.context;
    const vm = {
      name: 'jumpbox',
      zone: `${region}-b`,
      machineType: 'e2-medium',
      internalIp: '10.10.0.2',
      provisioning: 'standard',
      createdAt: new Date(from).toISOString(),
    };
    const found = await store.get(collections.bootstraps, bootstrap.id);
    const instances = {
      ...(found?.data['instances'] as object),
      'vm:jumpbox': { state: 'gone', attempt: 0, output: vm },
    };
    const data = { instances, state: 'removed', endedAt: new Date(until).toISOString() };
    await store.commit([{ kind: 'update', collection: collections.bootstraps, id: bootstrap.id, data }]);
    return bootstrap;
  }
  const costs = (by: CostGroup, more = '', as = 'ops@example.com') =>
    server.json<CostsView>(200, 'GET', `/costs?by=${by}${more}`, { as });

  it('are cut at midnight and at the end of a month, in UTC', async () => {
    await stood(
      'over midnight',
      'carol@example.com',
      Date.parse('2026-09-30T23:00:00Z'),
      Date.parse('2026-10-01T03:00:00Z'),
    );
    const as = 'carol@example.com';
    const days = await costs('day', '', as);
    expect(days.rows.map(({ key }) => key)).to.deep.equal(['2026-09-30', '2026-10-01']);
    const [before = 0, after = 0] = days.rows.map(({ amount }) => microsOf(amount));
    expect(after).to.be.closeTo(3 * before, 2);
    expect((await costs('month', '', as)).rows.map(({ key }) => key)).to.deep.equal(['2026-09', '2026-10']);
    const october = await costs('project', '&from=2026-10-01', as);
    expect(october.rows).to.have.length(1);
    expect(october.total).to.equal(days.rows[1]?.amount);
    expect(october.rows[0]).to.include({ name: 'over midnight', owner: as });
  });

  it('are a caller’s own, and everybody’s for operators alone', async () => {
    await stood('of dave', 'dave@example.com', Date.parse('2026-10-05T00:00:00Z'), Date.parse('2026-10-05T01:00:00Z'));
    expect((await costs('owner', '', 'dave@example.com')).rows.map(({ key }) => key)).to.deep.equal([
      'dave@example.com',
    ]);
    await server.problem(403, 'GET', '/costs?all=true', { as: 'dave@example.com' });
    expect((await costs('owner', '&all=true')).rows.map(({ key }) => key)).to.include.members([
      'carol@example.com',
      'dave@example.com',
    ]);
    for (const wrong of ['by=week', 'from=yesterday', 'to=2026-13-01'])
      await server.problem(400, 'GET', `/costs?${wrong}`);
  });

  it('come to the same total however they are summed up', async () => {
    const random = createRandom(3);
    const regions = ['europe-west4', 'us-east1', 'asia-east1'];
    for (let i = 0; i < 25; i++) {
      const from = Date.parse('2026-08-15T00:00:00Z') + random.below(70 * 24 * 3600) * 1000;
      const until = from + random.below(90 * hour);
      const { id } = await stood(`one of many ${i}`, random.pick(people), from, until, random.pick(regions));
      const data = { team: random.pick([17, 42]) };
      if (i % 3 > 0)
        await server.context.store.commit([{ kind: 'update', collection: collections.bootstraps, id, data }]);
    }
    const all = await Promise.all(costGroups.map((by) => costs(by, '&all=true')));
    expect(new Set(all.map(({ total }) => total))).to.have.length(1);
    for (const { rows, total, by } of all) {
      expect(rows.length, by).to.be.above(2);
      const sum = rows.reduce((micros, { amount }) => micros + microsOf(amount), 0);
      expect(sum, by).to.equal(microsOf(total));
    }
  });

  it('name what has no price, and count it nowhere', async () => {
    const before = await costs('month', '&all=true');
    expect(before.unknown).to.deep.equal([]);
    const bootstrap = await stood('odd machine', 'alice@example.com', Date.now() - hour, Date.now());
    const found = await server.context.store.get(collections.bootstraps, bootstrap.id);
    const instances = found?.data['instances'] as Record<string, { output?: object }>;
    const odd = { ...instances['vm:jumpbox'], output: { ...instances['vm:jumpbox']?.output, machineType: 'n2-huge' } };
    await server.context.store.commit([
      {
        kind: 'update',
        collection: collections.bootstraps,
        id: bootstrap.id,
        data: { instances: { ...instances, 'vm:jumpbox': odd } },
      },
    ]);
    const last = await costs('month', '&all=true');
    expect([last.total, last.unknown]).to.deep.equal([before.total, ['machine type n2-huge']]);
  });
});
