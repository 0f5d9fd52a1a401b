/** Merges the admin's access to a cluster into the caller's kubeconfig. What else stands there stays, with its comments. */
import { type Document, isMap, isSeq, type YAMLMap, type YAMLSeq } from 'yaml';
import * as z from 'zod';
import { Problem } from '../../shared/problems.js';
import { faultText, parseYaml, readYamlDocument } from '../../shared/yaml-text.js';

export interface ClusterAccess {
  /** The name of cluster, user and context. Whatever had that name before is replaced. */
  readonly name: string;
  /** The kubeconfig that the cluster made for its admin, with one cluster and one user. */
  readonly made: string;
}

export interface Merged {
  readonly text: string;
  /** By the order of the clusters: the port of this machine that leads to the API. */
  readonly ports: readonly number[];
}

const certificate = z.base64().min(1);
/**
 * What may be taken from a jumpbox. A kubeconfig may also name programs that kubectl runs, files of the caller's, and a proxy: root
 * on the jumpbox would run them here.
 */
const MadeConfig = z.object({
  clusters: z.tuple([
    z.object({ cluster: z.strictObject({ server: z.string(), 'certificate-authority-data': certificate }) }),
  ]),
  users: z.tuple([
    z.object({ user: z.strictObject({ 'client-certificate-data': certificate, 'client-key-data': certificate }) }),
  ]),
});

/** Nothing of the text is quoted, because it holds a private key. */
function readMade(name: string, made: string): z.infer<typeof MadeConfig> {
  const parsed = parseYaml(made);
  const read = MadeConfig.safeParse('content' in parsed ? parsed.content : undefined);
  if (read.success) return read.data;
  const where = [...new Set(read.error.issues.map(({ path }) => path.join('.') || 'the file'))].join(', ');
  throw new Problem('conflict', `The kubeconfig on the jumpbox of ${name} is not what plinth makes, at: ${where}.`, {
    advice:
      'Only certificates are taken from it, and one cluster and one user. Look at it on the jumpbox: somebody with root there may have changed it.',
  });
}

/** The usual port of the API. Where another context has it already, the next one. */
const firstPort = 6443;

/** `standing` is the present text, if there is one. The first access becomes the current context. Throws `bad-input`, `conflict`. */
export function mergeKubeConfig(standing: string | undefined, path: string, all: readonly ClusterAccess[]): Merged {
  const { document, errors } = readYamlDocument(standing?.trim() ? standing : 'apiVersion: v1\nkind: Config\n');
  const [fault] = errors;
  if (fault !== undefined || !isMap(document.contents)) {
    const why = fault === undefined ? '' : `: ${faultText(fault)}`;
    throw new Problem('bad-input', `${path} is no kubeconfig that plinth can read${why}.`, {
      advice: 'Mend it, or name another file with --to.',
    });
  }
  const taken = takenPorts(
    document,
    all.map(({ name }) => name),
  );
  const ports = all.map(({ name, made }) => {
    let port = firstPort;
    while (taken.has(port)) port += 1;
    taken.add(port);
    const { clusters, users } = readMade(name, made);
    // The API's certificate names this address, so kubectl verifies it as ever.
    put(document, 'clusters', name, { cluster: { ...clusters[0].cluster, server: `https://127.0.0.1:${port}` } });
    put(document, 'users', name, { user: users[0].user });
    put(document, 'contexts', name, { context: { cluster: name, user: name } });
    return port;
  });
  document.set('current-context', all[0]?.name ?? '');
  return { text: document.toString(), ports };
}

const nameOf = (item: unknown): unknown => (isMap(item) ? item.get('name') : undefined);

/** The ports of this machine that other contexts lead to. */
function takenPorts(document: Document, own: readonly string[]): Set<number> {
  const clusters = document.get('clusters', true);
  const others = isSeq(clusters) ? clusters.items.filter((item) => !own.includes(String(nameOf(item)))) : [];
  const servers = others.map((item) => String((item as YAMLMap).getIn(['cluster', 'server'])));
  return new Set(servers.map((server) => Number(/^https:\/\/127\.0\.0\.1:(\d+)$/.exec(server)?.[1])));
}

function put(document: Document, list: string, name: string, entry: Readonly<Record<string, unknown>>): void {
  const standing = document.get(list, true);
  if (!isSeq(standing)) {
    document.set(list, document.createNode([{ name, ...entry }]));
    return;
  }
  const node = document.createNode({ name, ...entry });
  const { items } = standing as YAMLSeq;
  const at = items.findIndex((item) => nameOf(item) === name);
  if (at === -1) items.push(node);
  else items[at] = node;
}
