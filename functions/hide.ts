/** Takes secret values out of whatever is about to be said: a reply, a log line, a note. Called by the router, the log and the engine. */

/** Shorter ones stand in ordinary words by chance. */
const shortest = 4;

export type Hide = <T>(value: T) => T;

/** Replaces each secret in every text within plain data; the data's form stays. */
export function createHide(secrets: readonly string[]): Hide {
  const longestFirst = secrets.filter((secret) => secret.length >= shortest).sort((a, b) => b.length - a.length);
  const inText = (text: string): string =>
    longestFirst.reduce((found, secret) => found.replaceAll(secret, '<secret>'), text);
  const inData = (value: unknown): unknown => {
    if (typeof value === 'string') return inText(value);
    if (Array.isArray(value)) return value.map(inData);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [inText(key), inData(each)]));
  };
  return <T>(value: T): T => (longestFirst.length === 0 ? value : (inData(value) as T));
}
