/** Resolved options of a bootstrap with the five required flags and what a test adds, for tests of the config steps. */
import type { BootstrapOptions, GivenFlags } from '../../shared/bootstrap/options.js';
import { checkOptions } from '../../shared/bootstrap/rules.js';

const required: GivenFlags = {
  projectName: 'my project',
  billingAccount: '012345-6789AB-CDEF01',
  baseDomain: 'example.com',
  forge1AppClientId: 'client-1',
  forge1AppClientSecret: 'client-secret',
};

export const makeOptions = (options: Partial<BootstrapOptions> = {}): BootstrapOptions => ({
  ...checkOptions({ ...required, ...(options as GivenFlags) }).options,
  ...options,
});
