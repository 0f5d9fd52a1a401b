/** Cleanup and people at the same moment, over HTTP: whoever was answered first is kept to, and nobody sees half of both. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { people } from '../../local/stack/deployment.js';
import { addExpired, expiredId, ownFolder } from '../cleanup/expired.js';
import { type Life, lifeOf } from '../support/life.js';
import { type Flags, makeScene, type Scene, succeeded } from '../support/scene.js';

describe('cleanup at the same moment as', function () {
  this.timeout(240_000);
  let scene: Scene;
  let life: Life;

  before(async () => {
    scene = await makeScene({ duplicates: 0.2, reordering: 0.2 });
    life = lifeOf(scene);
    await life.pause();
    ownFolder(scene.cloud);
  });
  after(() => scene?.close());

  interface Late {
    readonly id: string;
    readonly projectId: string;
  }
  /** Past its time. A project and its record, and nothing else. */
  const late = async (name: string): Promise<Late> => {
    const [projectId = ''] = await addExpired(scene.stack, name, 1);
    return { id: expiredId(name), projectId };
  };
  const stateOf = ({ projectId }: Late) => life.project(projectId)['state'];
  const ask = async ({ id }: Late, verb: string, body: object): Promise<number> => {
    const { idToken } = await scene.stack.tokens(people.alice);
    const reply = await fetch(`${scene.stack.url}/bootstraps/${id}/${verb}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${idToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    await reply.arrayBuffer();
    return reply.status;
  };
  const day = () => new Date(Date.now() + 86_400_000).toISOString();

  it('a protection: one that was answered with 200 holds', async () => {
    const statuses = new Set<number>();
    for (let round = 0; round < 4; round++) {
      const view = await late(`held${round}`);
      const protecting = sleep(round * 3).then(() => ask(view, 'protect', { until: day(), reason: 'debugging' }));
      const [status] = await Promise.all([protecting, life.cleanup(), life.cleanup()]);
      await scene.stack.settle();
      statuses.add(status);
      expect(status).to.be.oneOf([200, 409]);
      expect(stateOf(view), `${round}`).to.equal(status === 200 ? 'ACTIVE' : 'DELETE_REQUESTED');
      const record = await life.record(view.id);
      expect(record?.state).to.equal(status === 200 ? 'succeeded' : 'removed');
      expect(record?.removal).to.equal(undefined);
    }
    expect([...statuses], 'who was answered').not.to.be.empty;
  });

  it('its owner, who removes it: it goes once', async () => {
    const view = await late('asked');
    const since = scene.cloud.calls.last();
    await Promise.all([ask(view, 'remove', {}), life.cleanup(), life.cleanup()]);
    await scene.stack.settle();
    expect(await life.record(view.id)).to.include({ state: 'removed', generation: 2 });
    const deletions = scene.cloud.calls.list({ since, method: 'cloudresourcemanager.projects.delete' });
    expect(deletions).to.have.length(1);
  });

  it('the same command again, with a longer time: it stands if the command went through, else it is gone', async () => {
    const begin = async (flags: Flags) => (await scene.caller()).bootstrap('resumed', flags);
    const view = succeeded(await begin({ 'project-ttl': '1h' }));
    await life.expire(view.id);
    const resuming = begin({ 'project-ttl': '9h' });
    await sleep(600);
    await life.cleanup();
    const { exitCode, result } = await resuming;
    await scene.stack.settle();
    const record = await life.record(view.id);
    if (exitCode === 0 && result.bootstrap?.id === view.id) {
      expect(record?.state).to.equal('succeeded');
      expect(stateOf(view)).to.equal('ACTIVE');
      expect((await life.cleaned()).remove).to.deep.equal([]);
      // As it is from then on, its time is over all the same.
      await life.expire(view.id);
      const again = begin({ 'project-ttl': '9h' });
      await sleep(600);
      await life.cleanup();
      await again;
      await scene.stack.settle();
      await life.cleaned();
    }
    // Refused while it went, or begun anew under the name that was free again.
    expect((await life.record(view.id))?.state, JSON.stringify(result.problem)).to.equal('removed');
    expect(stateOf(view)).to.equal('DELETE_REQUESTED');
  });
});
