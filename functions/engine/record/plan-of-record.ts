/** The plan of a bootstrap that has a record. The latest are kept, because each end of an instance asks for one. */
import { graphOf } from '../graph.js';
import { type Plan, planOf } from '../plan.js';
import type { AnyStep } from '../step.js';
import { type BootstrapRecord, isUnclaimed, machineAccessOf, optionsOf } from './documents.js';

/** By the facts that a plan is made of, the latest last. */
const known = new WeakMap<readonly AnyStep[], Map<string, Plan>>();
const mostKnown = 32;

/** `goes`: the plan of a removal. A stored request for one makes it that. */
export function planOfRecord(
  steps: readonly AnyStep[],
  record: Pick<BootstrapRecord, 'options' | 'machineAccess' | 'removal' | 'prepared'>,
  goes = record.removal !== undefined,
): Plan {
  const facts = { options: optionsOf(record), machineAccess: machineAccessOf(record), unclaimed: isUnclaimed(record) };
  const key = JSON.stringify([facts, goes]);
  const plans = known.get(steps) ?? new Map<string, Plan>();
  known.set(steps, plans);
  const plan = plans.get(key) ?? planOf(graphOf(steps), facts, goes);
  plans.delete(key);
  plans.set(key, plan);
  const [oldest] = plans.keys();
  if (plans.size > mostKnown && oldest !== undefined) plans.delete(oldest);
  return plan;
}
