/** Which fixed options may still change, because nothing that depends on them has been made. Pure. */
import type { BootstrapOptions } from '../../shared/bootstrap/options.js';
import type { ProblemCode } from '../../shared/problems.js';
import { type Instance, type Plan, titleOf } from '../engine/plan.js';
import type { BootstrapRecord } from '../engine/record/documents.js';

type Instances = BootstrapRecord['instances'];

/** Google or plinth refused the request, so nothing was made. */
const refusals: ReadonlySet<string> = new Set<ProblemCode>([
  'bad-input',
  'cloud-conflict',
  'cloud-input',
  'cloud-not-found',
  'cloud-permission',
  'cloud-quota',
]);

/**
 * Titles of the instances that exist, or may exist, and depend on the option. Undefined: the option is fixed from the
 * beginning.
 */
export function holdersOf(
  plan: Plan,
  instances: Instances,
  option: keyof BootstrapOptions,
): readonly string[] | undefined {
  const dependent = [...plan.values()].filter(({ step }) => step.holds?.includes(option));
  if (dependent.length === 0) return undefined;
  return dependent.filter((instance) => mayStand(instance, instances)).map(titleOf);
}

function mayStand({ id, needs }: Instance, instances: Instances): boolean {
  const record = instances[id];
  if (record?.output !== undefined) return true;
  // It begins once everything it needs has an output, and outputs are kept.
  if (needs.some((need) => instances[need]?.output === undefined)) return false;
  return record?.state !== 'failed' || record.problem === undefined || !refusals.has(record.problem.code);
}
