/** Waits for operations of Compute Engine, as whoever began them. */
import type { Bench, Reply, Tree } from './check.js';

/** `global`, `regions/r`, `zones/z`. */
export type Place = 'global' | `regions/${string}` | `zones/${string}`;

export const computePath = ({ project }: Pick<Bench, 'project'>, rest: string): string =>
  `/compute/v1/projects/${project}/${rest}`;

/** As bodies name resources. */
export const linkOf = ({ project }: Pick<Bench, 'project'>, rest: string): string => `projects/${project}/${rest}`;

interface Ended {
  readonly seconds: number;
  /** Empty if it went well. */
  readonly error: string;
}

/** Undefined if it doesn't end within the seconds. */
export async function ended(
  bench: Bench,
  place: Place,
  name: string,
  { seconds = 120, token }: { readonly seconds?: number; readonly token?: string } = {},
): Promise<Ended | undefined> {
  const line = `GET ${computePath(bench, `${place}/operations/${name}`)}`;
  const over = await bench.until(seconds, async () => {
    const { body } = await bench.ask('compute', line, undefined, token);
    return body['status'] === 'DONE' ? body : undefined;
  });
  if (over === undefined) return undefined;
  const errors = ((over.value['error'] as Tree | undefined)?.['errors'] ?? []) as Tree[];
  return { seconds: over.seconds, error: errors.map(({ code, message }) => `${code} ${message}`).join('; ') };
}

export const operationIn = ({ body }: Reply): string => String(body['name'] ?? '');

export const saidBy = ({ status, reasons, message }: Reply): string =>
  status === 200 ? '200' : `${status} ${reasons.join(' ')}: ${message}`;
