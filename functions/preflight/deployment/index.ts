/** What an operator asks of a deployment, in reading order: the deployment's half of doctor. */
import type { Finding } from '../../engine/finding.js';
import { apis } from './apis.js';
import { ceilings } from './ceilings.js';
import { checkFunction } from './check-function.js';
import { grants } from './grants.js';
import { indexes } from './indexes.js';
import { cloudLane, hostLane } from './lanes.js';
import { accounts, parents, zones } from './places.js';
import { cleanupSchedule, sweepSchedule } from './schedules.js';
import { executable, executableOfHost, packages, packagesOfHost } from './stores.js';
import { uploads } from './uploads.js';

export const deploymentFindings: readonly Finding[] = [
  checkFunction,
  cloudLane,
  hostLane,
  ...apis,
  ...grants,
  indexes,
  sweepSchedule,
  cleanupSchedule,
  ceilings,
  parents,
  accounts,
  zones,
  packages,
  packagesOfHost,
  executable,
  executableOfHost,
  ...uploads,
];
