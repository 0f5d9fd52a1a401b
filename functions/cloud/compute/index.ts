/** Wraps Compute Engine for the steps. */
import type { Transport } from '../rest.js';
import { createAddresses } from './addresses.js';
import { createComputeCalls } from './calls.js';
import { type ClientName, type ComputeClients, clientClasses } from './clients.js';
import { createInstances } from './instances.js';
import { createNetworks } from './networks.js';
import { createOperations } from './operations.js';
import { createProjectMetadata } from './projects.js';

export function createCompute(clients: ComputeClients, transport: Transport) {
  const calls = createComputeCalls(clients, transport);
  return {
    /** Loads all clients, for a time when there is nothing else to do. It takes more than a second. */
    async load(): Promise<void> {
      for (const name of Object.keys(clientClasses) as ClientName[]) await clients(name);
    },
    ...createProjectMetadata(calls),
    ...createNetworks(calls),
    ...createAddresses(calls),
    ...createInstances(calls),
    ...createOperations(calls),
  };
}
