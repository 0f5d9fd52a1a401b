/** THE list: everything that is looked at before a bootstrap begins, in reading order. */

import type { Finding } from '../engine/finding.js';
import { billing } from '../steps/cloud/billing.js';
import { delegation } from '../steps/cloud/delegation.js';
import { project } from '../steps/cloud/project.js';
import { zone as zoneOfDomain } from '../steps/cloud/zone.js';
import { billingLinks } from './account/billing-links.js';
import { projectPermissions } from './account/project-permissions.js';
import { projectQuota } from './account/project-quota.js';
import { room } from './account/room.js';
import { dnsDelegation } from './dns/delegation.js';
import { dnsPermissions } from './dns/permissions.js';
import { machineTypes } from './place/machine-types.js';
import { policies } from './place/policies.js';
import { quota } from './place/quota.js';
import { region } from './place/region.js';
import { zone } from './place/zone.js';
import { forge1Team, forge1Token } from './software/forge1.js';
import { k0sProgram } from './software/k0s-release.js';
import { installerPackage } from './software/package.js';
import { plinthRelease } from './software/plinth-release.js';
import { registry } from './software/registry.js';

export const findings: readonly Finding[] = [
  // Who pays, and where the project is made.
  room,
  ...(billing.checks ?? []),
  billingLinks,
  ...(project.checks ?? []),
  projectQuota,
  projectPermissions,

  // Where everything stands, and what may stand there.
  region,
  zone,
  machineTypes,
  policies,
  quota,

  // Names.
  ...(zoneOfDomain.checks ?? []),
  dnsPermissions,
  ...(delegation.checks ?? []),
  dnsDelegation,

  // What is installed, and from where.
  plinthRelease,
  k0sProgram,
  installerPackage,
  forge1Token,
  forge1Team,
  registry,
];
