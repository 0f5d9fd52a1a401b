/** The plan of a bootstrap that has a record. */
import { graphOf } from '../graph.js';
import { type Plan, planOf } from '../plan.js';
import type { AnyStep } from '../step.js';
import { type BootstrapRecord, isUnclaimed, machineAccessOf, optionsOf } from './documents.js';

/** `goes`: the plan of a removal. A stored request for one makes it that. */
export const planOfRecord = (
  steps: readonly AnyStep[],
  record: Pick<BootstrapRecord, 'options' | 'machineAccess' | 'removal' | 'prepared'>,
  goes = record.removal !== undefined,
): Plan => {
  const facts = { options: optionsOf(record), machineAccess: machineAccessOf(record), unclaimed: isUnclaimed(record) };
  return planOf(graphOf(steps), facts, goes);
};
