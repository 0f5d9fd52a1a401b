/** A thousand second acts against the cloud, and as many as fit into half an hour against machines that answer SSH. */
import { expect } from 'chai';
import { hunt, inWords } from '../simulation/hunt.js';
import { needMachines } from '../support/machines.js';
import { seed } from '../support/search.js';
import { createSecondActs } from './second-acts.js';

const thousand = 1000;
const machineMinutes = 30;

describe('second acts of a night', () => {
  /** `isEnough`: asked after each seed, with the number of acts so far. */
  async function playUntil(machines: boolean, isEnough: (acts: number) => boolean): Promise<void> {
    const secondActs = createSecondActs({ machines });
    let acts = 0;
    try {
      const { found, seeds } = await hunt(secondActs, {
        from: seed,
        goesOn(played) {
          if (played > 0) acts += secondActs.size(seed + played - 1);
          return !isEnough(acts);
        },
      });
      console.log(`${acts} second acts in ${seeds} seeds`);
      if (found !== undefined) expect.fail(inWords(secondActs, found));
    } finally {
      await secondActs.close();
    }
  }

  it(`end well a thousand times (PLINTH_TEST_SEED=${seed})`, async function () {
    this.timeout(3 * 3600_000);
    await playUntil(false, (acts) => acts >= thousand);
  });

  it(`end well for ${machineMinutes} minutes, with machines to recover from (PLINTH_TEST_SEED=${seed})`, async function () {
    this.timeout((machineMinutes + 30) * 60_000);
    needMachines();
    const until = performance.now() + machineMinutes * 60_000;
    await playUntil(true, () => performance.now() >= until);
  });
});
