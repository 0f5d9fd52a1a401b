/** The bundles on the oldest Node that plinth supports, end to end, and as Cloud Run ends an instance. */
import { expect } from 'chai';
import { collections, functionNames } from '../../shared/names.js';
import { nodeForLinux } from '../../tools/bundle/node-for-linux.js';
import { type Collector, startCollector } from '../support/collector.js';
import { until } from '../support/halves.js';
import { makeScene, outcomeOf, type Scene, succeeded } from '../support/scene.js';
import { bundlesServeOn, folder, makeBundles, runtimes, servedBy, told } from './served-bundles.js';

describe('the bundles', function () {
  this.timeout(1_200_000);
  before(makeBundles);

  bundlesServeOn(runtimes.oldest);

  describe('told to end, as Cloud Run tells an instance', () => {
    let scene: Scene;
    let collector: Collector;
    before(async () => {
      collector = await startCollector();
      const bundles = { folder, node: nodeForLinux('functions') };
      const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
      // Slow enough to be met in the middle.
      scene = await makeScene({ store: 'emulator', bundles, timeFactor: 0.1, settings });
    });
    after(async () => {
      await scene?.close();
      await collector?.close();
    });

    it('give back what they hold, for others to take over at once; who follows comes back with the cursor and misses nothing', async () => {
      const { processes, store } = servedBy(scene);
      const leases = async () => (await store.query({ collection: collections.leases })).map(({ data }) => data);
      const alice = await scene.caller();
      const running = alice.spawn('ended');
      for (let n = 0; n < 2; n += 1) {
        await until('a step that waits', async () =>
          (await leases()).find(({ state, note }) => state === 'running' && note !== undefined),
        );
        await Promise.all([
          processes.end(functionNames.runCloudStep, 'SIGTERM'),
          processes.end(functionNames.bootstraps, 'SIGTERM'),
        ]);
        // A lease that has run out counts as a death of whoever held it.
        expect((await leases()).filter(({ deaths }) => deaths !== 0)).to.deep.equal([]);
      }
      const outcome = outcomeOf(await running.ended);
      const bootstrap = succeeded(outcome);
      await scene.expectAll(bootstrap);
      const done = outcome.events.filter(({ type, state }) => type === 'instance' && state === 'done');
      expect(new Set(done.map(({ instance }) => instance)).size).to.equal(bootstrap.instances.length);
      expect(told(scene, '"result":"handed-over"')).to.be.at.least(2);
      expect(told(scene, 'nothing was under way any more')).to.be.at.least(3);
      expect(told(scene, 'ends in the middle')).to.equal(0);
      // Their last spans are not lost, and all are of the one trace.
      const steps = collector.spans.filter(({ attributes }) => attributes['plinth.step'] !== undefined);
      const handedOver = steps.filter(({ attributes }) => attributes['plinth.outcome'] === 'handed-over');
      expect(handedOver.length).to.be.at.least(2);
      expect(new Set(steps.map(({ traceId }) => traceId)).size).to.equal(1);
    });
  });
});
