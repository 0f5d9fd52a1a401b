/** The property of cleanup among tampered projects and records; the short and the long test differ in how often they try. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { ProjectChoice } from './adversary.js';
import { choices, createTamperedStack, faultsOf, type Search, searches, type TamperedStack } from './tampered-stack.js';

const genuine: ProjectChoice = {
  parent: 'ours',
  late: true,
  managed: 'genuine',
  deployment: 'genuine',
  deleteAfter: 'genuine',
  protectedUntil: 'absent',
  bootstrap: 'genuine',
  owner: 'genuine',
  proof: 'genuine',
  deleted: false,
  lien: false,
  record: null,
};

/** What once went wrong. */
const examples: [ProjectChoice[], Search][] = [
  // A removed record that the index still has as due kept the search by labels from its project, which came late.
  [
    [
      {
        ...genuine,
        record: {
          late: true,
          protection: 'none',
          number: 'absent',
          project: 'own',
          state: 'removed',
          quarantined: false,
          due: 'deadline',
        },
      },
    ],
    'all',
  ],
];

export function itNeverDeletesTheWrongOne(runs: number): void {
  const seed = Number(process.env['PLINTH_CLEANUP_SEED'] ?? Date.now() % 2 ** 31);
  const numRuns = Number(process.env['PLINTH_CLEANUP_RUNS'] ?? runs);

  describe(`cleanup among tampered projects and records, ${numRuns} times (PLINTH_CLEANUP_SEED=${seed})`, function () {
    this.timeout(1_200_000);
    let stack: TamperedStack;
    before(async () => {
      stack = await createTamperedStack();
    });
    after(() => stack?.close());

    it('never deletes the wrong one, leaves none that must go, and does what its dry run says', async () => {
      const judgements = new Map<string, number>();
      await fc.assert(
        fc.asyncProperty(choices, searches, async (chosen, search) => {
          const outcome = await stack.run(chosen, search);
          for (const { judgement } of outcome.projects) judgements.set(judgement, (judgements.get(judgement) ?? 0) + 1);
          expect(faultsOf(outcome), JSON.stringify(outcome, undefined, 1)).to.deep.equal([]);
        }),
        { seed, numRuns, examples, endOnFailure: process.env['PLINTH_CLEANUP_SHRINK'] === undefined },
      );
      expect(judgements.get('must'), 'projects that must go').to.be.greaterThan(0);
      expect(judgements.get('never'), 'projects that must stay').to.be.greaterThan(0);
    });
  });
}
