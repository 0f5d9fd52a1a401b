/** THE list: every step of a bootstrap, in reading order. What orders them is what each of them needs. */
import type { AnyStep } from '../engine/step.js';
import { address } from './cloud/address.js';
import { apis } from './cloud/apis.js';
import { billing } from './cloud/billing.js';
import { callerRole } from './cloud/caller-role.js';
import { cloudController } from './cloud/cloud-controller.js';
import { eabKey } from './cloud/eab-key.js';
import { firewall } from './cloud/firewall.js';
import { network } from './cloud/network.js';
import { project } from './cloud/project.js';
import { projectRoles } from './cloud/project-roles.js';
import { quota } from './cloud/quota.js';
import { records } from './cloud/records.js';
import { registryWriter } from './cloud/registry-writer.js';
import { repository } from './cloud/repository.js';
import { repositoryRoles } from './cloud/repository-roles.js';
import { router } from './cloud/router.js';
import { subnet } from './cloud/subnet.js';
import { vm } from './cloud/vm.js';
import { zone } from './cloud/zone.js';
import { zoneRole } from './cloud/zone-role.js';
import { ageIdentity } from './config/age-identity.js';
import { config } from './config/config.js';
import { machineKey } from './config/machine-key.js';
import { secrets } from './config/secrets.js';
import { teamKeys } from './config/team-keys.js';

export const steps: readonly AnyStep[] = [
  // What needs nothing of the cloud.
  teamKeys,
  machineKey,
  ageIdentity,
  secrets,

  // The project, and what it may do.
  project,
  billing,
  apis,
  quota,
  callerRole,

  // Identities.
  cloudController,
  projectRoles,

  // Network.
  network,
  subnet,
  firewall,
  router,

  // Names.
  address,
  zone,
  zoneRole,
  records,

  // Images and certificates.
  repository,
  registryWriter,
  repositoryRoles,
  eabKey,

  // Machines.
  vm,

  // What is handed over.
  config,
];
