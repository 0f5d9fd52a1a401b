/**
 * What was made, bound or enabled just now may be unknown, or still forbidden, elsewhere in Google for some minutes.
 * Every step that works inside the bootstrap's own project is defined here, so that such answers are waited out.
 */
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import { Problem } from '../../../shared/problems.js';
import { defineStep, type Each, type Needs, type Step, type StepSpec } from '../../engine/step.js';

type When = (options: BootstrapOptions) => boolean;

/** As `defineStep`, for a step inside the bootstrap's own project. */
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

/** Turns a refusal that time may cure into one that is tried again until its budget is used up. */
export async function settling<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Problem && mayPass(error)) throw asPropagation(error);
    throw error;
  }
}

const mayPass = ({ code, detail }: Problem): boolean =>
  code === 'cloud-permission' || code === 'cloud-not-found' || (code === 'cloud-input' && unknownYet.test(detail));

/** A policy or VM that names an account which is not known there yet; an API asked for before billing is known there. */
const unknownYet =
  /(service ?account|member|principal)\b.*(does not exist|not found)|billing account .* not found|billing must be enabled/i;

const asPropagation = (problem: Problem): Problem =>
  new Problem('cloud-propagation', problem.detail, {
    advice:
      "If it lasts longer than ten minutes, check that nobody has taken away the rights of plinth's service account in the project; then run the same command again.",
    ...(problem.members === undefined ? {} : { members: problem.members }),
    cause: problem,
  });
