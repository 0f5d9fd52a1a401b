/**
 * Finds the caller's kubeconfigs and writes into them as kubectl does: the same files, the same locks. See PathOptions in
 * https://github.com/kubernetes/client-go/blob/master/tools/clientcmd/config.go.
 */
import { closeSync, existsSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { Problem } from '../../shared/problems.js';
import { pause } from '../service/patience.js';
import type { Settings } from '../settings.js';
import { homePlaceOf, placeOf, reasonOfWriting, secretMode, whyUnreadable, writeWhole } from './files.js';
import { type ClusterAccess, type Merged, mergeKubeConfigs } from './kube-config.js';
import { readSecretTextIfThere } from './secret-text.js';

interface Place {
  /** As the caller wrote it. */
  readonly path: string;
  readonly place: string;
}

/** `to` names the one file. Otherwise it is $KUBECONFIG, where kubectl expands no `~`, or ~/.kube/config. */
export function kubeConfigPlaces(to: string | undefined, settings: Pick<Settings, 'env' | 'home' | 'folder'>): Place[] {
  const listed = settings.env['KUBECONFIG'];
  if (to !== undefined || listed === undefined || listed === '') {
    const path = to ?? '~/.kube/config';
    return [{ path, place: homePlaceOf(path, settings) }];
  }
  const paths = [...new Set(listed.split(':'))].filter((path) => path !== '');
  if (paths.length > 0) return paths.map((path) => ({ path, place: placeOf(path, settings) }));
  throw new Problem('bad-input', 'KUBECONFIG names no file.', {
    advice: 'Name one in it, unset it, or give --to FILE.',
  });
}

/** The first file that exists gets what is new, or else the last one. */
function homeOf(places: readonly Place[]): number {
  const first = places.findIndex(({ place }) => existsSync(place));
  return first === -1 ? places.length - 1 : first;
}

/** Reads, merges and writes under the locks, with nothing in between that could be interrupted. */
export async function mergeIntoKubeConfigs(
  places: readonly Place[],
  all: readonly ClusterAccess[],
  settings: Pick<Settings, 'redactor'>,
  interrupted: AbortSignal,
): Promise<Merged> {
  for (let waited = 0; ; waited += lookEveryMs) {
    const home = homeOf(places);
    const used = places.filter(({ place }, at) => at === home || existsSync(place));
    const { locked, standing } = lock(used);
    if (standing === undefined) {
      try {
        return mergeNow(places, home, all, settings);
      } finally {
        for (const path of locked) rmSync(path, { force: true });
      }
    }
    for (const path of locked) rmSync(path, { force: true });
    if (waited >= longestMs) throw lockedBy(standing);
    await pause(lookEveryMs, interrupted);
  }
}

/** kubectl holds its locks for some milliseconds, and does not wait for those of others. */
const longestMs = 2000;
const lookEveryMs = 50;

const lockOf = (place: string): string => `${place}.lock`;

/** In kubectl's order, so that no two wait for each other. `standing` is the file whose lock another program holds. */
function lock(used: readonly Place[]): { readonly locked: readonly string[]; readonly standing?: Place } {
  const locked: string[] = [];
  for (const each of used.toSorted((a, b) => (a.place < b.place ? -1 : 1))) {
    try {
      mkdirSync(dirname(each.place), { recursive: true, mode: 0o700 });
      closeSync(openSync(lockOf(each.place), 'wx', 0));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST' && existsSync(lockOf(each.place)))
        return { locked, standing: each };
      for (const path of locked) rmSync(path, { force: true });
      throw new Problem('bad-input', `${each.path} cannot be written: ${reasonOfWriting(error)}.`, {
        advice: 'Name another file with --to.',
        cause: error,
      });
    }
    locked.push(lockOf(each.place));
  }
  return { locked };
}

const lockedBy = ({ path }: Place): Problem =>
  new Problem('conflict', `${path} was not changed: ${lockOf(path)} shows that another program writes to it.`, {
    advice: `Run the same command again. If no other program writes to it, delete ${lockOf(path)} first.`,
  });

function mergeNow(
  places: readonly Place[],
  home: number,
  all: readonly ClusterAccess[],
  settings: Pick<Settings, 'redactor'>,
): Merged {
  const files = places.map(({ path, place }) => {
    const why = existsSync(place) ? whyUnreadable(place) : undefined;
    if (why === undefined) return { path, text: readSecretTextIfThere(place, 'kubeconfig', settings) };
    throw new Problem('bad-input', `${path} cannot be read: ${why}.`, { advice: 'Name another file with --to.' });
  });
  const merged = mergeKubeConfigs(files, home, all);
  for (const [at, text] of merged.texts.entries()) {
    const place = places[at]?.place;
    if (text !== undefined && place !== undefined) writeWhole(place, text, secretMode);
  }
  return merged;
}
