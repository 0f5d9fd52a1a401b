/** The kinds of objects that the stand-in's Kubernetes knows, for discovery and tables. */

export interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly short: readonly string[];
  readonly namespaced: boolean;
  readonly hasStatus: boolean;
  /** Columns of tables, besides name and age. */
  readonly columns: Readonly<Record<string, (thing: Thing) => string>>;
}

export interface Thing {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly [field: string]: unknown;
}

export interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly creationTimestamp: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly lastHeartbeatTime?: string;
  readonly [field: string]: unknown;
}

const none: Kind['columns'] = {};

/** Takes `group/version`, kind, plural, short names, and the rest. */
const kind = (
  api: string,
  name: string,
  plural: string,
  short: readonly string[],
  more: Partial<Pick<Kind, 'namespaced' | 'hasStatus' | 'columns'>> = {},
): Kind => {
  const [group = '', version = ''] = api.includes('/') ? api.split('/') : ['', api];
  return { group, version, kind: name, plural, short, namespaced: true, hasStatus: false, columns: none, ...more };
};

const at = (thing: unknown, ...path: string[]): unknown =>
  path.reduce<unknown>((found, name) => (found as Record<string, unknown> | undefined)?.[name], thing);
const keys = (value: unknown): string => String(Object.keys((value as object | undefined) ?? {}).length);

export const conditionsOf = (thing: Thing): readonly Condition[] =>
  (at(thing, 'status', 'conditions') as Condition[] | undefined) ?? [];

const isReady = (thing: Thing): string =>
  conditionsOf(thing).some(({ type, status }) => type === 'Ready' && status === 'True') ? 'Ready' : 'NotReady';
const rolesOf = ({ metadata: { labels = {} } }: Thing): string =>
  Object.keys(labels)
    .filter((label) => label.startsWith('node-role.kubernetes.io/'))
    .map((label) => label.slice('node-role.kubernetes.io/'.length))
    .join(',') || '<none>';

const cluster = { namespaced: false } as const;
const withStatus = { hasStatus: true } as const;

export const kinds: readonly Kind[] = [
  kind('v1', 'Namespace', 'namespaces', ['ns'], {
    ...cluster,
    columns: { Status: (thing) => String(at(thing, 'status', 'phase') ?? 'Active') },
  }),
  kind('v1', 'Node', 'nodes', ['no'], {
    ...cluster,
    ...withStatus,
    columns: {
      Status: isReady,
      Roles: rolesOf,
      Version: (thing) => String(at(thing, 'status', 'nodeInfo', 'kubeletVersion') ?? ''),
    },
  }),
  kind('v1', 'Secret', 'secrets', [], {
    columns: { Type: (thing) => String(thing['type'] ?? 'Opaque'), Data: (thing) => keys(thing['data']) },
  }),
  kind('v1', 'ConfigMap', 'configmaps', ['cm'], { columns: { Data: (thing) => keys(thing['data']) } }),
  kind('v1', 'Service', 'services', ['svc'], {
    ...withStatus,
    columns: {
      Type: (thing) => String(at(thing, 'spec', 'type') ?? 'ClusterIP'),
      'External-IP': (thing) => {
        const pending = at(thing, 'spec', 'type') === 'LoadBalancer' ? '<pending>' : '<none>';
        return String(at(thing, 'status', 'loadBalancer', 'ingress', '0', 'ip') ?? pending);
      },
    },
  }),
  kind('v1', 'Event', 'events', ['ev'], {
    columns: {
      Type: (thing) => String(thing['type'] ?? ''),
      Reason: (thing) => String(thing['reason'] ?? ''),
      Message: (thing) => String(thing['message'] ?? ''),
    },
  }),
  kind('v1', 'ServiceAccount', 'serviceaccounts', ['sa']),
  kind('v1', 'Pod', 'pods', ['po'], withStatus),
  kind('apps/v1', 'Deployment', 'deployments', ['deploy'], withStatus),
  kind('certificates.k8s.io/v1', 'CertificateSigningRequest', 'certificatesigningrequests', ['csr'], {
    ...cluster,
    ...withStatus,
  }),
];

/** Finds one of our own kinds, which must exist. */
export const kindOf = (plural: string): Kind => kinds.find((each) => each.plural === plural) as Kind;

export const apiOf = ({ group, version }: Kind): string => (group === '' ? version : `${group}/${version}`);

/** The time as Kubernetes writes it. */
export const now = (): string => new Date().toISOString().replace(/\.\d+/, '');
