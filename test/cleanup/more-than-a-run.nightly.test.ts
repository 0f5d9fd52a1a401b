/** More past its time than one run takes: the rest goes at once, unless the schedule is paused, and never in a circle. */
import { expect } from 'chai';
import type { ProjectRecord } from '../../local/cloud/kernel/api.js';
import { functionAccount } from '../../local/stack/deployment.js';
import { functionNames } from '../../shared/names.js';
import { type Life, lifeOf } from '../support/life.js';
import { makeScene, type Scene } from '../support/scene.js';
import { addExpired, ownFolder } from './expired.js';

const run = 500;

describe('more than one run takes', function () {
  this.timeout(600_000);
  let scene: Scene;
  let life: Life;

  before(async () => {
    scene = await makeScene();
    life = lifeOf(scene);
    await life.atNewYear();
    ownFolder(scene.cloud);
  });
  after(() => scene?.close());

  const activeOf = (ids: readonly string[]) => {
    const projects = scene.cloud.world.table<ProjectRecord>('projects');
    return ids.filter((id) => projects[id]?.state === 'ACTIVE').length;
  };
  /** One call of the schedule's, and all that follows from it; how many more calls it asked for. */
  async function called(): Promise<number> {
    const since = scene.cloud.calls.last();
    await life.call('');
    for (let asked = -1; asked !== scene.cloud.calls.last(); ) {
      asked = scene.cloud.calls.last();
      await scene.cloud.scheduledCalls.idle();
      await scene.stack.settle(300);
    }
    const caller = functionAccount(functionNames.cleanup);
    const asked = scene.cloud.calls.list({ since, method: 'cloudscheduler.projects.locations.jobs.run' });
    expect(asked.filter((call) => call.caller !== caller)).to.deep.equal([]);
    return asked.length;
  }

  it('goes without waiting for the schedule: 1,200', async () => {
    const ids = await addExpired(scene.stack, 'many', 2 * run + 200);
    expect(await called()).to.equal(2);
    expect(activeOf(ids)).to.equal(0);
  });

  it('waits while the schedule is paused', async () => {
    const ids = await addExpired(scene.stack, 'held', run + 20);
    await life.job('POST', ':pause');
    expect(await called()).to.equal(0);
    expect(activeOf(ids)).to.equal(20);
    await life.job('POST', ':resume');
    expect(await called()).to.equal(0);
    expect(activeOf(ids)).to.equal(0);
  });

  it('comes to an end where nothing goes, and what stays keeps no other from going', async () => {
    const stay = await addExpired(scene.stack, 'stay', run + 20, '42');
    expect(await called()).to.equal(0);
    expect(activeOf(stay)).to.equal(stay.length);
    const go = await addExpired(scene.stack, 'goes', 5);
    expect(await called()).to.equal(0);
    expect(activeOf(go)).to.equal(0);
    expect(activeOf(stay)).to.equal(stay.length);
  });
});
