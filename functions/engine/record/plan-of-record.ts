/** The plan of a bootstrap that has a record. */
import { graphOf } from '../graph.js';
import { type Plan, planOf } from '../plan.js';
import type { AnyStep } from '../step.js';
import { type BootstrapRecord, optionsOf } from './documents.js';

/** The record knows whether the bootstrap is to go, from the request until it is removed. */
export const planOfRecord = (steps: readonly AnyStep[], record: Pick<BootstrapRecord, 'options' | 'removal'>): Plan =>
  planOf(graphOf(steps), optionsOf(record), record.removal !== undefined);
