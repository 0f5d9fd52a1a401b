/** Finds the entries of one project in a table that holds those of every project, without looking at the others. */

/** The paths of each project, in the order of the table. */
type Paths = Map<string, Set<string>>;

/** By table. A table that came with a snapshot is read through once. */
const known = new WeakMap<object, Paths>();

/** `projects/<id>/…` → `<id>`. */
export const projectIn = (path: string): string => path.split('/', 2)[1] ?? '';

function note(paths: Paths, path: string): void {
  const mine = paths.get(projectIn(path)) ?? new Set();
  paths.set(projectIn(path), mine);
  // What was gone comes again at the end.
  mine.delete(path);
  mine.add(path);
}

function pathsIn(table: Readonly<Record<string, unknown>>): Paths {
  const found = known.get(table);
  if (found !== undefined) return found;
  const paths: Paths = new Map();
  known.set(table, paths);
  for (const path of Object.keys(table)) note(paths, path);
  return paths;
}

/** Stores an entry. One that is stored otherwise is not found by its project. */
export function put<T>(table: Record<string, T>, path: string, one: T): void {
  const paths = pathsIn(table);
  if (table[path] === undefined) note(paths, path);
  table[path] = one;
}

export function entriesOf<T>(table: Readonly<Record<string, T>>, projectId: string): [path: string, one: T][] {
  const paths = pathsIn(table).get(projectId) ?? new Set();
  const mine: [string, T][] = [];
  for (const path of paths) {
    const one = table[path];
    if (one === undefined) paths.delete(path);
    else mine.push([path, one]);
  }
  return mine;
}
