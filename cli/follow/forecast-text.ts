/** How long a bootstrap still takes, in words for people. */
import { formatSeconds } from '../../shared/bootstrap/duration.js';
import type { Forecast } from '../../shared/bootstrap/forecast.js';

/** Whole minutes, at least one. */
const minutes = (seconds: number): string => formatSeconds(Math.max(1, Math.round(seconds / 60)) * 60);

/** `about 8m, nine in ten within 12m (as the last 3 here took)` */
export function forecastText({ p50Seconds, p90Seconds, learntFrom }: Forecast): string {
  const source =
    learntFrom === 0 ? 'a built-in estimate' : `as the last ${learntFrom === 1 ? 'one' : String(learntFrom)} here took`;
  const half = p50Seconds < 60 ? 'under 1m' : `about ${minutes(p50Seconds)}`;
  return `${half}, nine in ten within ${minutes(p90Seconds)} (${source})`;
}

/** One cell: `~8m, ≤12m`. */
export const forecastCell = ({ p50Seconds, p90Seconds }: Forecast): string =>
  `${p50Seconds < 60 ? '<1m' : `~${minutes(p50Seconds)}`}, ≤${minutes(p90Seconds)}`;
