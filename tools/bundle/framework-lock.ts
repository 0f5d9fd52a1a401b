/**
 * What stands beside a bundle: the functions framework in the version that was tested, and a lock of all that comes with it,
 * cut from the project's own, so that a deployment installs those bytes.
 */
import { readFileSync } from 'node:fs';

interface Locked {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly dev?: boolean;
}
type Packages = Readonly<Record<string, Locked>>;

const framework = '@google-cloud/functions-framework';

export function frameworkLock(name: string): {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly lock: object;
} {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Packages };
  const found = packages[`node_modules/${framework}`];
  if (found === undefined) throw new Error(`package-lock.json has no ${framework}`);
  const dependencies = { [framework]: found.version };
  const kept = new Map<string, Locked>();
  const add = (path: string): void => {
    const entry = packages[path];
    if (entry === undefined || kept.has(path)) return;
    kept.set(path, entry);
    for (const each of Object.keys({ ...entry.peerDependencies, ...entry.dependencies })) {
      const nearest = placesFrom(path, each).find((place) => packages[place] !== undefined);
      if (nearest !== undefined) add(nearest);
    }
  };
  add(`node_modules/${framework}`);
  const sorted = [...kept].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    dependencies,
    lock: {
      name,
      lockfileVersion: 3,
      requires: true,
      packages: { '': { name, dependencies }, ...Object.fromEntries(sorted) },
    },
  };
}

/** Where Node would look for a package from there, nearest first. */
function placesFrom(path: string, name: string): string[] {
  const places: string[] = [];
  for (let at = path; ; ) {
    places.push(at === '' ? `node_modules/${name}` : `${at}/node_modules/${name}`);
    if (at === '') return places;
    const cut = at.lastIndexOf('/node_modules/');
    at = cut === -1 ? '' : at.slice(0, cut);
  }
}
