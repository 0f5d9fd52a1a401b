/**
 * The flags of `plinth beta bootstrap-cloud`, as specified: 75, with name, type, default, and whether they are required.
 * Where the specification has a placeholder, the tool is `plinth`, the Kubernetes distribution `k0s`, and the platform
 * `platform`. Pinned: see test/house/spec-is-pinned.test.ts.
 */

export type FlagType = 'string' | 'int' | 'bool' | 'stringArray';

export interface SpecFlag {
  /** Without dashes. */
  readonly name: string;
  readonly short?: string;
  readonly type: FlagType;
  /** Undefined: none. */
  readonly default?: string | number | boolean | readonly string[];
  readonly required?: true;
  /** A value that must be accepted. */
  readonly sample: string | number | boolean | readonly string[];
  /** Its sample cannot stand beside the samples of the others. */
  readonly apart?: true;
}

const core: readonly SpecFlag[] = [
  { name: 'project-name', type: 'string', required: true, sample: 'demo' },
  { name: 'billing-account', type: 'string', required: true, sample: '012345-6789AB-CDEF01' },
  { name: 'base-domain', type: 'string', required: true, sample: 'demo.example.com' },
  { name: 'folder-id', type: 'string', sample: '0123456789' },
  { name: 'region', type: 'string', default: 'europe-west4', sample: 'europe-west1' },
  { name: 'zone', type: 'string', default: 'europe-west4-a', sample: 'europe-west1-b' },
  { name: 'project-ttl', type: 'string', default: '2h', sample: '90m' },
  { name: 'root-disk-size', type: 'int', default: 50, sample: 77 },
  { name: 'preemptible', type: 'bool', default: false, sample: true, apart: true },
  { name: 'spot-vms', type: 'bool', default: false, sample: true },
  { name: 'multi-dc', type: 'bool', default: false, sample: true, apart: true },
  { name: 'datacenter-id', type: 'int', default: 1, sample: 7 },
  { name: 'datacenter-name', type: 'string', default: 'dev', sample: 'lab' },
  { name: 'custom-pg-ip', type: 'string', sample: '10.0.0.9' },
  { name: 'kube-distro-version', type: 'string', default: 'v1.31.14+k0s.0', sample: 'v1.32.1+k0s.0' },
];

const dnsAndCertificates: readonly SpecFlag[] = [
  { name: 'dns-project-id', type: 'string', sample: 'dns-project' },
  { name: 'dns-zone-name', type: 'string', default: 'tool-testing', sample: 'other-zone' },
  { name: 'acme-staging', type: 'bool', default: false, sample: true },
  { name: 'cloud-acme-issuer', type: 'bool', default: false, sample: true },
];

const installation: readonly SpecFlag[] = [
  { name: 'install-config', type: 'string', default: 'config.yaml', sample: 'other.yaml' },
  { name: 'install-hash', type: 'string', sample: '0123' },
  { name: 'install-local', type: 'string', sample: 'package.tar.gz' },
  { name: 'install-version', type: 'string', sample: '1.2.3' },
  { name: 'install-skip-steps', short: 's', type: 'stringArray', sample: ['docker', 'ceph'] },
  { name: 'write-config', type: 'bool', default: true, sample: false },
  { name: 'recover-config', type: 'bool', default: false, sample: true },
  { name: 'remote-cli-binary', type: 'string', sample: 'plinth-linux-amd64' },
  { name: 'pc-apps-values', type: 'stringArray', sample: ['values-1.yaml', 'values-2.yaml'] },
  { name: 'feature-flags', type: 'stringArray', sample: ['one', 'two'] },
  {
    name: 'internal-flags',
    type: 'stringArray',
    default: ['headless-services', 'vcluster', 'custom-service-image', 'ms-in-ls'],
    sample: ['three', 'four'],
  },
  {
    name: 'preview-flags',
    type: 'stringArray',
    default: [
      'openfga-authz',
      'cluster-admin',
      'secret-management',
      'sub-path-mount',
      'workspace-ssh',
      'virtual-machines',
    ],
    sample: ['five', 'six'],
  },
  { name: 'cluster-admin-email', type: 'string', sample: 'admin@example.com' },
  { name: 'create-test-user', type: 'bool', default: false, sample: true },
  { name: 'timer', type: 'bool', default: false, sample: true },
  { name: 'help', short: 'h', type: 'bool', default: false, sample: false },
];

