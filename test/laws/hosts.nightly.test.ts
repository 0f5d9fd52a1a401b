/**
 * The laws of the steps that bring machines to their Kubernetes and images: a death at any moment of any exchange. Once by
 * public addresses and keys, once as in a hardened organization.
 */
import { setOrganizationPolicy } from '../../local/cloud/org-policy/policies.js';
import type { ConstraintName } from '../../local/cloud/worlds/constraints.js';
import { local } from '../../local/stack/deployment.js';
import { hostStepsHold, type Sample } from './hosts.js';

const hardening: readonly ConstraintName[] = ['compute.requireOsLogin', 'compute.disableGuestAttributesAccess'];

const reached: readonly (Pick<Sample, 'parts'> & { readonly how: string })[] = [
  { how: 'reached directly, by keys' },
  {
    how: 'reached through IAP, by OS Login, and known by their serial consoles',
    parts: {
      machineAccess: 'iap',
      async prepare({ world }) {
        const enforced = [{ enforce: true }];
        for (const each of hardening) setOrganizationPolicy(world, local.folder, each, enforced);
      },
    },
  },
];

const samples: readonly (Pick<Sample, 'options'> & { readonly what: string; readonly chosen: RegExp })[] = [
  {
    what: 'the steps on machines',
    options: {},
    // Of machines alike one is enough.
    chosen: /^(host-setup:(jumpbox|k0s-1)|node-key|node-login:k0s-1|handover|package)/,
  },
  {
    what: 'the steps of programs, a registry and Kubernetes',
    options: { registryType: 'local-container' },
    chosen:
      /^(plinth-binary|registry|registry-trust:(jumpbox|k0s-1)|k0s-binary:k0s-1|k0s-controller:dc1|k0s-worker:k0s-2)$/,
  },
  {
    what: 'the steps of an install',
    options: {
      registryType: 'local-container',
      airgapped: true,
      installSkipSteps: ['postgres'],
      clusterAdminEmail: 'ops@example.com',
      createTestUser: true,
    },
    chosen: /^(images|k0s-ready:dc1|cluster-admin-email:dc1|install:dc1|load-balancers:dc1|test-user)$/,
  },
];

for (const { how, parts = {} } of reached) {
  for (const { what, options, chosen } of samples) {
    describe(`laws of ${what}, which are ${how}`, function () {
      this.timeout(600_000);
      hostStepsHold({ options, ways: ['before', 'during', 'after'], isChosen: (id) => chosen.test(id), parts });
    });
  }
}
