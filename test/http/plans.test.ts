/** Plans over HTTP: what becomes of each thing, and that a command keeps to the plan that was agreed to. */
import { expect } from 'chai';
import type { GivenOptions } from '../../shared/bootstrap/options.js';
import type { PlanDocument } from '../../shared/bootstrap/plan.js';
import type { BootstrapRequest } from '../../shared/bootstrap/request.js';
import type { BeginReply, PlanReply } from '../../shared/bootstrap/routes.js';
import { type BootstrapsServer, createBootstrapsServer, makeRequest } from './bootstraps-server.js';
import { createIssuer, type Issuer } from './issuer.js';

describe('a plan', () => {
  let issuer: Issuer;
  let server: BootstrapsServer;
  before(async () => {
    issuer = await createIssuer();
  });
  after(() => issuer.close());
  beforeEach(async () => {
    server = await createBootstrapsServer(issuer);
  });
  afterEach(() => server.close());

  const asked = (options: GivenOptions = {}, more: Partial<BootstrapRequest> = {}) => ({
    body: makeRequest('first one', options, more),
  });
  const planOf = (options?: GivenOptions) =>
    server.json<PlanReply>(200, 'POST', '/bootstraps?dryRun=true', asked(options));
  const actions = ({ plan }: PlanReply) => Object.fromEntries(plan.items.map(({ id, action }) => [id, action]));

  it('of a free name makes all, and is carried out as it was agreed to', async () => {
    const planned = await planOf();
    expect(new Set(Object.values(actions(planned)))).to.deep.equal(new Set(['make']));
    expect(planned.plan.secrets).to.deep.equal([{ name: '--forge1-app-client-secret', action: 'make' }]);
    expect(JSON.stringify(planned)).not.to.include('planted-client-secret');
    expect((await planOf()).plan.hash).to.equal(planned.plan.hash);
    await server.json(201, 'POST', '/bootstraps', asked({}, { plan: planned.plan.hash }));
  });

  it('of what stands keeps what is made, and names what a resume changes', async () => {
    await server.json(201, 'POST', '/bootstraps', asked());
    await server.settle();
    const planned = await planOf({ projectTtl: '3h', forge1AppClientSecret: 'another' });
    expect(actions(planned)).to.deep.equal({ project: 'keep', 'age-identity': 'keep', 'config:dc1': 'keep' });
    expect(planned.changes?.map(({ option }) => option)).to.deep.equal(['--project-ttl', '--forge1-app-client-secret']);
    expect(planned.plan.secrets).to.deep.equal([{ name: '--forge1-app-client-secret', action: 'change' }]);
    const more = { projectTtl: '3h', forge1AppClientSecret: 'another' };
    const resumed = await server.json<BeginReply>(200, 'POST', '/bootstraps', asked(more, { plan: planned.plan.hash }));
    expect(resumed.changes).to.have.length(2);
  });

  it('makes again what was not done', async () => {
    server.world.closed = true;
    server.world.fault = new Error('no');
    await server.json(201, 'POST', '/bootstraps', asked());
    const planned = await planOf();
    expect(actions(planned)).to.include({ project: 'make', 'config:dc1': 'make' });
  });

  const others: readonly (readonly [string, GivenOptions, Partial<BootstrapRequest>])[] = [
    ['another option', { rootDiskSize: 60 }, {}],
    ['another secret', { forge2AppClientId: 'two', forge2AppClientSecret: 'two' }, {}],
    ['a most that it may cost', {}, { maxCost: '3' }],
    ['another SSH key', {}, { sshPublicKey: `ssh-ed25519 ${Buffer.alloc(51, 2).toString('base64')} alice` }],
  ];
  for (const [what, options, more] of others) {
    it(`is not carried out with ${what}`, async () => {
      const { plan } = await planOf();
      const refused = await server.problem(412, 'POST', '/bootstraps', asked(options, { ...more, plan: plan.hash }));
      expect(refused.code).to.equal('precondition-failed');
      expect((refused['plan'] as PlanDocument).hash).not.to.equal(plan.hash);
      expect(await server.json(200, 'GET', '/bootstraps')).to.deep.equal([]);
      expect(server.secrets.size).to.equal(0);
    });
  }

  it('is not carried out once something stands', async () => {
    const { plan } = await planOf();
    await server.json(201, 'POST', '/bootstraps', asked());
    await server.problem(412, 'POST', '/bootstraps', asked({}, { plan: plan.hash }));
  });

  it('of somebody else’s name is refused as the command is', async () => {
    await server.json(201, 'POST', '/bootstraps', asked());
    await server.problem(409, 'POST', '/bootstraps?dryRun=true', { ...asked(), as: 'bob@example.com' });
  });

  it('of a removal is for its owner, and holds until the bootstrap changes', async () => {
    const { bootstrap } = await server.json<BeginReply>(201, 'POST', '/bootstraps', asked());
    await server.settle();
    const path = `/bootstraps/${bootstrap.id}`;
    await server.problem(404, 'GET', `${path}/removal`, { as: 'bob@example.com' });
    const plan = await server.json<PlanDocument>(200, 'GET', `${path}/removal`);
    expect(plan.items.flatMap(({ what }) => what)).to.include(`secret ${bootstrap.id}-age-identity`);
    const other = 'a'.repeat(64);
    const refused = await server.problem(412, 'POST', `${path}/remove?plan=${other}`);
    expect((refused['plan'] as PlanDocument).hash).to.equal(plan.hash);
    expect((await server.json(200, 'GET', path))['state']).to.equal('succeeded');
    await server.json(200, 'POST', `${path}/transfer`, { body: { with: 'carol@example.com' } });
    await server.settle();
    await server.problem(412, 'POST', `${path}/remove?plan=${plan.hash}`, { as: 'carol@example.com' });
    const { hash } = await server.json<PlanDocument>(200, 'GET', `${path}/removal`, { as: 'carol@example.com' });
    await server.json(200, 'POST', `${path}/remove?plan=${hash}`, { as: 'carol@example.com' });
  });
});
