/** Every API of the simulated cloud. */
import type { ApiDefinition } from './api.js';
import { artifactRegistry } from './artifact-registry.js';
import { billing } from './billing.js';
import { compute } from './compute.js';
import { dns } from './dns.js';
import { iam } from './iam.js';
import { iamCredentials } from './iam-credentials.js';
import { publicCa } from './public-ca.js';
import { pubsub } from './pubsub.js';
import { resourceManager } from './resource-manager.js';
import { resourceManagerV1 } from './resource-manager-v1.js';
import { scheduler } from './scheduler.js';
import { secretManager } from './secret-manager.js';
import { serviceUsage } from './service-usage.js';
import { storage } from './storage.js';

export const apiDefinitions: readonly ApiDefinition[] = [
  resourceManager,
  resourceManagerV1,
  billing,
  serviceUsage,
  iam,
  compute,
  dns,
  artifactRegistry,
  secretManager,
  pubsub,
  publicCa,
  scheduler,
  storage,
  iamCredentials,
];
