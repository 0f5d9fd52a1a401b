/** kubeconfig files, and join tokens, which are packed kubeconfigs. */
import { gunzipSync, gzipSync } from 'node:zlib';
import { parse, stringify } from 'yaml';

export interface Access {
  readonly server: string;
  /** PEM. */
  readonly ca: string;
  readonly user: string;
  readonly token?: string | undefined;
  /** PEM. */
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
}

interface File {
  readonly clusters: readonly { readonly cluster: Readonly<Record<string, string>> }[];
  readonly users: readonly { readonly name: string; readonly user: Readonly<Record<string, string>> }[];
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const plain = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : Buffer.from(text, 'base64').toString();

export function kubeConfigOf(
  { server, ca, user, token, certificate, key }: Access,
  context: string,
  cluster = context,
) {
  const own =
    certificate === undefined || key === undefined
      ? { token }
      : { 'client-certificate-data': base64(certificate), 'client-key-data': base64(key) };
  const file = {
    apiVersion: 'v1',
    kind: 'Config',
    preferences: {},
    'current-context': context,
    clusters: [{ name: cluster, cluster: { 'certificate-authority-data': base64(ca), server } }],
    contexts: [{ name: context, context: { cluster, user } }],
    users: [{ name: user, user: own }],
  };
  // One line per value, as Go writes it.
  return stringify(file, { lineWidth: 0 });
}

export function readKubeConfig(text: string): Access {
  const { clusters, users } = parse(text) as File;
  const cluster = clusters[0]?.cluster ?? {};
  const { name = '', user = {} } = users[0] ?? {};
  return {
    server: cluster['server'] ?? '',
    ca: plain(cluster['certificate-authority-data']) ?? '',
    user: name,
    token: user['token'],
    certificate: plain(user['client-certificate-data']),
    key: plain(user['client-key-data']),
  };
}

export const joinTokenOf = (access: Access): string => gzipSync(kubeConfigOf(access, 'k0s')).toString('base64');

export function readJoinToken(text: string): Access {
  let unpacked: string;
  try {
    unpacked = gunzipSync(Buffer.from(text.trim(), 'base64')).toString();
  } catch {
    throw new Error('failed to decode join token: gzip: invalid header');
  }
  const access = readKubeConfig(unpacked);
  if (access.user !== 'kubelet-bootstrap') {
    throw new Error(`wrong token type ${access.user}, expected type: kubelet-bootstrap`);
  }
  return access;
}
