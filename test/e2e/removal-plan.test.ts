/** What `cleanup` deletes is a subset of its plan. By night that is searched for: removal-plan.nightly.test.ts. */
import { expect } from 'chai';
import { type Choice, useRemovals } from './removal-plan.js';

const cases: readonly (readonly [string, Choice])[] = [
  [
    'of two datacenters in a shared zone, cut off in another run, beside names of others',
    {
      ...{ shared: true, multiDc: true, issuer: true, artifacts: false },
      ...{ givesUp: false, runsAgain: true, failsAt: null, strangers: true, agreed: true },
    },
  ],
  [
    'of a bootstrap that failed half-way',
    {
      ...{ shared: false, multiDc: false, issuer: true, artifacts: true },
      ...{ givesUp: false, runsAgain: false, failsAt: 'compute.networks.insert', strangers: false, agreed: false },
    },
  ],
];

describe('a removal', function () {
  this.timeout(240_000);
  const check = useRemovals();

  for (const [what, choice] of cases) {
    it(`${what}, takes nothing that its plan does not name`, async () => {
      const gone = await check(choice);
      expect(gone.length, gone.join('\n')).to.be.above(1);
    });
  }
});
