/** The bundles on the Node that they are deployed on, end to end. */
import { bundlesServeOn, makeBundles, runtimes } from './served-bundles.js';

describe('the bundles', function () {
  this.timeout(1_200_000);
  before(makeBundles);

  bundlesServeOn(runtimes.deployed);
});
