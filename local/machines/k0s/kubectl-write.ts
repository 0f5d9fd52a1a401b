/** `k0s kubectl apply --server-side` and `delete` for objects from standard input, as plinth and packages use them. */
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseAllDocuments } from 'yaml';
import { apiOf, type Kind, kinds } from './kinds.js';
import { type Api, mustAsk } from './reach.js';

type Manifest = {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: { readonly name?: string; readonly namespace?: string };
  readonly items?: readonly Manifest[];
};

export interface Writing {
  readonly verb: 'apply' | 'delete';
  readonly force: boolean;
  readonly manager: string;
  readonly ignoreNotFound: boolean;
}

/** Undefined for another verb, or for arguments that this stand-in does not support. */
export function readWriting([verb, ...argv]: readonly string[]): Writing | undefined {
  if (verb !== 'apply' && verb !== 'delete') return undefined;
  const given: Record<string, string> = {};
  const rest = [...argv];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const [flag = '', value] = word.split(/=(.*)/s);
    const name = flag === '-f' ? '--filename' : flag;
    if (['--filename', '--field-manager'].includes(name)) given[name] = value ?? rest.shift() ?? '';
    else if (['--server-side', '--force-conflicts', '--ignore-not-found'].includes(name)) given[name] = value ?? 'true';
    else return undefined;
  }
  if (given['--filename'] !== '-' || (verb === 'apply') !== (given['--server-side'] === 'true')) return undefined;
  return {
    verb,
    force: given['--force-conflicts'] === 'true',
    manager: given['--field-manager'] ?? 'kubectl',
    ignoreNotFound: given['--ignore-not-found'] === 'true',
  };
}

/** Prints a line per object. Throws at the first that the server refuses. */
export async function write(api: Api, writing: Writing): Promise<string> {
  const given = parseAllDocuments(await text(process.stdin)).flatMap((document) => {
    const manifest = document.toJS() as Manifest | null;
    return manifest === null ? [] : (manifest.items ?? [manifest]);
  });
  // Deletion goes in the reverse order.
  const manifests = writing.verb === 'apply' ? given : [...given].reverse();
  const lines: string[] = [];
  for (const manifest of manifests) {
    const { kind, path, name } = placeOf(manifest);
    const shown = `${kind.kind.toLowerCase()}${kind.group === '' ? '' : `.${kind.group}`}/${name}`;
    if (writing.verb === 'apply') {
      const asked = `${path}?fieldManager=${encodeURIComponent(writing.manager)}&force=${writing.force}`;
      await mustAsk(api, 'PATCH', asked, manifest, 'application/apply-patch+yaml');
      lines.push(`${shown} serverside-applied`);
      continue;
    }
    const reply = await api.ask('DELETE', path);
    if (reply.status === 404 && writing.ignoreNotFound) continue;
    if (reply.status >= 300) throw new Error(String(reply.body['message']));
    await untilGone(api, path, (reply.body['details'] as { readonly uid: string }).uid);
    lines.push(`${shown} deleted`);
  }
  return lines.map((line) => `${line}\n`).join('');
}

/** As kubectl: finalizers may hold it for a while. Another one of its name is no longer it. */
async function untilGone(api: Api, path: string, uid: string): Promise<void> {
  for (;;) {
    const { status, body } = await api.ask('GET', path);
    if (status >= 300 || (body['metadata'] as { readonly uid: string }).uid !== uid) return;
    await sleep(500);
  }
}

function placeOf({ apiVersion, kind: asked, metadata }: Manifest): { kind: Kind; path: string; name: string } {
  const kind = kinds.find((each) => apiOf(each) === apiVersion && each.kind === asked);
  if (kind === undefined) throw new Error(`no matches for kind "${asked}" in version "${apiVersion}"`);
  const name = metadata?.name ?? '';
  const api = `${apiOf(kind).includes('/') ? 'apis' : 'api'}/${apiOf(kind)}`;
  const namespace = kind.namespaced ? `/namespaces/${metadata?.namespace ?? 'default'}` : '';
  return { kind, name, path: `/${api}${namespace}/${kind.plural}/${name}` };
}
