/** Plays of installs in which two things meet that hardly ever do, each by the seeds that found it. */
import { expect } from 'chai';
import { playBootstraps } from './bootstraps.js';
import type { BootstrapsItem, Doing, Mishap } from './bootstraps-plan.js';

const at = (atSeconds: number, what: Doing, variant: number): BootstrapsItem => ({
  ...{ kind: 'do', what, name: 'first' },
  ...{ atSeconds, variant },
});
const jumpbox = (atSeconds: number, how: Mishap['how']): BootstrapsItem => ({
  ...{ kind: 'mishap', machine: 'jumpbox' },
  ...{ atSeconds, how },
});

const plays: readonly (readonly [what: string, items: readonly BootstrapsItem[], seeds: readonly number[]])[] = [
  [
    'the jumpbox is away for three minutes: the install waits, and goes on',
    [at(0, 'begin', 2), jumpbox(300, 'is away'), jumpbox(385, 'is away')],
    [1, 4],
  ],
  [
    'an install is resumed as its package comes: what has come is not fetched again',
    [at(0, 'begin', 2), at(560, 'resume', 1), at(500, 'resume', 1)],
    [1],
  ],
  [
    'the jumpbox restarts between two looks at the package that comes: its address is given again, as it was in memory',
    [at(0, 'begin', 2), jumpbox(500, 'restarts')],
    [2],
  ],
];

describe('installs in which things meet', () => {
  for (const [what, items, seeds] of plays) {
    it(what, async () => {
      for (const seed of seeds) {
        const { faults } = await playBootstraps(seed, [{ kind: 'machines' }, ...items]);
        expect(faults).to.deep.equal([]);
      }
    }).timeout(60_000);
  }
});
