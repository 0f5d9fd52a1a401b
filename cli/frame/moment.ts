/** Moments as people type them in flags: a time, or how long before or after now. */
import { parseDuration } from '../../shared/bootstrap/duration.js';

/** Milliseconds since the epoch. Undefined if it is neither a time nor a duration. */
export function momentOf(text: string, direction: 'ago' | 'ahead'): number | undefined {
  const seconds = parseDuration(text);
  if (seconds !== undefined) return Date.now() + seconds * (direction === 'ago' ? -1000 : 1000);
  const moment = Date.parse(text);
  return Number.isNaN(moment) ? undefined : moment;
}
