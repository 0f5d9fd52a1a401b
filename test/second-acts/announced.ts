/**
 * What a command announces. A file: by its path, as written, moved aside, recovered or as a backup, in the result or on stderr.
 * An option, and with it what follows from it in the cloud and the files: in `changes`. A new project: by `created`.
 */
import { isAbsolute, relative, resolve } from 'node:path';
import type { Ran } from './stage.js';

export interface Announced {
  /** Paths from the user's folder. */
  readonly files: ReadonlySet<string>;
  /** Flags whose value has changed: `--project-ttl`. */
  readonly options: ReadonlySet<string>;
  readonly created: boolean;
  /** It tells what changes: it is a bootstrap command, and no other one that shows a bootstrap. */
  readonly resumes: boolean;
  /** Flags that a warning names: a given secret replaces the one in the file. */
  readonly warned: ReadonlySet<string>;
  /** The command says that it acts on a bootstrap. */
  readonly begun: boolean;
}

interface Result {
  readonly bootstrap?: object;
  readonly created?: boolean;
  readonly changes?: readonly { readonly option: string }[];
  readonly files?: readonly (
    | string
    | { readonly path: string; readonly state?: string; readonly movedAside?: string }
  )[];
  readonly warnings?: readonly string[];
  readonly recovered?: readonly { readonly path: string; readonly backup?: string }[];
  readonly [more: string]: unknown;
}

export function resultOf({ stdout }: Pick<Ran, 'stdout'>): Result {
  const last = stdout.trimEnd().split('\n').at(-1) ?? '';
  try {
    const read = JSON.parse(last) as Result;
    return read['type'] === 'result' ? read : {};
  } catch {
    return {};
  }
}

export function announcedBy(ran: Ran, folder: string): Announced {
  const result = resultOf(ran);
  const written = (result.files ?? []).flatMap((file) => {
    if (typeof file === 'string') return [file];
    const aside = file.movedAside === undefined ? [] : [file.movedAside];
    return file.state === 'unchanged' ? aside : [file.path, ...aside];
  });
  const recovered = (result.recovered ?? []).flatMap(({ path, backup }) =>
    backup === undefined ? [path] : [path, backup],
  );
  const told = ['path', 'file', 'plan', 'archive', 'kubeconfig'].flatMap((key) =>
    typeof result[key] === 'string' ? [result[key]] : [],
  );
  const here = (path: string): string => relative(folder, isAbsolute(path) ? path : resolve(folder, path));
  const unchanged = new Set(
    (result.files ?? []).flatMap((file) =>
      typeof file !== 'string' && file.state === 'unchanged' ? [here(file.path)] : [],
    ),
  );
  const words = [...ran.stderr.matchAll(/[\w./~-]*[\w-]\.?[\w.-]+/g)].map(([word]) => word.replace(/[.:;,]+$/, ''));
  const mentioned = [...words, ...words.map((word) => `${word}.pub`)].map(here).filter((path) => !unchanged.has(path));
  const paths = [...written, ...recovered, ...told].map(here);
  return {
    files: new Set([...paths, ...mentioned]),
    options: new Set((result.changes ?? []).map(({ option }) => option)),
    created: result.created === true,
    resumes: result.changes !== undefined,
    warned: new Set((result.warnings ?? []).flatMap((text) => text.match(/--[a-z0-9-]+/g) ?? [])),
    begun: result.bootstrap !== undefined,
  };
}
