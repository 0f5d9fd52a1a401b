/** Bootstraps at Google's pace, each alone, in which nothing is disturbed: how long they take in virtual time. */
import { playBootstraps } from './bootstraps.js';
import type { BootstrapsItem } from './bootstraps-plan.js';
import type { Told } from './told.js';

/** Operations of the cloud take as long as these decide. */
export const seeds: readonly number[] = [1, 2, 3, 4, 5, 6];

/** When its last instance was done. */
function secondsIn({ timeline }: Told): number {
  const last = timeline.findLast((line) => /: b\w+ [\w:-]+: done$/.test(line)) ?? '';
  const [hours = 0, minutes = 0, seconds = 0] = last.split(' ')[0]?.split(':').map(Number) ?? [];
  return hours * 3600 + minutes * 60 + seconds;
}

/** Plays one by each seed, from its beginning to its removal. `seconds`: of all together, until they have succeeded. */
export async function playsWith(
  more: readonly BootstrapsItem[] = [],
  some = seeds,
): Promise<{ readonly seconds: number; readonly faults: readonly string[] }> {
  const begins = { kind: 'do', what: 'begin', name: 'first', atSeconds: 0, variant: 0 } as const;
  let seconds = 0;
  const faults: string[] = [];
  for (const seed of some) {
    const told = await playBootstraps(seed, [begins, { kind: 'prompt' }, ...more]);
    seconds += secondsIn(told);
    faults.push(...told.faults);
  }
  return { seconds, faults };
}
