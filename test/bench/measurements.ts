/** All measurements, in the order in which they run: first what suffers most when the run is stopped. */
import { atOnce } from './at-once.js';
import { bootstraps } from './bootstraps.js';
import { cleanup } from './cleanup.js';
import { coldStart } from './cold-start.js';
import { commandLine } from './command-line.js';
import { documents } from './documents.js';
import type { Measurement } from './figures.js';
import { iap } from './iap.js';
import { installs } from './installs.js';
import { organizations } from './organizations.js';
import { preflightTime } from './preflight.js';
import { quickWrites } from './quick-writes.js';
import { simulatedCloud } from './simulated-cloud.js';
import { ssh } from './ssh.js';

export const measurements: readonly Measurement[] = [
  bootstraps,
  quickWrites,
  documents,
  atOnce,
  installs,
  coldStart,
  organizations,
  commandLine,
  preflightTime,
  ssh,
  iap,
  simulatedCloud,
  cleanup,
];
