/** Turns an operation that a change began into the outcome of a step: done, failed, or look again. */
import { Problem } from '../../../shared/problems.js';
import { again, done, type Outcome, type StepFiles } from '../../engine/step.js';

/** An operation, as the cloud wrappers return it. */
export interface Begun {
  readonly name: string;
  readonly done: boolean;
  readonly failure: Problem | undefined;
  readonly ended?: () => Promise<void>;
}

/**
 * Throws the failure of the change. The next look is when it has ended. Where its service cannot tell, `seconds` is when to look
 * first, a little before most such changes end. A long change then costs few looks. Later looks follow soon.
 */
export const follow = (begun: Begun, note: string, seconds = 1): Outcome => followAll([begun], note, seconds);

/** Like `follow`, for several changes side by side. */
export function followAll(begun: readonly Begun[], note: string, seconds = 1): Outcome {
  const failed = begun.find(({ failure }) => failure !== undefined);
  if (failed?.failure !== undefined) throw failed.failure;
  const open = begun.filter((each) => !each.done);
  if (open.length === 0) return done;
  const ends = open.flatMap(({ ended }) => ended ?? []);
  if (ends.length < open.length) return again(seconds, note);
  return { ...again(seconds, note), ended: async () => void (await Promise.all(ends.map((end) => end()))) };
}

/**
 * Resumes an operation of a service without request ids. The stored name lets the next run follow the operation instead of
 * beginning another. `file` is the step's own.
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

/** Google keeps operations for some weeks only. */
function forgotten(error: unknown): undefined {
  if (error instanceof Problem && error.code === 'cloud-not-found') return undefined;
  throw error;
}

/** Somebody made it first, most likely plinth in an interrupted run. `observe` checks whether it is as wanted. */
export async function unlessThere(answer: Promise<Outcome>, note: string): Promise<Outcome> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Problem && error.code === 'cloud-conflict') return again(2, note);
    throw error;
  }
}
