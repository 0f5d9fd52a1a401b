/** This release goes on with what others began. The tests of a change and of a night differ in how many places they play from. */
import { expect } from 'chai';
import { version } from '../../shared/version.js';
import { keysAtHand } from '../install-config/made-bootstrap.js';
import { needMachines } from '../support/machines.js';
import { recordingsOf, releases } from './recording.js';
import { type Chosen, type Extent, replay, replayOnMachines } from './replay.js';

export function upgradesHold(extent: Extent): void {
  describe('this release takes over bootstraps', function () {
    this.timeout(1_200_000);
    before(keysAtHand);

    it('has left recordings of its own', () => {
      expect(releases()).to.include(version);
    });

    for (const release of releases()) {
      const known = new Set<string>();
      for (const file of recordingsOf(release, { machines: false })) {
        it(`that ${release} began, and brings each to its end: ${file.split('.')[0]}`, async () => {
          expect(await replay(release, file, known, extent)).to.be.at.least(1);
        });
      }
    }
  });
}

/** Of what was done: a step began or ended, or a job on a machine has just begun. */
export const onMachines: Chosen = (firsts) => firsts.some((each) => / (?:running|ended|begun)$/.test(each));

/** The same with machines, from at most so many places of each recording. */
export function upgradesHoldOnMachines(chosen: Chosen, most: number): void {
  describe('this release takes over installs', function () {
    this.timeout(1_800_000);
    before(async function () {
      needMachines();
      await keysAtHand.call(this);
    });

    it('has left a recording of its own', () => {
      expect(recordingsOf(version, { machines: true })).not.to.deep.equal([]);
    });

    for (const release of releases()) {
      for (const file of recordingsOf(release, { machines: true })) {
        it(`that ${release} began, and brings each to its end: ${file.split('.')[0]}`, async () => {
          expect(await replayOnMachines(release, file, chosen, most)).to.be.at.least(1);
        });
      }
    }
  });
}
