/** THE list: every step of a bootstrap, in reading order. The order of execution follows from the steps' needs. */
import type { AnyStep } from '../engine/step.js';
import { address } from './cloud/address.js';
import { apis } from './cloud/apis.js';
import { billing } from './cloud/billing.js';
import { callerRole } from './cloud/caller-role.js';
import { cloudController } from './cloud/cloud-controller.js';
import { delegation } from './cloud/delegation.js';
import { eabKey } from './cloud/eab-key.js';
import { firewall } from './cloud/firewall.js';
import { machineLogin } from './cloud/machine-login.js';
import { machineLoginRole } from './cloud/machine-login-role.js';
import { network } from './cloud/network.js';
import { peopleLogin } from './cloud/people-login.js';
import { policies } from './cloud/policies.js';
import { project } from './cloud/project.js';
import { projectRoles } from './cloud/project-roles.js';
import { quota } from './cloud/quota.js';
import { records } from './cloud/records.js';
import { registryWriter } from './cloud/registry-writer.js';
import { repository } from './cloud/repository.js';
import { repositoryRoles } from './cloud/repository-roles.js';
import { router } from './cloud/router.js';
import { subnet } from './cloud/subnet.js';
import { tunnelAccess } from './cloud/tunnel-access.js';
import { vm } from './cloud/vm.js';
import { zone } from './cloud/zone.js';
import { zoneRole } from './cloud/zone-role.js';
import { ageIdentity } from './config/age-identity.js';
import { config } from './config/config.js';
import { machineKey } from './config/machine-key.js';
import { secrets } from './config/secrets.js';
import { teamKeys } from './config/team-keys.js';
import { handover } from './hosts/handover.js';
import { hostKey } from './hosts/host-key.js';
import { hostSetup } from './hosts/host-setup.js';
import { nodeKey } from './hosts/node-key.js';
import { nodeLogin } from './hosts/node-login.js';
import { plinthBinary } from './hosts/plinth-binary.js';
import { clusterAdminEmail } from './install/cluster-admin-email.js';
import { install, installSecond } from './install/install.js';
import { installValues } from './install/install-values.js';
import { k0sBinary } from './install/k0s-binary.js';
import { k0sController } from './install/k0s-controller.js';
import { k0sReady } from './install/k0s-ready.js';
import { k0sWorker } from './install/k0s-worker.js';
import { loadBalancers } from './install/load-balancers.js';
import { installerPackage } from './install/package.js';
import { testUser } from './install/test-user.js';
import { images } from './registry/images.js';
import { registry } from './registry/registry.js';
import { registryTrust } from './registry/registry-trust.js';
import { registryPrograms } from './registry/tools.js';

/** All steps that call Google Cloud. */
export const steps: readonly AnyStep[] = [
  // Steps that need nothing of the cloud.
  teamKeys,
  machineKey,
  ageIdentity,
  secrets,

  // What the organization allows, before anything is made.
  policies,

  // The project, its billing, APIs, quota and roles.
  project,
  machineLogin,
  billing,
  apis,
  quota,
  callerRole,
  tunnelAccess,

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
  delegation,
  zoneRole,
  records,

  // Images and certificates.
  repository,
  registryWriter,
  repositoryRoles,
  eabKey,

  // Who may log in, with OS Login.
  machineLoginRole,
  peopleLogin,

  // Machines.
  vm,

  // The files to hand over.
  config,
  installValues,
];

/** All steps on machines, over SSH. */
const hostSteps: readonly AnyStep[] = [
  // The machines after their start.
  hostKey,
  hostSetup,
  nodeKey,
  nodeLogin,

  // What the jumpbox needs to install from.
  plinthBinary,
  handover,
  installerPackage,

  // The registry, and the images in it.
  registryPrograms,
  registry,
  registryTrust,
  images,

  // Kubernetes, then the platform.
  k0sBinary,
  k0sController,
  k0sWorker,
  k0sReady,
  clusterAdminEmail,
  install,
  installSecond,
  loadBalancers,
  testUser,
];

const all: readonly AnyStep[] = [...steps, ...hostSteps];
export const stepsOf = ({ hosts }: { readonly hosts: boolean }): readonly AnyStep[] => (hosts ? all : steps);
