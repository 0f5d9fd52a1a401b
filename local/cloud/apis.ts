/** Every API of the simulated cloud. */
import type { ApiDefinition } from './api.js';
import { artifactRegistry } from './artifact-registry.js';
import { compute } from './compute.js';
import { dns } from './dns.js';
import { publicCa } from './public-ca.js';
import { pubsub } from './pubsub.js';
import { secretManager } from './secret-manager.js';

export const apiDefinitions: readonly ApiDefinition[] = [
  compute,
  dns,
  artifactRegistry,
  secretManager,
  publicCa,
  pubsub,
];
