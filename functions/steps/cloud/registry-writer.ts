/** Makes the service account with which the jumpbox pushes images. */
import { accountIds, hasRegistry } from '../topology.js';
import { makeAccount, observeAccount } from './account.js';
import { apis } from './apis.js';
import { AccountOutput } from './outputs.js';
import { defineProjectStep } from './settling.js';

export const registryWriter = defineProjectStep({
  name: 'registry-writer',
  title: 'Service account of the registry',
  lane: 'cloud',
  needs: { apis },
  when: hasRegistry,
  describe: () => [`service account ${accountIds.registryWriter}`],
  output: AccountOutput,
  observe: (call) => observeAccount(call, accountIds.registryWriter),
  run: (call) => makeAccount(call, accountIds.registryWriter, 'Writer of the image repository'),
  goes: 'project',
  summary: ({ email }) => email,
});
