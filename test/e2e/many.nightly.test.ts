/** Many bootstraps at the same time, with messages that come twice and overtake each other. */
import { expect } from 'chai';
import { historyOf, madeTwice, makeScene, type Scene, succeeded } from '../support/scene.js';

describe('many bootstraps at once', function () {
  this.timeout(240_000);
  let scene: Scene;

  before(async () => {
    scene = await makeScene({ duplicates: 0.3, reordering: 0.5, seed: 7 });
  });
  after(() => scene?.close());

  it('twenty callers, a third of the messages twice, half of them out of order: all is there, and nothing twice', async () => {
    const names = Array.from({ length: 20 }, (_, i) => `crowd-${i + 1}`);
    const outcomes = await Promise.all(
      names.map(async (name, i) =>
        (await scene.caller(i % 2 === 0 ? 'alice@example.com' : 'bob@example.com')).bootstrap(name),
      ),
    );
    for (const outcome of outcomes) await scene.expectAll(succeeded(outcome));
    expect(new Set(outcomes.map(({ result }) => result.bootstrap?.projectId)).size).to.equal(20);
    await scene.stack.settle();
    expect(madeTwice(historyOf(scene.cloud))).to.deep.equal([]);
  });

  it('one name at the same time by five: one bootstrap, the others follow it or are told', async () => {
    const callers = await Promise.all(Array.from({ length: 5 }, () => scene.caller()));
    const outcomes = await Promise.all(callers.map((caller) => caller.bootstrap('contended')));
    const ids = outcomes.map(({ result }) => result.bootstrap?.id).filter((id) => id !== undefined);
    expect(new Set(ids).size).to.equal(1);
    for (const { exitCode, stderr } of outcomes) expect(exitCode, stderr).to.equal(0);
    await scene.stack.settle();
    // A command that comes while a secret is being written looks anew; then two are written, and the first one counts.
    expect(madeTwice(historyOf(scene.cloud), { secretVersions: false })).to.deep.equal([]);
  });
});
