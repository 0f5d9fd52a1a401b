/** Reads k0s.yaml as k0s v1.31 does, and refuses unknown fields (pkg/apis/k0s/v1beta1). */
import { isIP } from 'node:net';
import { parse } from 'yaml';

/** `true` allows anything beneath the field. */
type Fields = { readonly [field: string]: true | Fields };

const extra = { extraArgs: true, rawArgs: true } as const;
const fields: Fields = {
  apiVersion: true,
  kind: true,
  metadata: { name: true, namespace: true, labels: true, annotations: true },
  status: true,
  spec: {
    api: {
      address: true,
      onlyBindToAddress: true,
      externalAddress: true,
      extraArgs: true,
      k0sApiPort: true,
      port: true,
      sans: true,
    },
    controllerManager: extra,
    scheduler: extra,
    storage: { etcd: true, kine: { dataSource: true }, type: true },
    network: {
      calico: true,
      dualStack: true,
      kubeProxy: true,
      kuberouter: true,
      nodeLocalLoadBalancing: true,
      controlPlaneLoadBalancing: true,
      podCIDR: true,
      provider: true,
      serviceCIDR: true,
      clusterDomain: true,
    },
    workerProfiles: true,
    telemetry: { enabled: true },
    installConfig: { users: true },
    images: true,
    extensions: { storage: true, helm: true },
    konnectivity: { adminPort: true, agentPort: true },
    featureGates: true,
  },
};

export interface ClusterConfig {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly api: {
      readonly address: string;
      readonly externalAddress?: string;
      readonly port: number;
      readonly sans: readonly string[];
    };
    readonly network: { readonly podCIDR: string; readonly serviceCIDR: string; readonly provider: string };
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function unknownFields(value: unknown, known: true | Fields, path: string): string[] {
  if (known === true || value === null || value === undefined) return [];
  if (!isObject(value)) return [`${path} must be an object`];
  return Object.entries(value).flatMap(([name, beneath]) => {
    const at = path === '' ? name : `${path}.${name}`;
    const next = known[name];
    return next === undefined ? [`unknown field "${at}"`] : unknownFields(beneath, next, at);
  });
}

const isCidr = (text: string): boolean =>
  /^[\d.]+\/(\d|[12]\d|3[0-2])$/.test(text) && isIP(text.split('/')[0] ?? '') === 4;
const isName = (text: string): boolean => isIP(text) !== 0 || /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(text);

/** Fills in k0s's own defaults. One error names all faults. */
export function readClusterConfig(text: string, ownAddress: string): ClusterConfig {
  const given: unknown = parse(text) ?? {};
  const unknown = unknownFields(given, fields, '');
  if (unknown.length > 0 || !isObject(given)) {
    throw new Error(
      `failed to parse configuration: error unmarshaling JSON: while decoding JSON: ${unknown.join(', ')}`,
    );
  }
  const part = (holder: unknown, name: string): Record<string, unknown> => {
    const found = isObject(holder) ? holder[name] : undefined;
    return isObject(found) ? found : {};
  };
  const api = { address: ownAddress, port: 6443, sans: [], ...part(given['spec'], 'api') };
  const network = {
    podCIDR: '10.244.0.0/16',
    serviceCIDR: '10.96.0.0/12',
    provider: 'kuberouter',
    ...part(given['spec'], 'network'),
  };
  const faults: string[] = [];
  const check = (good: boolean, fault: string): void => void (good || faults.push(fault));
  const { apiVersion = 'k0s.k0sproject.io/v1beta1', kind = 'ClusterConfig' } = given;
  check(apiVersion === 'k0s.k0sproject.io/v1beta1', `unsupported apiVersion "${String(apiVersion)}"`);
  check(kind === 'ClusterConfig', `unsupported kind "${String(kind)}"`);
  check(isIP(api.address) !== 0, `spec: api: address: Invalid value: "${api.address}": invalid IP address`);
  check(Number.isInteger(api.port) && api.port > 0 && api.port < 65_536, `spec: api: port: Invalid value: ${api.port}`);
  for (const [i, san] of (api.sans as string[]).entries()) {
    check(isName(san), `spec: api: sans[${i}]: Invalid value: "${san}": invalid IP address / DNS name`);
  }
  for (const name of ['podCIDR', 'serviceCIDR'] as const) {
    check(isCidr(network[name]), `spec: network: ${name}: Invalid value: "${network[name]}": invalid CIDR address`);
  }
  check(
    ['kuberouter', 'calico', 'custom'].includes(network.provider),
    `spec: network: provider: Unsupported value: "${network.provider}": supported values: "kuberouter", "calico", "custom"`,
  );
  if (faults.length > 0) throw new Error(faults.join('\n'));
  const metadata = { name: 'k0s', ...part(given, 'metadata') };
  return { ...given, apiVersion, kind, metadata, spec: { ...part(given, 'spec'), api, network } } as ClusterConfig;
}

/** The URL at which other machines reach the API. */
export const apiUrl = ({ spec: { api } }: ClusterConfig): string =>
  `https://${api.externalAddress ?? api.address}:${api.port}`;
