/** What is looked at before a bootstrap starts serves its beginning, too: one round of questions, and one change that counts. */
import { expect } from 'chai';
import { functionAccount, local } from '../../local/stack/deployment.js';
import type { PreflightReply } from '../../shared/bootstrap/preflight.js';
import type { BeginReply } from '../../shared/bootstrap/routes.js';
import { collections, functionNames } from '../../shared/names.js';
import { sshPublicKey } from '../bench/stack.js';
import { type People, peopleOf } from '../support/people.js';
import { clientSecret, domainOf, makeScene, type Scene, succeeded } from '../support/scene.js';

const alice = `alice@${local.domain}`;
const bob = `bob@${local.domain}`;

const bodyOf = (name: string, more: object = {}) => ({
  options: {
    projectName: name,
    billingAccount: local.billingAccount,
    baseDomain: domainOf(name),
    registryUser: 'somebody',
    forge1AppClientId: 'client-id',
    forge1AppClientSecret: clientSecret,
    ...more,
  },
  sshPublicKey,
});

describe('a round of the preflight', function () {
  this.timeout(120_000);
  let scene: Scene;
  let people: People;
  before(async () => {
    scene = await makeScene({ settings: { PLINTH_CHANGES_PER_MINUTE: '1' } });
    people = peopleOf(scene);
  });
  after(() => scene?.close());

  /** How often the door asked for the region, which each round does once. */
  function rounds(): number {
    const door = functionAccount(functionNames.bootstraps);
    return scene.cloud.calls.list({ method: 'compute.regions.get' }).filter(({ caller }) => caller === door).length;
  }
  /** The count of the minute is forgotten, as if it were over. */
  async function aMinuteLater(): Promise<void> {
    const { store } = scene.stack.functionsHalf ?? {};
    const counted = (await store?.query({ collection: collections.rates })) ?? [];
    await store?.commit(counted.map(({ id }) => ({ kind: 'delete', collection: collections.rates, id })));
  }
  beforeEach(aMinuteLater);

  const preflight = async (email: string, body: object) =>
    (await people.ask<PreflightReply>(email, 'POST', '/preflights', body)).body;
  const begin = (email: string, body: object) => people.ask<BeginReply>(email, 'POST', '/bootstraps', body);

  it('that the command line shows is the only one, and the only change of that minute', async () => {
    const before = rounds();
    const carol = await scene.caller(`carol@${local.domain}`);
    const outcome = await carol.bootstrap('shown', { 'spot-vms': true });
    expect(succeeded(outcome).warnings).to.deep.equal([]);
    expect(outcome.events.some(({ type }) => type === 'beginning')).to.equal(true);
    expect(rounds() - before).to.equal(1);
  });

  it('serves its caller and its request alone, and for two minutes', async () => {
    const { go, seen } = await preflight(alice, bodyOf('mine'));
    expect([go, /^[0-9a-f]{32}$/.test(seen ?? '')]).to.deep.equal([true, true]);
    const before = rounds();
    // Another round counts as a change of its own, and Alice has made that of this minute.
    const others = [
      { ...bodyOf('mine', { spotVms: true }), seen },
      { ...bodyOf('mine'), strict: true, seen },
      { ...bodyOf('mine'), seen: 'f'.repeat(32) },
    ];
    for (const each of others) expect((await begin(alice, each)).status).to.equal(429);
    expect((await begin(bob, { ...bodyOf('mine'), maxCost: '100', seen })).status).to.equal(201);
    expect(rounds() - before).to.equal(4);
  });

  it('is over after two minutes', async () => {
    const { seen } = await preflight(alice, bodyOf('late'));
    const { store } = scene.stack.functionsHalf ?? {};
    const [kept] =
      (await store?.query({ collection: collections.preflights, orderBy: ['until', 'desc'], limit: 1 })) ?? [];
    expect(Date.parse(String(kept?.data['until'])) - Date.now()).to.be.within(100_000, 120_000);
    const data = { until: new Date(Date.now() - 1).toISOString() };
    await store?.commit([{ kind: 'update', collection: collections.preflights, id: kept?.id ?? '', data }]);
    expect((await begin(alice, { ...bodyOf('late'), seen })).status).to.equal(429);
  });

  it('that something stops serves no beginning', async () => {
    const { go, seen } = await preflight(alice, bodyOf('stopped', { folderId: '404404404404' }));
    expect([go, seen]).to.deep.equal([false, undefined]);
  });

  it('serves one of many beginnings at once, and the others count', async () => {
    const body = bodyOf('crowd');
    const { seen } = await preflight(alice, body);
    const begun = await Promise.all([1, 2, 3, 4].map(() => begin(alice, { ...body, seen })));
    expect(begun.map(({ status }) => status).sort()).to.deep.equal([201, 429, 429, 429]);
  });

  it('is begun from once: the same again resumes, and counts', async () => {
    const body = bodyOf('once');
    const { seen } = await preflight(alice, body);
    const before = rounds();
    expect((await begin(alice, { ...body, seen })).status).to.equal(201);
    expect(rounds() - before).to.equal(0);
    expect((await begin(alice, { ...body, seen })).status).to.equal(429);
    await aMinuteLater();
    expect((await begin(alice, { ...body, seen })).status).to.equal(200);
  });

  it('does not hide what has changed since: an operator’s stop', async () => {
    const { seen } = await preflight(alice, bodyOf('closing'));
    const operator = `admin@${local.domain}`;
    expect(await people.statusOf(operator, 'POST', '/admission/stop', { reason: 'moving house' })).to.equal(200);
    expect((await begin(alice, { ...bodyOf('closing'), seen })).status).to.equal(409);
    expect(await people.statusOf(operator, 'POST', '/admission/start', {})).to.equal(200);
  });
});
