/** The laws of the steps that bring machines to where Kubernetes begins: a death at any moment of any exchange. */
import { hostStepsHold } from './hosts.js';

/** Of machines alike one is enough. */
const chosen = /^(host-setup:(jumpbox|k0s-1)|node-key|node-login:k0s-1|handover|package)/;

describe('laws of the steps on machines', function () {
  this.timeout(600_000);
  hostStepsHold({ options: {}, ways: ['before', 'during', 'after'], isChosen: (id) => chosen.test(id) });
});
