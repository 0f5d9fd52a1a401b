/** The database takes a new document, and its answer is lost: whoever asked for it meets nothing of that. */
import { expect } from 'chai';
import type { Store } from '../../functions/store/store.js';
import { collections } from '../../shared/names.js';
import { Problem } from '../../shared/problems.js';
import { makeBrowserJar } from '../console/browser-jar.js';
import { runAt } from '../support/plinth-here.js';
import { argsOf, makeScene, type Scene } from '../support/scene.js';

const watched: readonly string[] = [collections.preflights, collections.consoleSessions];

describe('where the answer to the write of a new document is lost', function () {
  this.timeout(60_000);
  let scene: Scene;
  const lost = new Map<string, number>();
  before(async () => {
    scene = await makeScene({ wrapStore });
  });
  beforeEach(() => lost.clear());
  after(() => scene?.close());

  const wrapStore = (store: Store): Store => ({
    ...store,
    async commit(writes) {
      const versions = await store.commit(writes);
      const [{ kind, collection, id } = { kind: 'delete', collection: '', id: '' }] = writes;
      const key = `${collection}/${id}`;
      if ((kind !== 'create' && kind !== 'set') || !watched.includes(collection) || lost.has(key)) return versions;
      lost.set(key, 1);
      throw new Problem('unavailable', 'The database did not answer.');
    },
  });

  it('a check and the start after it end as ever', async () => {
    const alice = await scene.caller();
    for (const more of [['--check'], []]) {
      const { exitCode, stderr } = await runAt(['beta', 'bootstrap-cloud', ...more, ...argsOf('lost-answers')], alice);
      expect(exitCode, stderr).to.equal(0);
    }
    // The round of each.
    expect(lost.size).to.be.at.least(2);
  });

  it('a person is signed in to the console', async () => {
    const { url } = scene.stack;
    const jar = makeBrowserJar();
    const sent = await jar.visit(`${url}/console/sign-in?to=/`);
    const agreed = await fetch(`${sent.headers.get('location')}&email=alice@example.com`, { redirect: 'manual' });
    expect((await jar.visit(agreed.headers.get('location') ?? '')).status).to.equal(302);
    const session = await jar.visit(`${url}/console/session`, { method: 'POST', origin: url });
    expect(session.status, await session.text()).to.equal(200);
    expect(lost.size).to.equal(1);
  });
});
