/** What happened in the simulated cloud, by its own record of calls, and what was made more than once. */
import type { RecordedCall, SimulatedCloud } from '../cloud/index.js';
import type { CloudRecord } from '../stack/state-folder.js';

type Json = Readonly<Record<string, unknown>>;

export interface History {
  readonly calls: readonly RecordedCall[];
  readonly state: Json;
}
export const historyOf = (cloud: SimulatedCloud, since = 0): History => ({
  calls: cloud.calls.list({ since }),
  state: cloud.state(),
});
/** Of a cloud half in another process. */
export async function historyAt({ frontUrl }: CloudRecord): Promise<History> {
  const [calls, state] = await Promise.all(
    ['calls', 'state'].map(async (what) => (await fetch(`${frontUrl}/_local/${what}`)).json() as unknown),
  );
  return { calls: calls as RecordedCall[], state: state as Json };
}

/** What exists once more than it should, or was made once more than it was removed. Empty if all went well. */
export function madeTwice({ calls, state }: History, { secretVersions = true } = {}): string[] {
  const counts = new Map<string, Set<string>>();
  const count = (what: string, which: string) => counts.set(what, (counts.get(what) ?? new Set()).add(which));
  // The same request id is the same request, however often it is sent.
  for (const { n, method, params, named, status } of calls) {
    if (!/\.(?:insert|create)$/.test(method) || method === 'dns.changes.create' || status < 200 || status > 299)
      continue;
    const { requestId = String(n), ...where } = params;
    count(`${method} ${Object.values(where).join(' ')} ${named ?? ''}`, requestId);
  }
  const { tables } = state as { tables: Record<string, Record<string, Json>> };
  for (const [id, { labels }] of Object.entries(tables['projects'] ?? {})) {
    const bootstrap = (labels as Json)['plinth-bootstrap'];
    if (bootstrap !== undefined) count(`the project of ${String(bootstrap)}`, id);
  }
  for (const [path, { versions }] of Object.entries(tables['secretmanager.secrets'] ?? {})) {
    // What the caller gives is written anew with each command.
    if (secretVersions && !path.endsWith('-caller'))
      for (const version of Object.keys(versions as Json)) count(path, version);
  }
  for (const path of Object.keys(tables['publicca.externalAccountKeys'] ?? {})) {
    count(`${path.split('/').slice(0, 2).join('/')} external account key`, path);
  }
  return [...counts].flatMap(([what, which]) => (which.size > 1 ? [`${what}: ${which.size} times`] : []));
}
