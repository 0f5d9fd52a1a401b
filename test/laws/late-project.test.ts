/** A project that was asked for by a process that died then: however late it comes, it does not outlive its bootstrap's time. */
import { expect } from 'chai';
import { functionAccount, local } from '../../local/stack/deployment.js';
import { functionNames, labels } from '../../shared/names.js';
import { keysAtHand } from '../install-config/made-bootstrap.js';
import { createEngineLab, type EngineLab } from './engine-lab.js';

const creation = 'cloudresourcemanager.projects.create';

describe('a project that comes late', function () {
  this.timeout(240_000);
  let lab: EngineLab;
  before(keysAtHand);
  afterEach(() => lab.close());

  const stateOf = (projectId: string) => lab.cloud.world.table('projects')[projectId]?.['state'];

  /** Begun, and cut off at the one call that asks for the project. */
  async function cutOff(when: 'before' | 'after'): Promise<{ id: string; projectId: string }> {
    const id = await lab.begin('late');
    lab.dieAt(creation, when);
    await lab.drain();
    expect(lab.cloud.calls.list({ method: creation })).to.have.length(1);
    lab.cloud.faults.clear();
    lab.revive();
    return { id, projectId: (await lab.record(id)).projectId };
  }

  it('is waited for when nobody heard whether it is being made', async () => {
    // Making it takes ten seconds of the cloud.
    lab = await createEngineLab({ timeFactor: 0.02 });
    const { id, projectId } = await cutOff('after');
    await lab.remove(id);
    await lab.recover();
    expect((await lab.record(id)).state).to.equal('removed');
    expect(stateOf(projectId)).to.equal('DELETE_REQUESTED');
  });

  it('is waited for while it is being made', async () => {
    lab = await createEngineLab({ timeFactor: 0.02 });
    const id = await lab.begin('late');
    const { projectId } = await lab.record(id);
    lab.after(creation, () => lab.remove(id));
    await lab.drain();
    expect((await lab.record(id)).state).to.equal('removed');
    expect(stateOf(projectId)).to.equal('DELETE_REQUESTED');
  });

  for (const [what, bootstrap, goes] of [
    ['says whose it is', undefined, true],
    ['is of another bootstrap', 'b000000000000000', false],
  ] as const) {
    it(`${goes ? 'goes at its deadline' : 'stays'} when it comes after the removal and ${what}`, async () => {
      lab = await createEngineLab();
      const { id, projectId } = await cutOff('before');
      await lab.remove(id);
      await lab.recover();
      const record = await lab.record(id);
      expect(record.state).to.equal('removed');
      expect(record.instances['project']?.note).to.contain('goes by its labels');
      // What Google had taken up all the same.
      const expiry = `t${Math.floor(Date.parse(record.deadlineAt) / 1000)}`;
      const standing = {
        [labels.managed]: 'true',
        [labels.deployment]: local.deployment,
        [labels.bootstrap]: bootstrap ?? id,
        [labels.deleteAfter]: expiry,
      };
      const reply = await fetch(`${lab.cloud.endpoints.cloudresourcemanager}/v3/projects`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${lab.cloud.identity.accessToken(functionAccount(functionNames.runCloudStep))}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ projectId, displayName: 'late', parent: local.folder, labels: standing }),
      });
      expect(reply.status).to.equal(200);
      expect((await lab.cleanup()).remove).to.deep.equal([]);
      const { remove, keep } = await lab.cleanup(30 * 86_400);
      expect((goes ? remove : keep).map((found) => found.projectId)).to.deep.equal([projectId]);
      await lab.drain();
      const after = await lab.record(id);
      expect(after.state, JSON.stringify(after.problem)).to.equal('removed');
      expect(stateOf(projectId)).to.equal(goes ? 'DELETE_REQUESTED' : 'ACTIVE');
      expect((await lab.cleanup()).remove).to.deep.equal([]);
    });
  }
});
