/** How long a bootstrap still takes, in words for people. */
import { formatSeconds } from './duration.js';
import type { Forecast } from './forecast.js';

/** Whole minutes, at least one. */
const minutes = (seconds: number): string => formatSeconds(Math.max(1, Math.round(seconds / 60)) * 60);

/** Undefined where it would be the same figure again, as with what one bootstrap teaches. */
const nineInTen = ({ p50Seconds, p90Seconds }: Forecast): string | undefined =>
  p50Seconds >= 60 && minutes(p90Seconds) === minutes(p50Seconds) ? undefined : minutes(p90Seconds);

/** `about 8m`, `under 1m` */
export const aboutText = ({ p50Seconds }: Forecast): string =>
  p50Seconds < 60 ? 'under 1m' : `about ${minutes(p50Seconds)}`;

/** `about 8m, nine in ten within 12m (as the last 3 here took)` */
export function forecastText(forecast: Forecast): string {
  const { learntFrom } = forecast;
  const most = nineInTen(forecast);
  const source =
    learntFrom === 0 ? 'a built-in estimate' : `as the last ${learntFrom === 1 ? 'one' : String(learntFrom)} here took`;
  return `${aboutText(forecast)}${most === undefined ? '' : `, nine in ten within ${most}`} (${source})`;
}

/** One cell: `~8m, ≤12m`. */
export function forecastCell(forecast: Forecast): string {
  const most = nineInTen(forecast);
  const half = forecast.p50Seconds < 60 ? '<1m' : `~${minutes(forecast.p50Seconds)}`;
  return most === undefined ? half : `${half}, ≤${most}`;
}
