/** How long a bootstrap still takes, in words for people. */
import { formatSeconds } from '../../shared/bootstrap/duration.js';
import type { Forecast } from '../../shared/bootstrap/forecast.js';

const roughly = (seconds: number): string => (seconds < 60 ? 'under 1m' : formatSeconds(Math.round(seconds / 60) * 60));

/** `about 8m, nine in ten within 12m (as the last 3 here took)` */
export function forecastText({ p50Seconds, p90Seconds, learntFrom }: Forecast): string {
  const source =
    learntFrom === 0 ? 'a built-in estimate' : `as the last ${learntFrom === 1 ? 'one' : String(learntFrom)} here took`;
  return `about ${roughly(p50Seconds)}, nine in ten within ${roughly(p90Seconds)} (${source})`;
}

/** One cell: `~8m, ≤12m`. */
export const forecastCell = ({ p50Seconds, p90Seconds }: Forecast): string =>
  `~${roughly(p50Seconds)}, ≤${roughly(p90Seconds)}`;
