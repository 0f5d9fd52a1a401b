/** Every API of the simulated cloud. */

import { artifactRegistry } from './artifact-registry/artifact-registry.js';
import { compute } from './compute/compute.js';
import { dns } from './dns/dns.js';
import { iamCredentials } from './iam/credentials.js';
import { iam } from './iam/iam.js';
import type { ApiDefinition } from './kernel/api.js';
import { billing } from './projects/billing.js';
import { resourceManager } from './projects/resource-manager.js';
import { resourceManagerV1 } from './projects/resource-manager-v1.js';
import { publicCa } from './public-ca.js';
import { pubsub } from './pubsub/pubsub.js';
import { scheduler } from './scheduler/scheduler.js';
import { secretManager } from './secret-manager.js';
import { serviceUsage } from './service-usage.js';
import { storage } from './storage/storage.js';

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
