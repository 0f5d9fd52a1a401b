/** The laws of the steps on machines: a death after any exchange, of those that need few machines. */
import { hostStepsHold } from './hosts.js';

describe('laws of some steps on machines', function () {
  this.timeout(240_000);
  hostStepsHold({ options: {}, ways: ['after'], isChosen: (id) => /^(host-setup:k0s-1|package)/.test(id) });
});
