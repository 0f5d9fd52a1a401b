/** What `cleanup` deletes is always a subset of its plan: whatever was bootstrapped, failed half-way, or stands beside it. */
import fc from 'fast-check';
import { bySeed, searchFor } from '../support/search.js';
import { choices, useRemovals } from './removal-plan.js';

describe(`a removal ${bySeed}`, function () {
  this.timeout(600_000);
  const check = useRemovals();

  it('takes nothing that its plan does not name', () =>
    searchFor(fc.asyncProperty(choices, async (choice) => void (await check(choice)))));
});
