/** Cleanup and people at the same moment, over HTTP: whoever was answered first is kept to, and nobody sees half of both. */
import { expect } from 'chai';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { type Life, lifeOf } from '../support/life.js';
import { makeScene, type Scene, succeeded } from '../support/scene.js';

describe('cleanup at the same moment as', function () {
  this.timeout(240_000);
  let scene: Scene;
  let life: Life;

  before(async () => {
    scene = await makeScene({ duplicates: 0.2, reordering: 0.2 });
    life = lifeOf(scene);
    await life.pause();
  });
  after(() => scene?.close());

  const late = async (name: string): Promise<BootstrapView> => {
    const view = succeeded(await (await scene.caller()).bootstrap(name, { 'project-ttl': '1h' }));
    await life.expire(view.id);
    return view;
  };
  const stateOf = ({ projectId }: BootstrapView) => life.project(projectId)['state'];
  const ask = async ({ id }: BootstrapView, verb: string, body: object): Promise<number> => {
    const { idToken } = await scene.stack.tokens('alice@example.com');
    const reply = await fetch(`${scene.stack.url}/bootstraps/${id}/${verb}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${idToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    await reply.arrayBuffer();
    return reply.status;
  };
  const day = () => new Date(Date.now() + 86_400_000).toISOString();
  const soon = (round: number) => new Promise((resolve) => setTimeout(resolve, round * 3));

  it('a protection: one that was answered with 200 holds', async () => {
    const statuses = new Set<number>();
    for (let round = 0; round < 4; round++) {
      const view = await late(`protect-${round}`);
      const protecting = soon(round).then(() => ask(view, 'protect', { until: day(), reason: 'debugging' }));
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
    const view = await late('asked-and-late');
    const since = scene.cloud.calls.last();
    await Promise.all([ask(view, 'remove', {}), life.cleanup(), life.cleanup()]);
    await scene.stack.settle();
    expect(await life.record(view.id)).to.include({ state: 'removed', generation: 2 });
    const deletions = scene.cloud.calls.list({ since, method: 'cloudresourcemanager.projects.delete' });
    expect(deletions).to.have.length(1);
  });

  it('the same command again, with a longer time: it stands if the command went through, else it is gone', async () => {
    for (let round = 0; round < 4; round++) {
      const name = `resume-${round}`;
      const view = await late(name);
      const resuming = (await scene.caller()).bootstrap(name, { 'project-ttl': '9h' });
      await new Promise((resolve) => setTimeout(resolve, 500 + round * 60));
      await life.cleanup();
      const { exitCode, result } = await resuming;
      await scene.stack.settle();
      const record = await life.record(view.id);
      if (exitCode === 0 && result.bootstrap?.id === view.id) {
        expect(record?.state, `${round}`).to.equal('succeeded');
        expect(stateOf(view)).to.equal('ACTIVE');
        expect((await life.cleaned()).remove).to.deep.equal([]);
      } else {
        // Refused while it went, or begun anew under the name that was free again.
        expect(record?.state, `${round}: ${JSON.stringify(result.problem)}`).to.equal('removed');
        expect(stateOf(view)).to.equal('DELETE_REQUESTED');
      }
    }
  });

  it('the same command again, as it was: it goes all the same, as its time is over', async () => {
    const view = await late('resume-as-it-was');
    const resuming = (await scene.caller()).bootstrap('resume-as-it-was', { 'project-ttl': '1h' });
    await new Promise((resolve) => setTimeout(resolve, 550));
    await life.cleanup();
    await resuming;
    await scene.stack.settle();
    await life.cleaned();
    expect(await life.record(view.id)).to.include({ state: 'removed' });
    expect(stateOf(view)).to.equal('DELETE_REQUESTED');
  });
});