const registry: readonly SpecFlag[] = [
  { name: 'registry-type', type: 'string', default: 'forge1', sample: 'artifact-registry' },
  { name: 'registry-user', type: 'string', sample: 'somebody' },
  { name: 'airgapped', type: 'bool', default: false, sample: true, apart: true },
];

const hostingAndOauth: readonly SpecFlag[] = [
  { name: 'forge1-app-client-id', type: 'string', required: true, sample: 'client-1' },
  { name: 'forge1-app-client-secret', type: 'string', required: true, sample: 'secret-1' },
  { name: 'forge1-app-name', type: 'string', sample: 'app' },
  // Required by rules alone: see bootstrap-rules.ts.
  { name: 'forge1-pat', type: 'string', sample: 'token-1' },
  { name: 'forge1-team-org', type: 'string', sample: 'acme' },
  { name: 'forge1-team-slug', type: 'string', sample: 'red' },
  { name: 'forge2-app-client-id', type: 'string', sample: 'client-2' },
  { name: 'forge2-app-client-secret', type: 'string', sample: 'secret-2' },
  { name: 'forge3-app-client-id', type: 'string', sample: 'client-3' },
  { name: 'forge3-app-client-secret', type: 'string', sample: 'secret-3' },
  { name: 'forge4-app-client-id', type: 'string', sample: 'client-4' },
  { name: 'forge4-app-client-secret', type: 'string', sample: 'secret-4' },
  { name: 'oidc-client-id', type: 'string', sample: 'client-5' },
  { name: 'oidc-client-secret', type: 'string', sample: 'secret-5' },
  { name: 'oidc-issuer-url', type: 'string', sample: 'https://issuer.example.com' },
  { name: 'oidc-provider-name', type: 'string', sample: 'Acme' },
];

const secretsStore: readonly SpecFlag[] = [
  { name: 'vault-uri', type: 'string', sample: 'https://vault.example.com' },
  { name: 'vault-user', type: 'string', default: 'admin', sample: 'root' },
  { name: 'vault-password', type: 'string', sample: 'secret-6' },
  { name: 'vault-engine', type: 'string', default: 'cs-secrets-engine', sample: 'engine' },
  { name: 'secrets-dir', type: 'string', default: '/etc/platform/secrets', sample: '/srv/secrets' },
  { name: 'secrets-file', type: 'string', default: 'prod.vault.yaml', sample: 'other.vault.yaml' },
];

const observability: readonly SpecFlag[] = [
  { name: 'central-otel-endpoint', type: 'string', sample: 'https://otel.example.com' },
  { name: 'central-otel-username', type: 'string', sample: 'otel' },
  { name: 'central-otel-password', type: 'string', sample: 'secret-7' },
  { name: 'central-otel-span-metrics', type: 'bool', default: false, sample: true },
  { name: 'local-trace-endpoint', type: 'string', sample: 'http://tempo.example.com:4318' },
  { name: 'external-logstore-endpoint', type: 'string', sample: 'https://logs.example.com' },
  { name: 'external-logstore-user', type: 'string', sample: 'logs' },
  { name: 'external-logstore-secret', type: 'string', sample: 'secret-8' },
  { name: 'metrics-remote-write-url', type: 'string', sample: 'https://metrics.example.com/write' },
  { name: 'metrics-remote-write-user', type: 'string', sample: 'metrics' },
  { name: 'metrics-remote-write-password', type: 'string', sample: 'secret-9' },
];

const ssh: readonly SpecFlag[] = [
  { name: 'ssh-private-key-path', type: 'string', default: '~/.ssh/id_rsa', sample: '~/.ssh/other' },
  { name: 'ssh-public-key-path', type: 'string', default: '~/.ssh/id_rsa.pub', sample: '~/.ssh/other.pub' },
  { name: 'ssh-quiet', type: 'bool', default: false, sample: true },
];

const inherited: readonly SpecFlag[] = [{ name: 'verbose', type: 'bool', default: false, sample: true }];

/** By sections: 15, 4, 16, 3, 16, 6, 11, 3 and 1. `--help` counts to those of the installation, `--verbose` is inherited. */
export const specFlags: readonly SpecFlag[] = [
  ...core,
  ...dnsAndCertificates,
  ...installation,
  ...registry,
  ...hostingAndOauth,
  ...secretsStore,
  ...observability,
  ...ssh,
  ...inherited,
];
