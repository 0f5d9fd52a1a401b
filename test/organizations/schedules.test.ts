/** Organizations under schedules that a seed decides; PLINTH_SCHEDULE plays one of them again. */
import { seed } from '../support/search.js';
import { searchSchedules } from './schedules.js';

const runs = 2000;

describe('organizations, whoever goes on at every moment', () => {
  it(`keep their rules under ${runs} schedules (PLINTH_TEST_SEED=${seed})`, async function () {
    this.timeout(300_000);
    await searchSchedules(seed, runs);
  });
});
