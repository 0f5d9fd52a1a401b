/** The pages of what is bigger than one step: a region, a quota, a release, the documents. */
import { expect } from 'chai';
import type { Document, Store, Write } from '../../functions/store/store.js';
import { local } from '../../local/stack/deployment.js';
import { collections, functionNames } from '../../shared/names.js';
import { historyOf, madeTwice, succeeded } from '../support/scene.js';
import { readRecording, recordingsOf, releases } from '../upgrade/recording.js';
import { type Desk, openDesk } from './desk.js';

describe('runbooks of regions, quotas, releases and documents', function () {
  this.timeout(300_000);
  let desk: Desk;
  let store: Store;
  before(async () => {
    desk = await openDesk();
    const half = desk.scene.stack.functionsHalf;
    if (half === undefined) throw new Error('the functions run elsewhere');
    store = half.store;
  });
  after(() => desk?.close());
  afterEach(() => desk.scene.cloud.faults.clear());

  it('region-gone: the bootstrap there is removed, and made anew elsewhere', async () => {
    const region = 'europe-west4';
    desk.scene.cloud.faults.add({ method: 'compute.instances.insert', times: 0, kind: 'unavailable' });
    const failed = await desk.alice.bootstrap('here');
    expect(failed.exitCode).to.equal(7);
    const { said } = await desk.walk('region-gone', {
      NAME: failed.result.bootstrap?.projectId ?? '',
      BOOTSTRAP_REGION: region,
    });
    expect(said[0]).to.contain(region).and.to.contain('failed');
    expect((await desk.find('here')).state).to.equal('removed');
    desk.scene.cloud.faults.clear();
    expect(succeeded(await desk.alice.bootstrap('there', { region: 'europe-west1' })).region).to.equal('europe-west1');
  });

  it('quota-gone: asked for by the words of the page, and gone on with once there is room', async () => {
    const fault = desk.scene.cloud.faults.quota({ metric: 'CPUS', limit: 24 });
    const failed = await desk.alice.bootstrap('small');
    expect(failed.result.bootstrap?.state).to.equal('failed');
    const projectId = failed.result.bootstrap?.projectId ?? '';
    const { said } = await desk.walk(
      'quota-gone',
      { NAME: projectId, BOOTSTRAP_REGION: 'europe-west4', ME: desk.operator.email },
      { 2: () => desk.scene.cloud.faults.remove(fault) },
    );
    expect(said[0]).to.contain('CPUS').and.to.match(/24/);
    expect((await desk.find('small')).state).to.equal('succeeded');
  });

  /** All documents, as a restored database would hold them. */
  const snapshot = async (): Promise<readonly Document[]> =>
    (await Promise.all(Object.values(collections).map((collection) => store.query({ collection })))).flat();
  const bringBack = async (documents: readonly Document[]): Promise<void> => {
    const wanted = new Set(documents.map(({ collection, id }) => `${collection}/${id}`));
    const newer = (await snapshot()).filter(({ collection, id }) => !wanted.has(`${collection}/${id}`));
    const writes: Write[] = [
      ...newer.map(({ collection, id }): Write => ({ kind: 'delete', collection, id })),
      ...documents.map(({ collection, id, data }): Write => ({ kind: 'set', collection, id, data: { ...data } })),
    ];
    for (const write of writes) await store.commit([write]);
  };

  it('restore: what was under way goes on from older documents, and nothing is made twice', async () => {
    const since = desk.scene.cloud.calls.last();
    await desk.begunAndLost('restored');
    const then = await snapshot();
    await desk.bash('gcloud scheduler jobs resume plinth-sweep --project $PROJECT --location $REGION');
    await desk.until('it has ended', async () => (await desk.find('restored')).state === 'succeeded');
    const { asked } = await desk.walk(
      'restore',
      { BACKUP: 'projects/acme/locations/europe-west1/backups/one' },
      { 2: () => bringBack(then), 3: () => desk.scene.stack.settle() },
    );
    expect(asked).to.have.length(2);
    expect(asked.join('\n')).to.contain('/backups').and.to.contain('databases:restore');
    expect((await desk.find('restored')).state).to.equal('succeeded');
    expect(madeTwice(historyOf(desk.scene.cloud, since), { secretVersions: false })).to.deep.equal([]);
  });

  it('roll-back: what was under way goes on by the words of the page', async () => {
    const { id, projectId } = await desk.begunAndLost('rolled');
    // The functions of the bad release die with their leases.
    await desk.abandon(id, 0);
    await desk.bash('gcloud scheduler jobs resume plinth-sweep --project $PROJECT --location $REGION');
    await desk.bash("echo 'api api-00001-abc' >revisions");
    const { asked } = await desk.walk('roll-back', { NAME: projectId });
    expect(asked.join()).to.contain('/services/api');
    expect((await desk.find('rolled')).state).to.equal('succeeded');
  });

  /** By collection: fields that each document has, with the JSON types that they hold. */
  function fieldsOf(documents: readonly Pick<Document, 'collection' | 'data'>[]) {
    const found = new Map<string, Map<string, Set<string>>[]>();
    for (const { collection, data } of documents) {
      const types = new Map(
        Object.entries(data)
          .filter(([, value]) => value !== undefined)
          .map(([name, value]) => [name, new Set([Array.isArray(value) ? 'array' : typeof value])]),
      );
      found.set(collection, [...(found.get(collection) ?? []), types]);
    }
    return found;
  }

  it('roll-back: every field that the last release always wrote is still there, in its type', async () => {
    succeeded(await desk.alice.bootstrap('compared'));
    const now = fieldsOf(await snapshot());
    const release = releases().at(-1) ?? '';
    const recorded = fieldsOf(
      recordingsOf(release, { machines: false })
        .flatMap((file) => readRecording(release, file))
        .flatMap((entry) => (entry.kind === 'commit' ? entry.documents : []))
        .flatMap(({ collection, data }) => (data === undefined ? [] : [{ collection, data }])),
    );
    const missing: string[] = [];
    for (const collection of [collections.bootstraps, collections.events, collections.names]) {
      const before = recorded.get(collection) ?? [];
      const always = [...(before[0] ?? [])].filter(([name]) => before.every((each) => each.has(name)));
      expect(always, collection).not.to.deep.equal([]);
      for (const [name] of always) {
        const types = new Set(before.flatMap((each) => [...(each.get(name) ?? [])]));
        for (const each of now.get(collection) ?? []) {
          const [type] = each.get(name) ?? [];
          if (type === undefined || !types.has(type)) missing.push(`${collection}.${name}: ${type}`);
        }
      }
    }
    expect(recorded.size).to.be.above(3);
    expect([...new Set(missing)]).to.deep.equal([]);
  });

  it('pool-dry: why it rests is told, it is filled once there is room, and drained', async () => {
    const { folder: parent, billingAccount, region } = local;
    const key = `${parent} ${billingAccount} ${region}`;
    const of = (pools: readonly object[]): void => {
      for (const name of Object.values(functionNames))
        Object.assign(desk.scene.stack.functionsHalf?.contextOf(name).config ?? {}, { pools });
    };
    of([{ key, parent, billingAccount, region, size: 1, maxAgeSeconds: 86_400 }]);
    const message = 'The billing account is closed.';
    const fault = desk.scene.cloud.faults.add({
      method: 'cloudbilling.projects.updateBillingInfo',
      times: 0,
      code: 400,
      message,
    });
    await desk.life.swept();
    await desk.life.swept();
    expect(desk.scene.stack.logs.join('\n')).to.contain(`Dry pools of prepared projects: ${key}, `);
    const { said } = await desk.walk(
      'pool-dry',
      { ACCOUNT: billingAccount },
      {
        1: () => desk.scene.cloud.faults.remove(fault),
        3: () => desk.life.swept(),
      },
    );
    expect(said[0]).to.contain('0 of 1').and.to.contain('rests until').and.to.contain(message);
    expect(said[2]).not.to.contain('rests until');
    expect(said[3]).to.contain('1 of 1').and.to.contain('drained');
    of([]);
  });
});
