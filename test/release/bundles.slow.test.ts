/** What is deployed, end to end: the bundle of each function in a process of its own, on Google's emulators, on both Nodes. */
import { join } from 'node:path';
import { expect } from 'chai';
import { bundleFunction } from '../../docs/function-bundle.js';
import { nodeForLinux } from '../../docs/node-for-linux.js';
import { functionAccount, functionUrl, invokers } from '../../local/deployment.js';
import { emulatorMissing } from '../../local/emulators.js';
import { collections, functionNames } from '../../shared/names.js';
import { addExpired } from '../cleanup/expired.js';
import { type Collector, startCollector } from '../support/collector.js';
import { until } from '../support/halves.js';
import { lifeOf } from '../support/life.js';
import { makeScene, outcomeOf, type Scene, succeeded } from '../support/scene.js';

const folder = join('dist', 'bundles');
const runtimes: readonly { readonly title: string; readonly node: () => string }[] = [
  { title: 'the Node that runs this', node: () => process.execPath },
  { title: 'Node 22, as they are deployed on', node: () => nodeForLinux('functions') },
];

describe('the bundles', function () {
  this.timeout(300_000);
  before(async function () {
    const missing = emulatorMissing('firestore') ?? emulatorMissing('pubsub');
    if (missing !== undefined) {
      if (process.env['CI'] !== undefined) throw new Error(missing);
      this.skip();
    }
    for (const [name, functionName] of Object.entries(functionNames)) {
      await bundleFunction(name as keyof typeof functionNames, functionName, { into: folder });
    }
  });

  for (const { title, node } of runtimes) {
    describe(`on ${title}`, () => {
      let scene: Scene;
      before(async () => {
        scene = await makeScene({ store: 'emulator', bundles: { folder, node: node() } });
      });
      after(() => scene?.close());

      it('bring a bootstrap to its end, and log no error', async () => {
        const alice = await scene.caller();
        const outcome = await alice.bootstrap('bundled');
        expect(scene.stack.logs.filter((line) => /"severity":"(?:ERROR|CRITICAL)"/.test(line)).join('\n')).to.equal('');
        await scene.expectAll(succeeded(outcome));
      });

      it('serve organizations, sweep and clean up', async () => {
        const { idToken } = await scene.stack.tokens('alice@example.com');
        const reply = await fetch(`${scene.stack.url}/organizations`, {
          method: 'POST',
          headers: { authorization: `Bearer ${idToken}`, 'content-type': 'application/json' },
          body: JSON.stringify({ name: 'acme' }),
        });
        expect(reply.status, await reply.text()).to.equal(201);
        for (const name of [functionNames.sweep, functionNames.cleanup]) {
          const url = functionUrl(scene.stack.url, name);
          const token = await scene.cloud.identity.idToken({ email: invokers.scheduler, audience: url });
          const answer = await fetch(url, { method: 'POST', headers: { authorization: `Bearer ${token}` } });
          expect(answer.status, await answer.text()).to.equal(200);
        }
      });

      it('go on with cleanup at once where more is past its time than a run takes', async () => {
        const life = lifeOf(scene);
        const { calls } = scene.cloud;
        await life.atNewYear();
        const since = calls.last();
        // The first stay, as their records know another number.
        await addExpired(scene.stack, 'stay', 499, '42');
        await addExpired(scene.stack, 'goes', 2);
        expect((await life.call('')).status).to.equal(200);
        const method = 'cloudscheduler.projects.locations.jobs.run';
        const asked = calls.list({ since, method }).map(({ caller, status }) => ({ caller, status }));
        expect(asked, scene.stack.logs.filter((line) => line.includes('past its time')).join('\n')).to.deep.equal([
          { caller: functionAccount(functionNames.cleanup), status: 200 },
        ]);
      });
    });
  }

  describe('told to end, as Cloud Run tells an instance', () => {
    let scene: Scene;
    let collector: Collector;
    before(async () => {
      collector = await startCollector();
      const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
      // Slow enough to be met in the middle.
      scene = await makeScene({ store: 'emulator', bundles: { folder }, timeFactor: 0.1, settings });
    });
    after(async () => {
      await scene?.close();
      await collector?.close();
    });

    it('give back what they hold, for others to take over at once; who follows comes back with the cursor and misses nothing', async () => {
      const { functionsHalf, logs } = scene.stack;
      const { processes, store } = functionsHalf as Required<typeof functionsHalf & object>;
      const leases = async () => (await store.query({ collection: collections.leases })).map(({ data }) => data);
      const alice = await scene.caller();
      const running = alice.start('ended');
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
      const told = (text: string) => logs.filter((line) => line.includes(text)).length;
      expect(told('"result":"handed-over"')).to.be.at.least(2);
      expect(told('nothing was under way any more')).to.be.at.least(3);
      expect(told('ends in the middle')).to.equal(0);
      // Their last spans are not lost, and all are of the one trace.
      const steps = collector.spans.filter(({ attributes }) => attributes['plinth.step'] !== undefined);
      const handedOver = steps.filter(({ attributes }) => attributes['plinth.outcome'] === 'handed-over');
      expect(handedOver.length).to.be.at.least(2);
      expect(new Set(steps.map(({ traceId }) => traceId)).size).to.equal(1);
    });
  });
});
