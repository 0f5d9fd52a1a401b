/** How long a project may live, for everything that sets its end: `--project-ttl`, `extend` and `protect`. Pure. */
import { addSeconds } from '../add-seconds.js';
import { formatSeconds, parseDuration } from './duration.js';

/** From its beginning. Holds in every deployment and for everybody, so that no bootstrap counts in more than a year's months. */
export const longestLifeSeconds = 366 * 86_400;

/** What is wrong with a time to live from now on, whatever it is counted from. Undefined: its form is right. */
export const ttlFault = (ttl: string): string | undefined =>
  parseDuration(ttl) === undefined
    ? `must be a duration such as 4h, 1h30m or 2d, and at most ${formatSeconds(longestLifeSeconds)}`
    : undefined;

/** When a project that began at `createdAt` ends at the latest. `ceilingSeconds`: of the deployment, if it has one. */
export const latestEnd = (createdAt: string, ceilingSeconds = longestLifeSeconds): string =>
  addSeconds(new Date(createdAt), Math.min(ceilingSeconds, longestLifeSeconds));

/** What is wrong with an end, without the name of what sets it. Undefined: nothing is. */
export function endFault(createdAt: string, end: string, ceilingSeconds = longestLifeSeconds): string | undefined {
  const latest = latestEnd(createdAt, ceilingSeconds);
  const most = formatSeconds(Math.min(ceilingSeconds, longestLifeSeconds));
  return end <= latest ? undefined : `would go beyond ${most} from its beginning: ${latest} is the latest end`;
}
