/** What a deployment lets people spend, as it is refused over HTTP. Every VM of these prices costs what its cores cost. */
import { expect } from 'chai';
import { ownerCountId } from '../../functions/engine/record/counts.js';
import type { BootstrapRecord } from '../../functions/engine/record/documents.js';
import { type ByMonth, spendOf } from '../../functions/engine/record/spend.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import type { GivenOptions } from '../../shared/bootstrap/options.js';
import type { PreflightReply } from '../../shared/bootstrap/preflight.js';
import type { BootstrapRequest } from '../../shared/bootstrap/request.js';
import type { BeginReply, PlanReply } from '../../shared/bootstrap/routes.js';
import { collections, countersId } from '../../shared/names.js';
import { createRandom } from '../organizations/random.js';
import { type BootstrapsServer, createBootstrapsServer, makeRequest } from './bootstraps-server.js';
import { oneDollarAnHour as prices } from './ceiling-prices.js';
import { createIssuer, type Issuer } from './issuer.js';

describe('ceilings of what may be spent', () => {
  let issuer: Issuer;
  let server: BootstrapsServer;
  before(async () => {
    issuer = await createIssuer();
  });
  after(() => issuer.close());
  afterEach(() => server.close());

  const open = async (env: Readonly<Record<string, string>>) => {
    server = await createBootstrapsServer(issuer, { env: { PLINTH_PRICES: JSON.stringify(prices), ...env } });
  };
  const begin = async (name: string, options: GivenOptions = {}, more: Partial<BootstrapRequest> = {}) =>
    server.json<BeginReply>(201, 'POST', '/bootstraps', { body: makeRequest(name, options, more) });
  const refused = (name: string, options: GivenOptions = {}, more: Partial<BootstrapRequest> = {}) =>
    server.problem(409, 'POST', '/bootstraps', { body: makeRequest(name, options, more) });
  /** By month. */
  const spend = async (owner?: string): Promise<ByMonth> => {
    const id = owner === undefined ? countersId : ownerCountId(owner);
    return ((await server.context.store.get(collections.counters, id))?.data['spend'] ?? {}) as ByMonth;
  };
  /** In cents, over all months: a bootstrap of the last hours of a month counts in two. */
  const counted = async (owner?: string) =>
    Math.floor(Object.values(await spend(owner)).reduce((sum, micros) => sum + micros, 0) / 10_000);
  const act = (bootstrap: BootstrapView, verb: string, body: object, as = 'alice@example.com') =>
    server.json<BootstrapView>(200, 'POST', `/bootstraps/${bootstrap.id}/${verb}`, { body, as });

  it('refuse what costs more in an hour, also as a dry run, and let spot VMs pass', async () => {
    await open({ PLINTH_USD_PER_HOUR: '1' });
    const problem = await refused('first');
    expect(problem).to.include({ code: 'over-ceiling', limit: 'hour', ceiling: '1.00' });
    expect(problem.detail).to.match(/^It would cost 1\.02\d* USD an hour, and 1\.00 is the most here\.$/);
    const body = makeRequest('first');
    expect((await server.problem(409, 'POST', '/bootstraps?dryRun=true', { body })).code).to.equal('over-ceiling');
    await begin('first', { spotVms: true });
    expect([...server.secrets.keys()].filter((id) => id.endsWith('-caller'))).to.have.length(1);
  });

  it('count a month by its owner', async () => {
    await open({ PLINTH_USD_PER_MONTH_OWNER: '5' });
    await begin('first', { projectTtl: '2h' });
    await begin('second', { projectTtl: '2h' });
    const problem = await refused('third', { projectTtl: '20h' });
    expect(problem).to.include({ code: 'over-ceiling', limit: 'monthOfOwner', ceiling: '5.00' });
    expect(problem.detail).to.contain('alice@example.com').and.to.contain('and 5.00 is the most here');
    await server.json(201, 'POST', '/bootstraps', { body: makeRequest('of bob'), as: 'bob@example.com' });
  });

  it('tell a month that has no room before anything is made, by a preflight and as a dry run', async () => {
    for (const [setting, limit, who] of [
      ['PLINTH_USD_PER_MONTH_OWNER', 'monthOfOwner', 'The bootstraps of alice@example.com'],
      ['PLINTH_USD_PER_MONTH', 'month', 'All bootstraps'],
    ] as const) {
      await open({ [setting]: '5' });
      await begin('first', { projectTtl: '2h' });
      const body = makeRequest('second', { projectTtl: '20h' });
      const { go, findings } = await server.json<PreflightReply>(200, 'POST', '/preflights', { body });
      const told = findings.filter(({ state }) => state === 'stop');
      expect([go, told.map(({ code }) => code)]).to.deep.equal([false, ['ceiling']]);
      expect(told[0]?.what).to.contain(`${who} would cost`).and.to.contain('and 5.00 is the most here');
      expect(await server.problem(409, 'POST', '/bootstraps?dryRun=true', { body })).to.include({ limit });
      expect([...server.secrets.keys()].filter((id) => id.endsWith('-caller'))).to.have.length(1);
      server.close();
    }
    await open({});
  });

  it('count a month of all', async () => {
    await open({ PLINTH_USD_PER_MONTH: '10' });
    await begin('first', { projectTtl: '2h' });
    const asked = { body: makeRequest('of bob', { projectTtl: '20h' }), as: 'bob@example.com' };
    const problem = await server.problem(409, 'POST', '/bootstraps', asked);
    expect(problem).to.include({ limit: 'month' });
    expect(problem.detail).to.match(/^All bootstraps would cost \d+\.\d+ USD in \d{4}-\d\d, and 10\.00/);
  });

  it('are not passed by many at once', async () => {
    await open({ PLINTH_USD_PER_MONTH: '9' });
    const names = Array.from({ length: 12 }, (_, i) => `race ${i}`);
    const replies = await Promise.all(
      names.map((name) => server.fetch('POST', '/bootstraps', { body: makeRequest(name, { projectTtl: '2h' }) })),
    );
    const statuses = replies.map(({ status }) => status);
    expect(new Set(statuses)).to.deep.equal(new Set([201, 409]));
    for (const micros of Object.values(await spend())) expect(micros).to.be.at.most(9_000_000);
  });

  it('count what extend and protect add, and give back what unprotect and a removal take away', async () => {
    await open({ PLINTH_USD_PER_MONTH_OWNER: '9' });
    const { bootstrap } = await begin('first', { projectTtl: '2h' });
    expect(await counted('alice@example.com')).to.equal(204);
    const extended = await act(bootstrap, 'extend', { ttl: '4h' });
    expect(await counted('alice@example.com')).to.be.within(407, 410);
    const until = new Date(Date.now() + 30 * 3_600_000).toISOString();
    const protect = { body: { until, reason: 'a demo' } };
    expect((await server.problem(409, 'POST', `/bootstraps/${bootstrap.id}/protect`, protect)).code).to.equal(
      'over-ceiling',
    );
    const later = { body: { ttl: '30h' } };
    expect((await server.problem(409, 'POST', `/bootstraps/${bootstrap.id}/extend`, later)).code).to.equal(
      'over-ceiling',
    );
    const soon = new Date(Date.now() + 6 * 3_600_000).toISOString();
    await act(bootstrap, 'protect', { until: soon, reason: 'a demo' });
    expect(await counted('alice@example.com')).to.be.within(610, 614);
    expect((await act(bootstrap, 'unprotect', {})).deadlineAt).to.equal(extended.deadlineAt);
    expect(await counted('alice@example.com')).to.be.within(407, 410);
    await server.settle();
    await act(bootstrap, 'remove', {});
    await server.settle();
    expect(await counted('alice@example.com')).to.equal(0);
    await begin('second', { projectTtl: '8h' });
  });

  it('go along with a transfer, and refuse it to an owner who has spent theirs', async () => {
    // Short ones: their time may end in the next month, which counts by itself.
    await open({ PLINTH_USD_PER_MONTH_OWNER: '0.2' });
    const { bootstrap } = await begin('first', { projectTtl: '10m' });
    const bobs = { body: makeRequest('of bob', { projectTtl: '11m' }), as: 'bob@example.com' };
    await server.json(201, 'POST', '/bootstraps', bobs);
    await server.settle();
    const asked = { body: { with: 'bob@example.com' } };
    const problem = await server.problem(409, 'POST', `/bootstraps/${bootstrap.id}/transfer`, asked);
    expect(problem.detail).to.contain('bob@example.com');
    await act(bootstrap, 'transfer', { with: 'carol@example.com' });
    expect([await counted('alice@example.com'), await counted('carol@example.com')]).to.deep.equal([0, 17]);
  });

  it('refuse what has no price, unless the operators allow it', async () => {
    const region = { region: 'us-east1', zone: 'us-east1-b' };
    await open({ PLINTH_USD_PER_MONTH: '50' });
    const problem = await refused('first', region);
    expect(problem).to.include({ code: 'over-ceiling', limit: 'price' });
    expect(problem['missing']).to.deep.equal(['region us-east1']);
    expect(problem.advice).to.contain('PLINTH_WITHOUT_PRICE=allow');
    server.close();
    await open({ PLINTH_USD_PER_MONTH: '50', PLINTH_WITHOUT_PRICE: 'allow' });
    await begin('first', region);
    server.close();
    await open({});
    await begin('first', region);
  });

  describe('of the caller', () => {
    it('shorten the time to live to what they buy, and say so', async () => {
      await open({});
      const { bootstrap, warnings } = await begin('first', { projectTtl: '8h' }, { maxCost: '3.10' });
      const seconds = (Date.parse(bootstrap.deadlineAt) - Date.parse(bootstrap.createdAt)) / 1000;
      expect(seconds).to.be.within(3 * 3600, 3.04 * 3600);
      expect(warnings.join()).to.contain('--max-cost 3.10 buys 3h 2m');
      const { deadlineAt, createdAt } = (await begin('second', { projectTtl: '1h' }, { maxCost: '3.10' })).bootstrap;
      expect(Date.parse(deadlineAt) - Date.parse(createdAt)).to.equal(3_600_000);
    });

    it('refuse an amount that buys too little, or is none, with the other faults', async () => {
      await open({});
      const little = await server.problem(400, 'POST', '/bootstraps', {
        body: makeRequest('first', { baseDomain: 'no domain' }, { maxCost: '0.10' }),
      });
      expect(little.errors?.map(({ path }) => path)).to.include.members(['--max-cost', '--base-domain']);
      for (const maxCost of ['0', '-1', 'much', '1.1234567'])
        await server.problem(400, 'POST', '/bootstraps', { body: makeRequest('first', {}, { maxCost }) });
    });

    it('hold against extend and protect until the owner raises them', async () => {
      await open({});
      const { bootstrap } = await begin('first', { projectTtl: '8h' }, { maxCost: '3.10' });
      const asked = { body: { ttl: '4h' } };
      const problem = await server.problem(400, 'POST', `/bootstraps/${bootstrap.id}/extend`, asked);
      expect(problem.detail).to.contain('--max-cost 3.10').and.to.contain('lasts until');
      const until = new Date(Date.now() + 6 * 3_600_000).toISOString();
      const protect = { body: { until, reason: 'a demo' } };
      await server.problem(400, 'POST', `/bootstraps/${bootstrap.id}/protect`, protect);
      await server.settle();
      const body = makeRequest('first', { projectTtl: '8h' }, { maxCost: '6' });
      const raised = (await server.json<BeginReply>(200, 'POST', '/bootstraps', { body })).bootstrap;
      const hours = (Date.parse(raised.deadlineAt) - Date.parse(raised.createdAt)) / 3_600_000;
      expect(hours).to.be.within(5.8, 5.9);
      await act(bootstrap, 'extend', { ttl: '5h' });
    });

    it('show in the plan', async () => {
      await open({});
      const body = makeRequest('first', { projectTtl: '8h' }, { maxCost: '3.10' });
      const plan = await server.json<PlanReply>(200, 'POST', '/bootstraps?dryRun=true', { body });
      expect(plan.cost.untilExpiry).to.be.within(3, 3.1);
      expect(plan.warnings.join()).to.contain('--max-cost 3.10 buys');
    });
  });

  it('are counted as the records say, whatever was done in whatever order', async () => {
    for (const seed of [1, 2, 3]) {
      await open({ PLINTH_USD_PER_MONTH_OWNER: '40', PLINTH_USD_PER_MONTH: '70' });
      const random = createRandom(seed);
      const people = ['alice@example.com', 'bob@example.com', 'carol@example.com'];
      const some = random.pick;
      for (let i = 0; i < 40; i++) {
        const records = (await server.context.store.query({ collection: collections.bootstraps })) as unknown as {
          id: string;
          data: BootstrapRecord;
        }[];
        const hours = 1 + random.below(12);
        const { id, data } = some(records) ?? { id: '', data: undefined };
        const as = data?.owner ?? some(people);
        const until = new Date(Date.now() + hours * 3_600_000).toISOString();
        const post = (verb: string, body: object) => server.fetch('POST', `/bootstraps/${id}/${verb}`, { body, as });
        const beginOne = () =>
          server.fetch('POST', '/bootstraps', {
            body: makeRequest(`p ${i}`, { projectTtl: `${hours}h` }),
            as: some(people),
          });
        if (id === '') await beginOne();
        else
          await some([
            beginOne,
            () => post('extend', { ttl: `${hours}h` }),
            () => post('protect', { until, reason: 'x' }),
            () => post('unprotect', {}),
            () => post('transfer', { with: some(people) }),
            () => post('remove', {}),
            () => {
              const body = makeRequest(data?.name ?? '', { projectTtl: `${hours}h` });
              return server.fetch('POST', '/bootstraps', { body, as });
            },
          ])();
        await server.settle();
        const after = await server.context.store.query({ collection: collections.bootstraps });
        const sums: Record<string, number> = {};
        for (const { data: each } of after as unknown as { data: BootstrapRecord }[]) {
          for (const [month, micros] of Object.entries(spendOf(each))) {
            for (const key of [month, `${month} ${each.owner}`]) sums[key] = (sums[key] ?? 0) + micros;
          }
        }
        const told = Object.entries(await spend());
        for (const owner of people) {
          for (const [month, micros] of Object.entries(await spend(owner))) told.push([`${month} ${owner}`, micros]);
        }
        expect(Object.fromEntries(told), `seed ${seed}, ${i}`).to.deep.equal(
          Object.fromEntries(Object.entries(sums).filter(([, micros]) => micros > 0)),
        );
      }
      server.close();
    }
    await open({});
  });
});
