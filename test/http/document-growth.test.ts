/** What many owners, months and teams leave in the store: no document grows with them, so nobody stops everybody else. */
import { expect } from 'chai';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import type { BeginReply } from '../../shared/bootstrap/routes.js';
import { collections, countersId } from '../../shared/names.js';
import { type BootstrapsServer, createBootstrapsServer, makeRequest } from './bootstraps-server.js';
import { oneDollarAnHour } from './ceiling-prices.js';
import { createIssuer, type Issuer } from './issuer.js';

const [alice, ops] = ['alice@example.com', 'ops@example.com'] as const;
const day = 86_400_000;

describe('what is counted of all bootstraps', () => {
  let issuer: Issuer;
  let server: BootstrapsServer;

  before(async () => {
    issuer = await createIssuer();
  });
  after(() => issuer.close());
  beforeEach(async () => {
    const env = {
      PLINTH_PRICES: JSON.stringify(oneDollarAnHour),
      PLINTH_LIVING_IN_ALL: '1000',
      PLINTH_USD_PER_MONTH: '100000000',
    };
    server = await createBootstrapsServer(issuer, { env });
    server.world.closed = true;
  });
  afterEach(() => server.close());

  const begin = async (name: string, projectTtl: string, as: string = alice) => {
    const body = makeRequest(name, { projectTtl });
    return (await server.json<BeginReply>(201, 'POST', '/bootstraps', { as, body })).bootstrap;
  };
  const counters = async () => server.context.store.query({ collection: collections.counters });

  it('is stored in documents that stay small, however many owners keep projects for a year', async () => {
    const long = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}`;
    const owners = Array.from({ length: 4 }, (_, i) => `${i}.${long}@example.com`);
    for (const [i, owner] of owners.entries()) await begin(`project ${i}`, '366d', owner);
    await server.json(200, 'POST', '/admission/stop', { as: ops, body: { reason: 'enough' } });
    await server.json(200, 'POST', '/admission/start', { as: ops });
    const { id } = await begin('one more', '1h');
    await server.json(200, 'POST', `/bootstraps/${id}/remove`, {});
    for (const document of await counters()) {
      expect(JSON.stringify(document.data).length, document.id).to.be.below(2000);
    }
  });

  describe('over a year at most', () => {
    let bootstrap: BootstrapView;
    beforeEach(async () => {
      bootstrap = await begin('first', '1h');
    });
    const latest = () => new Date(Date.parse(bootstrap.createdAt) + 366 * day).toISOString();

    for (const as of [alice, ops]) {
      for (const [verb, field, value, more] of [
        ['protect', 'until', '3207-01-01T00:00:00.000Z', { reason: 'for ever' }],
        ['extend', 'ttl', '367d', {}],
      ] as const) {
        const title = `${as} may not ${verb} it further`;
        it(`is refused beyond a year from its beginning, with the latest time: ${title}`, async () => {
          const body = { [field]: value, ...more };
          const path = `/bootstraps/${bootstrap.id}/${verb}`;
          const { errors, detail } = await server.problem(400, 'POST', path, { as, body });
          expect(errors?.map(({ path }) => path)).to.deep.equal([field]);
          expect(detail).to.contain('366d').and.to.contain(latest());
          const living = (await counters()).find(({ id }) => id === countersId)?.data;
          expect(JSON.stringify(living).length).to.be.below(500);
        });
      }

      it(`refuses ${as} to begin one for longer, and to give one more when it is begun again`, async () => {
        for (const name of as === alice ? ['second', 'first'] : ['second']) {
          const body = makeRequest(name, { projectTtl: '367d' });
          const { errors, detail } = await server.problem(400, 'POST', '/bootstraps', { as, body });
          expect(errors?.map(({ path }) => path)).to.deep.equal(['--project-ttl']);
          expect(detail)
            .to.contain('366d')
            .and.to.match(/\d{4}-\d{2}-\d{2}T/);
        }
      });
    }

    it('takes the last moment of it, from an owner and from an operator', async () => {
      for (const as of [alice, ops]) {
        const body = { until: latest(), reason: 'a demo' };
        await server.json(200, 'POST', `/bootstraps/${bootstrap.id}/protect`, { as, body });
      }
      await begin('second', '366d');
    });
  });
});
