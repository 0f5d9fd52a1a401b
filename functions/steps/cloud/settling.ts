/**
 * Waits until Google's services agree. For some minutes after a resource is made, bound or enabled, other services may not
 * know it or still refuse it. Every step inside the bootstrap's own project is defined here, so that it waits for such
 * answers.
 */
import type { MachineAccess } from '../../../shared/bootstrap/bootstrap.js';
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import { Problem } from '../../../shared/problems.js';
import { defineStep, type Each, type Needs, type Step, type StepSpec } from '../../engine/step.js';

type When = (options: BootstrapOptions, machineAccess: MachineAccess) => boolean;

/** Like `defineStep`, for a step inside the bootstrap's own project. */
export function defineProjectStep<
  O,
  const N extends Needs,
  E extends Each | undefined = undefined,
  W extends When | undefined = undefined,
>(spec: StepSpec<O, N, E, W>): Step<O, N, E, W> {
  return defineStep({
    ...spec,
    observe: (call) => settling(spec.observe(call)),
    run: (call) => settling(spec.run(call)),
  });
}

/** Turns a refusal that may pass with time into one that the engine retries until its budget is used up. */
export async function settling<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Problem && mayPass(error)) throw asPropagation(error);
    throw error;
  }
}

const mayPass = (problem: Problem): boolean =>
  problem.code === 'cloud-permission' ||
  problem.code === 'cloud-not-found' ||
  isNewRole(problem) ||
  (problem.code === 'cloud-input' && unknownYet.test(problem.detail));

/** A policy names a custom role that is not known there yet. */
export const isNewRole = ({ code, detail }: Problem): boolean =>
  code === 'cloud-input' && /\brole \(.*\) does not exist in the resource's hierarchy/i.test(detail);

/** A policy or VM names an account or a role that is not known there yet, or an API is used before billing is known there. */
const unknownYet =
  /(service ?account|member|principal|role)\b.*(does not exist|not found)|billing account .* not found|billing must be enabled/i;

const asPropagation = (problem: Problem): Problem =>
  new Problem('cloud-propagation', problem.detail, {
    advice:
      "If it lasts longer than ten minutes, check that nobody has taken away the rights of plinth's service account in the project; then run the same command again.",
    ...(problem.members === undefined ? {} : { members: problem.members }),
    cause: problem,
  });
