/** All measurements, in the order in which they run: first what suffers most when the run is stopped. */
import { atOnce } from './at-once.js';
import { cleanup } from './cleanup.js';
import { coldStart } from './cold-start.js';
import { completion } from './completion.js';
import { documents } from './documents.js';
import type { Measurement } from './figures.js';
import { forecasts } from './forecast.js';
import { help } from './help.js';
import { iap } from './iap.js';
import { installs } from './installs.js';
import { instanceCost } from './instance-cost.js';
import { keys } from './keys.js';
import { organizations } from './organizations.js';
import { poolClaims, poolInstall, poolReady } from './pool.js';
import { preflightTime } from './preflight.js';
import { quickWrites } from './quick-writes.js';
import { simulatedCloud } from './simulated-cloud.js';
import { ssh } from './ssh.js';
import { wallTime } from './wall-time.js';

export const measurements: readonly Measurement[] = [
  wallTime,
  poolReady,
  poolClaims,
  poolInstall,
  keys,
  quickWrites,
  instanceCost,
  documents,
  atOnce,
  installs,
  coldStart,
  organizations,
  help,
  completion,
  preflightTime,
  ssh,
  iap,
  simulatedCloud,
  cleanup,
  forecasts,
];
