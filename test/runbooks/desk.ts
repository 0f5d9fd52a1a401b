/** Whoever is on duty, at a local stack: faults are made first, then a page is walked. */
import { existsSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { people } from '../../local/stack/deployment.js';
import type { StackOptions } from '../../local/stack/stack.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { collections } from '../../shared/names.js';
import { type Life, lifeOf } from '../support/life.js';
import { type Caller, makeScene, type Scene } from '../support/scene.js';
import { startGoogle } from './google.js';
import { blocksOf, type Place, runScript, variablesOf } from './walk.js';

type Variables = Readonly<Record<string, string>>;

export interface Walked {
  /** What each block that ran here said, in order. */
  readonly said: readonly string[];
  /** What blocks for Google alone asked for: `METHOD host/path`. */
  readonly asked: readonly string[];
}

export interface Desk {
  readonly scene: Scene;
  readonly life: Life;
  readonly alice: Caller;
  readonly operator: Caller;
  /** As the operator, in bash. Throws if it fails. */
  bash(script: string, variables?: Variables): Promise<string>;
  /**
   * Runs each block of a page. `after`: what happens meanwhile, by the number of the block before it, from 1. `only`: the blocks
   * of one of its cases.
   */
  walk(
    page: string,
    variables?: Variables,
    after?: Readonly<Record<number, () => unknown>>,
    only?: readonly number[],
  ): Promise<Walked>;
  /** Alice's, as it stands. */
  find(name: string): Promise<BootstrapView>;
  until(what: string, holds: () => boolean | Promise<boolean>): Promise<void>;
  /** Alice begins one, and no message of it arrives. It stands still until somebody sends it again. */
  begunAndLost(name: string): Promise<BootstrapView>;
  /** As if a function had died with each lease of it. */
  abandon(id: string, deaths: number): Promise<void>;
  close(): Promise<void>;
}

const sweepJob = 'plinth-sweep --project $PROJECT --location $REGION';

export async function openDesk(options: StackOptions = {}): Promise<Desk> {
  const scene = await makeScene(options);
  const life = lifeOf(scene);
  const [alice, operator] = [await scene.caller(people.alice), await scene.caller(people.admin)];
  const placeWith = (variables: Variables): Place => ({
    folder: operator.folder,
    env: { ...operator.env, ...variablesOf(variables) },
  });
  // Pages name programs of the checkout by their path in it.
  if (!existsSync(join(operator.folder, '.ci'))) symlinkSync(resolve('.ci'), join(operator.folder, '.ci'));
  const store = () => {
    const half = scene.stack.functionsHalf;
    if (half === undefined) throw new Error('the functions run elsewhere');
    return half.store;
  };

  const desk: Desk = {
    scene,
    life,
    alice,
    operator,
    async bash(script, variables = {}) {
      const { exitCode, text } = await runScript(script, placeWith(variables));
      expect(exitCode, `${script}\n${text}`).to.equal(0);
      return text;
    },
    async walk(page, variables = {}, after = {}, only) {
      const google = await startGoogle();
      const said: string[] = [];
      try {
        for (const [index, { at, script }] of blocksOf(page).entries()) {
          if (only?.includes(index + 1) === false) continue;
          if (at === 'anywhere') said.push(await desk.bash(script, variables));
          else {
            const { folder, env } = placeWith({ ...variables, ...google.env });
            await runScript(script, { folder, env }, '-uo');
          }
          await after[index + 1]?.();
        }
      } finally {
        await google.close();
      }
      return { said, asked: google.asked };
    },
    async find(name) {
      const { stdout } = await alice.plinth('status', name, '--json');
      return (JSON.parse(stdout) as { bootstrap: BootstrapView }).bootstrap;
    },
    async until(what, holds) {
      for (let waited = 0; !(await holds()); waited += 50) {
        if (waited > 120_000) throw new Error(`in vain: ${what}`);
        await sleep(50);
      }
    },
    async begunAndLost(name) {
      await desk.bash(`gcloud scheduler jobs pause ${sweepJob}`);
      const { faults } = scene.cloud;
      const lost = faults.add({ method: 'pubsub.projects.topics.publish', times: 0, code: 403, message: 'lost' });
      const begun = alice.start(name);
      await desk.until(`${name} begins`, async () => (await alice.plinth('list')).stdout.includes(name));
      const view = await desk.find(name);
      begun.interrupt();
      await begun.ended;
      await scene.cloud.scheduledCalls.idle();
      faults.remove(lost);
      return view;
    },
    async abandon(id, deaths) {
      const past = new Date(Date.now() - 60_000).toISOString();
      const leases = await store().query({ collection: collections.leases });
      const own = leases.filter(({ data }) => data['bootstrapId'] === id && data['state'] === 'ready');
      expect(own, 'leases').not.to.deep.equal([]);
      const dead = { state: 'running', number: 1, holder: 'gone', expiresAt: past, dueAt: past, deaths };
      await store().commit(
        own.map((lease) => ({ kind: 'update', collection: collections.leases, id: lease.id, data: dead })),
      );
    },
    close: () => scene.close(),
  };
  return desk;
}
