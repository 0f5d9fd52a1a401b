/** Which options what exists holds to their values: fixed ones, and those of what is installed. Pure. */
import { installFlags } from '../../../shared/bootstrap/option-rules.js';
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import type { ProblemCode } from '../../../shared/problems.js';
import { type Instance, type Plan, titleOf } from '../../engine/plan.js';
import { type BootstrapRecord, optionsOf } from '../../engine/record/documents.js';
import { planOfRecord } from '../../engine/record/plan-of-record.js';
import type { AnyStep } from '../../engine/step.js';

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

/**
 * Whether the machines have, or may have, something of a package. Steps that only look count once all of them are done: a
 * failure before the machines leaves nothing to keep.
 */
export function isInstalled(steps: readonly AnyStep[], record: BootstrapRecord): boolean {
  const { instances } = record;
  const none = { ...optionsOf(record), ...Object.fromEntries(installFlags.map((option) => [option, undefined])) };
  const without = planOfRecord(steps, { ...record, options: none });
  const own = [...planOfRecord(steps, record).values()].filter(({ id }) => !without.has(id));
  const made = own.filter(({ step }) => step.goes !== 'nothing');
  if (made.some((instance) => mayStand(instance, instances))) return true;
  return own.length > 0 && own.every(({ id }) => instances[id]?.output !== undefined);
}

function mayStand({ id, needs }: Instance, instances: Instances): boolean {
  const record = instances[id];
  if (record?.output !== undefined) return true;
  // It begins once everything it needs has an output, and outputs are kept.
  if (needs.some((need) => instances[need]?.output === undefined)) return false;
  return record?.state !== 'failed' || record.problem === undefined || !refusals.has(record.problem.code);
}
