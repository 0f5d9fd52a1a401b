/** How long a bootstrap still takes, over HTTP: learnt from the first one that ended well. */
import { expect } from 'chai';
import type { BootstrapSummary, BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import type { BeginReply, PlanReply } from '../../shared/bootstrap/routes.js';
import { createBootstrapsServer, makeRequest } from './bootstraps-server.js';
import { createIssuer } from './issuer.js';

describe('the forecast over HTTP', () => {
  it('is of what runs, in the view, the list and the plan, and learns from what ended well', async () => {
    const issuer = await createIssuer();
    const server = await createBootstrapsServer(issuer);
    try {
      const begin = (name: string) => server.json<BeginReply>(201, 'POST', '/bootstraps', { body: makeRequest(name) });
      const plan = () =>
        server.json<PlanReply>(200, 'POST', '/bootstraps?dryRun=true', { body: makeRequest('another') });
      expect((await plan()).forecast).to.include({ learntFrom: 0 });
      const { bootstrap } = await begin('first');
      expect(bootstrap.forecast).to.include({ learntFrom: 0 });
      await server.settle();
      const ended = await server.json<BootstrapView>(200, 'GET', `/bootstraps/${bootstrap.id}`);
      expect(ended).to.include({ state: 'succeeded' }).and.not.have.property('forecast');
      expect((await plan()).forecast).to.include({ learntFrom: 1 });
      server.world.closed = true;
      await begin('second');
      const listed = await server.json<BootstrapSummary[]>(200, 'GET', '/bootstraps');
      expect(listed.map(({ name, forecast }) => [name, forecast?.learntFrom])).to.deep.equal([
        ['second', 1],
        ['first', undefined],
      ]);
      server.world.closed = false;
      await server.settle();
    } finally {
      server.close();
      issuer.close();
    }
  });
});
