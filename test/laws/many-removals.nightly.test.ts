/** Two hundred projects past their time at once, of which twenty cannot go: the others do, and nobody waits for the twenty. */
import { expect } from 'chai';
import { keysAtHand } from '../install-config/made-bootstrap.js';
import { createEngineLab } from './engine-lab.js';

describe('two hundred removals, twenty of which fail', function () {
  this.timeout(1_200_000);
  before(keysAtHand);

  it('leave the twenty, quarantined after three tries, and nothing else', async () => {
    const lab = await createEngineLab();
    try {
      const ids: string[] = [];
      for (let i = 0; i < 200; i += 10) {
        const names = Array.from({ length: 10 }, (_, n) => `many-${i + n}`);
        ids.push(...(await Promise.all(names.map((name) => lab.begin(name)))));
        await lab.drain();
      }
      expect(lab.brokenOff).to.deep.equal([]);
      for (const id of ids) {
        const { state, problem } = await lab.record(id);
        expect(state, JSON.stringify(problem)).to.equal('succeeded');
      }
      const broken = new Set(ids.filter((_, i) => i % 10 === 0));
      for (const id of broken) {
        const { projectId } = await lab.record(id);
        lab.cloud.world.policies.set(`projects/${projectId}`, { bindings: [] });
      }
      const { remove } = await lab.cleanup(30 * 86_400);
      expect(remove).to.have.length(200);
      await lab.drain();
      for (let tries = 2; tries <= 3; tries++) {
        expect((await lab.cleanup(3600)).remove).to.have.length(20);
        await lab.drain();
      }
      const { remove: last } = await lab.cleanup(3600);
      expect(last).to.deep.equal([]);
      for (const id of ids) {
        const { state, projectId, removal } = await lab.record(id);
        const project = lab.cloud.world.table('projects')[projectId];
        expect(state, id).to.equal(broken.has(id) ? 'removal-failed' : 'removed');
        expect(project?.['state'], id).to.equal(broken.has(id) ? 'ACTIVE' : 'DELETE_REQUESTED');
        expect(removal?.quarantinedAt !== undefined, id).to.equal(broken.has(id));
      }
    } finally {
      await lab.close();
    }
  });
});
