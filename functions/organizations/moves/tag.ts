/** Holds a change to the preview on which its caller decided: by an entity tag of what the preview showed. */
import { createHash } from 'node:crypto';
import { Problem } from '../../../shared/problems.js';

export const tagOf = (shown: readonly unknown[]): string =>
  `"${createHash('sha256').update(JSON.stringify(shown)).digest('base64url')}"`;

/** A list of entity tags. Weak tags never match. `*` matches anything. */
const matches = (ifMatch: string, tag: string): boolean =>
  ifMatch.trim() === '*' || [...ifMatch.matchAll(/(?:W\/)?"[^"]*"/g)].some(([each]) => each === tag);

/** Without `ifMatch` the caller takes what comes. */
export async function checkTag(
  teamId: number,
  ifMatch: string | undefined,
  tagNow: () => Promise<string>,
): Promise<void> {
  if (ifMatch === undefined || matches(ifMatch, await tagNow())) return;
  throw new Problem(
    'precondition-failed',
    `Team ${teamId}, its members or its bootstraps have changed since the preview.`,
    { advice: 'Ask for the preview again, then decide again.' },
  );
}
