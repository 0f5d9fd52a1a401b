/**
 * The property of cleanup over the whole function, among tampered projects and records. PLINTH_CLEANUP_SHRINK=1 looks for the
 * smallest world that fails.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { bySeed, searchFor, searchMs, seed } from '../support/search.js';
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

const record = {
  late: true,
  protection: 'none',
  number: 'own',
  project: 'own',
  state: 'failed',
  quarantined: false,
  due: 'deadline',
} as const;

/** What once went wrong. */
const examples: [ProjectChoice[], Search][] = [
  // A removed record that the index still has as due kept the search by labels from its project, which came late.
  [
    [
      {
        ...genuine,
        record: { ...record, number: 'absent', state: 'removed' },
      },
    ],
    'all',
  ],
  // A record that was removed before its project came kept that project, which another record names with its number.
  [
    [
      { ...genuine, record: { ...record, project: 'next' } },
      { ...genuine, parent: 'organization', record: { ...record, number: 'absent', state: 'removed' } },
    ],
    'page',
  ],
];

/** However slow the computer is: so many meet projects of every kind. */
const fewest = 8;

describe('cleanup among tampered projects and records', function () {
  this.timeout(searchMs + 600_000);
  let stack: TamperedStack;
  before(async () => {
    stack = await createTamperedStack();
  });
  after(() => stack?.close());

  it(`never deletes the wrong one, leaves none that must go, and does what its dry run says ${bySeed}`, async () => {
    const judgements = new Map<string, number>();
    const property = fc.asyncProperty(choices, searches, async (chosen, search) => {
      const outcome = await stack.run(chosen, search);
      for (const { judgement } of outcome.projects) judgements.set(judgement, (judgements.get(judgement) ?? 0) + 1);
      const faults = faultsOf(outcome);
      expect(faults, `${faults.join('\n')}\n${JSON.stringify(outcome)}`).to.deep.equal([]);
    });
    const endOnFailure = process.env['PLINTH_CLEANUP_SHRINK'] === undefined;
    await fc.assert(property, { seed, numRuns: fewest, examples, endOnFailure });
    await searchFor(property, { seed: seed + 1, endOnFailure });
    expect(judgements.get('must'), 'projects that must go').to.be.greaterThan(0);
    expect(judgements.get('never'), 'projects that must stay').to.be.greaterThan(0);
  });
});
