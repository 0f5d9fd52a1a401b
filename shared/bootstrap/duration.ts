/** Durations as people write them (`90m`, `2h`, `1h30m`, `2d`): Go's form, and days. */

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

/** A time, or how long before or after `nowMs`, as people type it. Milliseconds since the epoch. Undefined if it is neither. */
export function momentOf(text: string, direction: 'ago' | 'ahead', nowMs: number): number | undefined {
  const seconds = parseDuration(text);
  if (seconds !== undefined) return nowMs + seconds * (direction === 'ago' ? -1000 : 1000);
  const moment = Date.parse(text);
  return Number.isNaN(moment) ? undefined : moment;
}
