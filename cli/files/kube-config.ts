/**
 * Merges the admin's access to a cluster into the caller's kubeconfigs, where kubectl would write it. See ModifyConfig in
 * https://github.com/kubernetes/client-go/blob/master/tools/clientcmd/config.go.
 */
import * as z from 'zod';
import { Problem } from '../../shared/problems.js';
import { parseYaml } from '../../shared/yaml-text.js';
import { type EditableConfig, type EntryList, editKubeConfig, type KubeConfigFile } from './kube-config-file.js';

export interface ClusterAccess {
  /** The name of cluster, user and context. */
  readonly name: string;
  /** The kubeconfig that the cluster made for its admin, with one cluster and one user. */
  readonly made: string;
}

export interface Merged {
  /** The new text of each file. Undefined: it stays as it is. */
  readonly texts: readonly (string | undefined)[];
  /** By the order of the clusters: the port of this machine that leads to the API, and the file with the context. */
  readonly ports: readonly number[];
  readonly paths: readonly string[];
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

/** kubectl refuses two authorities, and two ways to log in. */
const otherAuthorities = ['certificate-authority', 'insecure-skip-tls-verify'];
const otherLogins = [
  ...['client-certificate', 'client-key', 'token', 'tokenFile', 'username', 'password', 'exec', 'auth-provider'],
];

/**
 * `home` is the position of the file that gets what no file has yet. An entry is changed in the first file that has it, and
 * keeps its other fields. The first access becomes the current context. Throws `bad-input`, `conflict`.
 */
export function mergeKubeConfigs(
  files: readonly KubeConfigFile[],
  home: number,
  all: readonly ClusterAccess[],
): Merged {
  const read = files.map(editKubeConfig);
  const homeFile = read[home];
  if (homeFile === undefined) throw new Error('no kubeconfig is named');
  const withEntry = (list: EntryList, name: string): EditableConfig =>
    read.find((file) => file.names(list).includes(name)) ?? homeFile;
  const own = all.map(({ name }) => name);
  const taken = new Set(
    read.flatMap((file) => file.names('clusters').flatMap((name) => (own.includes(name) ? [] : portIn(file, name)))),
  );
  const ports = all.map(({ name, made }) => {
    const { clusters, users } = readMade(name, made);
    const { server: _, ...authority } = clusters[0].cluster;
    const file = withEntry('clusters', name);
    let port = portIn(file, name) ?? firstPort;
    while (taken.has(port)) port += 1;
    taken.add(port);
    // The API's certificate names this address, so kubectl verifies it as ever.
    const cluster = { server: `https://127.0.0.1:${port}`, ...authority };
    file.put('clusters', name, cluster, otherAuthorities);
    withEntry('users', name).put('users', name, users[0].user, otherLogins);
    withEntry('contexts', name).put('contexts', name, { cluster: name, user: name }, []);
    return port;
  });
  const [first = ''] = own;
  const current = read.map((file) => file.currentContext()).find((name) => name !== '');
  if (current !== first) homeFile.setCurrentContext(first);
  const paths = own.map((name) => withEntry('contexts', name).path);
  return { texts: read.map((file) => file.changed()), ports, paths };
}

/** The port of this machine that an entry leads to. */
function portIn(file: EditableConfig, name: string): number | undefined {
  const server = file.field('clusters', name, 'server') ?? '';
  const [, port] = /^https:\/\/127\.0\.0\.1:(\d{1,5})$/.exec(server) ?? [];
  return port === undefined ? undefined : Number(port);
}
