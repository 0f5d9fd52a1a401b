/** Durations as people write them (`90m`, `2h`, `1h30m`, `2d`): Go's form, and days. Also times that may be given as a duration. */
import { addSeconds } from '../add-seconds.js';

const unitSeconds = { d: 86_400, h: 3600, m: 60, s: 1, ms: 0.001 } as const;
type Unit = keyof typeof unitSeconds;

/** Ten years. Dates further away make no sense. */
const longestDurationSeconds = 3650 * unitSeconds.d;

const part = '\\d+(?:\\.\\d+)?(?:ms|[dhms])';
/** A part that alone is at least a second. */
const longPart =
  '(?:0*[1-9]\\d*(?:\\.\\d+)?[dhms]|0*[1-9]\\d{3,}(?:\\.\\d+)?ms|0+\\.\\d?[1-9]\\d*[dh]|0+\\.[1-9]\\d*m)';
/** For documents. It refuses durations that are too short. Only `parseDuration` refuses those that are too long. */
export const durationPattern = `^(?:${part})*${longPart}(?:${part})*$`;
const form = new RegExp(`^(?:${part})+$`);

/** Whole seconds. Undefined if the text is no positive duration of at most ten years. */
export function parseDuration(text: string): number | undefined {
  if (!form.test(text)) return undefined;
  let seconds = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|[dhms])/g)) {
    seconds += Number(amount) * unitSeconds[unit as Unit];
  }
  const whole = Math.round(seconds);
  return whole >= 1 && whole <= longestDurationSeconds ? whole : undefined;
}

/** `1h 5m`, `42s`, `0.4s`: how long something took, for people. */
export function formatSeconds(seconds: number): string {
  if (seconds < 10) return `${Math.round(seconds * 10) / 10}s`;
  const whole = Math.round(seconds);
  const parts = [
    [Math.floor(whole / 86_400), 'd'],
    [Math.floor(whole / 3600) % 24, 'h'],
    [Math.floor(whole / 60) % 60, 'm'],
    [whole % 60, 's'],
  ] as const;
  return parts
    .filter(([amount]) => amount > 0)
    .slice(0, 2)
    .map(([amount, unit]) => `${amount}${unit}`)
    .join(' ');
}

/** RFC 3339 with a zone. `timeOf` also refuses the 29th of February where there is none. */
const rfc3339Pattern =
  '^\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|[12]\\d))' +
  'T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d+)?(?:Z|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)$';
const rfc3339 = new RegExp(rfc3339Pattern);

/** For documents: the two forms of a time that `timeOf` reads. */
export const timePattern = `${durationPattern}|${rfc3339Pattern}`;
export const timeForm = 'must be a duration such as 2d, or a time with its zone such as 2030-01-31T18:00:00Z';

/**
 * Reads a time as people give it: RFC 3339 with a zone, or a duration before or after `now`. Returns it in UTC as documents hold
 * times. Undefined for anything else, because `Date.parse` reads `7` as July 2001, and a time without a zone as local.
 */
export function timeOf(text: string, direction: 'ago' | 'ahead', now: Date): string | undefined {
  const seconds = parseDuration(text);
  if (seconds !== undefined) return addSeconds(now, direction === 'ago' ? -seconds : seconds);
  if (!rfc3339.test(text) || new Date(text.slice(0, 10)).getUTCDate() !== Number(text.slice(8, 10))) return undefined;
  const time = new Date(text).toISOString();
  // A zone may move a time out of the years of four digits, the only ones that sort as text.
  return /^\d{4}-/.test(time) ? time : undefined;
}
