/** Whole bootstraps with their removal, in one process, from a seed. */
import { expect } from 'chai';
import { bootstraps, playBootstraps } from './bootstraps.js';
import { firstSeed, hunt, inWords } from './hunt.js';

/** Each Node that is supported plays as many: more than 200 in all before a change lands. */
const seeds = 70;

describe('whole bootstraps, whoever goes on, dies or fails at every moment', () => {
  it(`come to their end under ${seeds} seeds, and nothing is left (PLINTH_TEST_SEED=${firstSeed})`, async function () {
    this.timeout(900_000);
    const hunted = await hunt(bootstraps, { from: firstSeed, goesOn: (played) => played < seeds });
    if (hunted.found !== undefined) expect.fail(inWords(bootstraps, hunted.found));
  });

  it('tells what happened, in words', async () => {
    const { timeline, faults } = await playBootstraps(7, [
      { kind: 'do', what: 'begin', name: 'first', atSeconds: 0, variant: 0 },
    ]);
    expect(faults).to.deep.equal([]);
    expect(timeline[0]).to.equal('00:00:00.000 alice: asks to begin first (0)');
    expect(timeline.join('\n')).to.match(
      /run-cloud-step: b\w+ project: done\n(.|\n)*cloud: project first-\w+ is deleted\n/,
    );
  }).timeout(60_000);
});
