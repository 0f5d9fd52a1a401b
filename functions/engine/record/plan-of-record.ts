/** The plan of a bootstrap that has a record. */
import { graphOf } from '../graph.js';
import { type Plan, planOf } from '../plan.js';
import type { AnyStep } from '../step.js';
import { type BootstrapRecord, isUnclaimed, machineAccessOf, optionsOf } from './documents.js';

/** A stored removal request makes it the plan of a removal. */
export const planOfRecord = (
  steps: readonly AnyStep[],
  record: Pick<BootstrapRecord, 'options' | 'machineAccess' | 'removal' | 'prepared'>,
): Plan => {
  const facts = { options: optionsOf(record), machineAccess: machineAccessOf(record), unclaimed: isUnclaimed(record) };
  return planOf(graphOf(steps), facts, record.removal !== undefined);
};
