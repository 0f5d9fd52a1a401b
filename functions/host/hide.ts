/** Redacts secret values in replies, log lines and notes. */
import { flagName, optionNames, shortestHidden } from '../../shared/bootstrap/options.js';

export type Hide = <T>(value: T) => T;

const flagNames: ReadonlySet<string> = new Set(optionNames.map(flagName));

/** The name of a flag is never secret, even if it contains the value of a secret. */
function isInFlagName(text: string, offset: number, length: number): boolean {
  const before = /[a-z0-9-]*$/.exec(text.slice(Math.max(0, offset - 64), offset))?.[0] ?? '';
  const after = /^[a-z0-9-]*/.exec(text.slice(offset + length, offset + length + 64))?.[0] ?? '';
  return flagNames.has(`${before}${text.slice(offset, offset + length)}${after}`);
}

/**
 * Replaces each secret in all texts of plain data and keeps the data's form. A short secret occurs in ordinary words by
 * chance, so it is replaced only where it is the whole text.
 */
export function createHide(secrets: readonly string[]): Hide {
  const longestFirst = secrets.filter(({ length }) => length >= shortestHidden).sort((a, b) => b.length - a.length);
  const short = new Set(secrets.filter(({ length }) => length > 0 && length < shortestHidden));
  const inText = (text: string): string =>
    longestFirst.reduce(
      (found, secret) =>
        found.replaceAll(secret, (match: string, offset: number, whole: string) =>
          isInFlagName(whole, offset, match.length) ? match : '<secret>',
        ),
      text,
    );
  const inData = (value: unknown): unknown => {
    if (typeof value === 'string') return short.has(value) ? '<secret>' : inText(value);
    if (Array.isArray(value)) return value.map(inData);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [inText(key), inData(each)]));
  };
  return <T>(value: T): T => (longestFirst.length + short.size === 0 ? value : (inData(value) as T));
}
