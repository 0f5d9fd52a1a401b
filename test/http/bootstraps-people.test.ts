/** What the owner of a bootstrap may hand on, and for how long it may be kept, over HTTP. */
import { expect } from 'chai';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import type { BeginReply } from '../../shared/bootstrap/routes.js';
import { type BootstrapsServer, createBootstrapsServer, makeRequest } from './bootstraps-server.js';
import { createIssuer, type Issuer } from './issuer.js';

const [alice, bob, ops] = ['alice@example.com', 'bob@example.com', 'ops@example.com'] as const;
const stranger = 'mallory@example.org';
const hours = (count: number): string => new Date(Date.now() + count * 3_600_000).toISOString();

describe('what an owner may do', () => {
  let issuer: Issuer;
  let server: BootstrapsServer;
  let id: string;

  before(async () => {
    issuer = await createIssuer();
  });
  after(() => issuer.close());
  beforeEach(async () => {
    server = await createBootstrapsServer(issuer, { env: { PLINTH_MAX_TTL_SECONDS: '7200' } });
    const body = makeRequest('first one', { projectTtl: '1h' });
    ({ id } = (await server.json<BeginReply>(201, 'POST', '/bootstraps', { body })).bootstrap);
    await server.settle();
  });
  afterEach(async () => {
    await server.settle();
    server.close();
  });

  const view = () => server.json<BootstrapView>(200, 'GET', `/bootstraps/${id}`);

  describe('with protection', () => {
    const protect = (status: number, until: string, as: string) =>
      server.json<BootstrapView>(status, 'POST', `/bootstraps/${id}/protect`, {
        as,
        body: { until, reason: 'debugging' },
      });

    it('is bound by the longest lifetime: a protection beyond it is refused, and names who can pass it', async () => {
      const { detail, errors, advice } = await server.problem(400, 'POST', `/bootstraps/${id}/protect`, {
        as: alice,
        body: { until: hours(3), reason: 'debugging' },
      });
      expect(errors?.map(({ path }) => path)).to.deep.equal(['until']);
      expect(detail).to.contain('2h');
      expect(advice).to.contain('operator');
      expect((await view()).protection).to.equal(undefined);
    });

    it('is free within the longest lifetime', async () => {
      expect((await protect(200, '90m', alice)).protection?.by).to.equal(alice);
    });

    it('is passed by an operator, with a reason on record', async () => {
      const { protection } = await protect(200, hours(72), ops);
      expect(protection).to.include({ by: ops, reason: 'debugging' });
    });
  });

  describe('with people', () => {
    it('shares it with nobody who may not bootstrap here', async () => {
      const { detail } = await server.problem(403, 'POST', `/bootstraps/${id}/share`, {
        as: alice,
        body: { with: stranger },
      });
      expect(detail).to.contain(stranger);
      expect((await view()).sharedWith).to.deep.equal([]);
    });

    it('shares it with whoever may', async () => {
      const shared = await server.json<BootstrapView>(200, 'POST', `/bootstraps/${id}/share`, {
        as: alice,
        body: { with: bob },
      });
      expect(shared.sharedWith).to.deep.equal([bob]);
    });
  });
});
