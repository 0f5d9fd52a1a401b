/**
 * A regular expression that a file of the caller's brings along, asked of the file's own names. Called by sops.ts. Both are the
 * caller's, and some expressions take longer than the universe: they are cut off, as V8 alone cannot be interrupted.
 */
import { runInNewContext } from 'node:vm';

const longestMilliseconds = 500;

/** The names that match. Throws if `source` is no regular expression, or takes too long. */
export function matchingNames(source: string, names: Iterable<string>): ReadonlySet<string> {
  const given = { source, names: JSON.stringify([...names]) };
  const code = 'JSON.stringify(JSON.parse(names).filter((name) => new RegExp(source).test(name)))';
  const matching: unknown = runInNewContext(code, given, { timeout: longestMilliseconds });
  return new Set(JSON.parse(String(matching)) as string[]);
}
