/** The rule of what may be removed, against an oracle that knows nothing of it. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { BootstrapRecord } from '../../functions/engine/record/documents.js';
import { contradiction, judgeProject, judgeRecord } from '../../functions/engine/record/removal-rule.js';
import { bySeed, seed } from '../support/search.js';
import { type Identity, type Place, projectChoice, tamper } from './adversary.js';
import { byLabels, judge } from './oracle.js';

const place: Place = {
  now: Date.parse('2026-03-01T12:00:00Z'),
  parent: 'folders/1',
  otherParent: 'folders/2',
  organization: 'organizations/3',
  deployment: 'local',
  proofKey: 'a key',
};
const deployment = { parent: place.parent, name: place.deployment, proofKey: place.proofKey };
const identities = Array.from(
  { length: 4 },
  (_, i): Identity => ({ projectId: `project-${i}`, number: `40000000000${i}`, bootstrapId: `b00000000000000${i}` }),
);
const numRuns = 3000;
const choices = fc.array(projectChoice, { minLength: identities.length, maxLength: identities.length });

describe(`the rule of what may be removed ${bySeed}`, () => {
  it('says of a project without a record what the oracle says', () => {
    const said = new Map<string, number>();
    fc.assert(
      fc.property(choices, (chosen) => {
        const { projects, world } = tamper(chosen, identities, place);
        for (const project of projects) {
          const seen = {
            name: `projects/${project.number}`,
            projectId: project.projectId,
            parent: project.parent,
            state: project.active ? 'ACTIVE' : 'DELETE_REQUESTED',
            labels: project.labels,
          };
          const { remove } = judgeProject(seen, deployment, new Date(place.now));
          const wanted = project.active ? byLabels(project, world) : 'never';
          said.set(wanted, (said.get(wanted) ?? 0) + 1);
          expect(remove, JSON.stringify(project)).to.equal(wanted === 'must');
        }
      }),
      { seed, numRuns },
    );
    // An adversary that is never right, or never wrong, would prove nothing.
    expect(said.get('must')).to.be.greaterThan(numRuns / 50);
    expect(said.get('never')).to.be.greaterThan(numRuns / 50);
  });

  it('says of a project with a record no more than the oracle allows', () => {
    fc.assert(
      fc.property(choices, (chosen) => {
        const { projects, world } = tamper(chosen, identities, place);
        for (const found of world.records) {
          const project = projects.find(({ projectId }) => projectId === found.projectId);
          if (project === undefined || found.number === undefined) continue;
          const alone = { ...world, records: [found] };
          const iso = (time: number) => new Date(time).toISOString();
          const record = {
            projectId: found.projectId,
            state: found.state,
            deadlineAt: iso(found.deadline),
            instances: { project: { state: 'done', attempt: 0, output: { projectNumber: found.number } } },
            ...(found.protectedUntil === undefined
              ? {}
              : { protection: { until: iso(found.protectedUntil), reason: 'a demo', by: 'alice@example.com' } }),
            ...(found.quarantined
              ? {
                  removal: {
                    requestedAt: iso(place.now),
                    by: 'cleanup',
                    why: 'expired',
                    failures: 3,
                    quarantinedAt: iso(place.now),
                  },
                }
              : {}),
          } as unknown as BootstrapRecord;
          const seen = { name: `projects/${project.number}`, projectId: project.projectId, state: 'ACTIVE' };
          const remove = contradiction(record, seen) === undefined && judgeRecord(record, new Date(place.now)).remove;
          const wanted = judge(
            { ...project, active: true, lien: false },
            { ...alone, records: [{ ...found, due: true }] },
          );
          expect(remove, JSON.stringify(found)).to.equal(wanted === 'must');
        }
      }),
      { seed, numRuns },
    );
  });
});
