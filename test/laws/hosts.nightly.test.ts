/** The laws of the steps that bring machines to their Kubernetes and images: a death at any moment of any exchange. */
import { hostStepsHold } from './hosts.js';

/** Of machines alike one is enough. */
const chosen = /^(host-setup:(jumpbox|k0s-1)|node-key|node-login:k0s-1|handover|package)/;

describe('laws of the steps on machines', function () {
  this.timeout(600_000);
  hostStepsHold({ options: {}, ways: ['before', 'during', 'after'], isChosen: (id) => chosen.test(id) });
});

describe('laws of the steps of programs, a registry and Kubernetes', function () {
  this.timeout(600_000);
  const later =
    /^(plinth-binary|registry|registry-trust:(jumpbox|k0s-1)|k0s-binary:k0s-1|k0s-controller:dc1|k0s-worker:k0s-2)$/;
  hostStepsHold({
    options: { registryType: 'local-container' },
    ways: ['before', 'during', 'after'],
    isChosen: (id) => later.test(id),
  });
});

describe('laws of the steps of an install', function () {
  this.timeout(600_000);
  const install = /^(images|k0s-ready:dc1|cluster-admin-email:dc1|install:dc1|load-balancers:dc1|test-user)$/;
  hostStepsHold({
    options: {
      registryType: 'local-container',
      airgapped: true,
      installSkipSteps: ['postgres'],
      clusterAdminEmail: 'ops@example.com',
      createTestUser: true,
    },
    ways: ['before', 'during', 'after'],
    isChosen: (id) => install.test(id),
  });
});
