/** Makes the service account of the Kubernetes nodes. */
import { accountIds } from '../topology.js';
import { makeAccount, observeAccount } from './account.js';
import { apis } from './apis.js';
import { AccountOutput } from './outputs.js';
import { defineProjectStep } from './settling.js';

export const cloudController = defineProjectStep({
  name: 'cloud-controller',
  title: 'Service account of the nodes',
  lane: 'cloud',
  prepares: 'kept',
  needs: { apis },
  describe: () => [`service account ${accountIds.cloudController}`],
  output: AccountOutput,
  observe: (call) => observeAccount(call, accountIds.cloudController),
  run: (call) => makeAccount(call, accountIds.cloudController, 'Cloud controller of the Kubernetes nodes'),
  goes: 'project',
  summary: ({ email }) => email,
});
