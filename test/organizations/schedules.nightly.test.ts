/** More schedules than a change is held up for. */
import { seed } from '../support/search.js';
import { searchSchedules } from './schedules.js';

const runs = 10_000;

describe('organizations, whoever goes on at every moment of a night', () => {
  it(`keep their rules under ${runs} schedules (PLINTH_TEST_SEED=${seed})`, async function () {
    this.timeout(900_000);
    await searchSchedules(seed, runs);
  });
});
