/** From what a change began to what a step says of it: over, failed, or come back. */
import { Problem } from '../../../shared/problems.js';
import { again, done, type Outcome, type StepFiles } from '../../engine/step.js';

/** As the cloud files return it. */
export interface Begun {
  readonly name: string;
  readonly done: boolean;
  readonly failure: Problem | undefined;
}

/**
 * Throws what the change failed of. `seconds` is when to look first: a little before the change is over most often, so that a
 * long one costs few looks; each look after it comes soon.
 */
export function follow(begun: Begun, note: string, seconds = 1): Outcome {
  if (begun.failure !== undefined) throw begun.failure;
  return begun.done ? done : again(seconds, note);
}

/** Of several changes begun side by side. */
export function followAll(begun: readonly Begun[], note: string, seconds = 1): Outcome {
  const failed = begun.find(({ failure }) => failure !== undefined);
  if (failed?.failure !== undefined) throw failed.failure;
  return begun.every((each) => each.done) ? done : again(seconds, note);
}

/**
 * An operation of a service that knows no request ids: its name is kept, so that whoever comes next follows it and does not
 * begin another. `file` is the step's own.
 */
export async function resume(
  files: StepFiles,
  file: string,
  begin: () => Promise<Begun>,
  read: (name: string) => Promise<Begun>,
): Promise<Begun> {
  const known = await files.read(file);
  let begun: Begun | undefined;
  if (known !== undefined && known !== '') begun = await read(known).catch(forgotten);
  if (begun === undefined) {
    begun = await begin();
    if (!begun.done) await files.write(file, begun.name);
  }
  if (begun.done && known !== undefined && known !== '') await files.write(file, '');
  return begun;
}

/** Operations are kept for some weeks only. */
function forgotten(error: unknown): undefined {
  if (error instanceof Problem && error.code === 'cloud-not-found') return undefined;
  throw error;
}

/** Somebody made it first: we ourselves in a run that was cut short, most likely. `observe` says whether it is as wanted. */
export async function unlessThere(answer: Promise<Outcome>, note: string): Promise<Outcome> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Problem && error.code === 'cloud-conflict') return again(2, note);
    throw error;
  }
}
