/**
 * How long an instance that answers `again` is waited for within a generation. What never comes becomes a failure that
 * somebody sees. Only looks and the waits between them count, not the time in which no function runs. Pure.
 */
import { Problem, type ProblemCode } from '../../../shared/problems.js';
import { type Instance, titleOf } from '../plan.js';
import { thisProject } from '../step.js';

export interface Waited {
  /** The time that looking took, and the cloud time between the looks. */
  readonly seconds: number;
  /** When it first answered `again`. */
  readonly since: string;
}

/** The limit for making things, unless the step sets another: Google usually finishes within minutes. */
const usualSeconds = 1800;
/** What is not gone within an hour fails, so that quarantine can show it. */
const longestUndoSeconds = 3600;

interface Waiting {
  readonly note: string;
  /** The step's own limit. */
  readonly patienceSeconds?: number | undefined;
}

/** Undefined: there is patience left. */
export function endless(
  instance: Instance,
  { note, patienceSeconds = usualSeconds }: Waiting,
  { seconds, since }: Waited,
  removing: boolean,
): Problem | undefined {
  if (removing) {
    if (seconds < longestUndoSeconds) return undefined;
    return new Problem('cloud-propagation', `It is not gone after an hour of waiting: ${note}.`, {
      advice: `Look into the project for what keeps it; then have an operator run plinth beta bootstrap-cloud cleanup ${thisProject}`,
    });
  }
  if (seconds < patienceSeconds) return undefined;
  const code: ProblemCode = instance.lane === 'host' ? 'host-failed' : 'cloud-propagation';
  const detail = `"${titleOf(instance)}" was waited for since ${since}, for ${inWords(patienceSeconds)}, and there is no end: ${note}.`;
  return new Problem(code, detail, {
    advice: 'Find out what keeps it, and heal that; the same command goes on from here.',
  });
}

const inWords = (seconds: number): string =>
  seconds % 3600 === 0 ? `${seconds / 3600} h` : `${Math.round(seconds / 60)} min`;
