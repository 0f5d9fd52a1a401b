/** The contract of each flag: where its effect is seen from outside, and what dropping it on a re-run does. Played by flag-effects.test.ts. */

import { forge1Pat } from '../../local/forge1/forge1.js';
import { local } from '../../local/stack/deployment.js';
import type { Option } from '../../shared/bootstrap/options.js';
import type { Seen } from './seen.js';

interface InPlay {
  /** Flags of one set are given together. */
  readonly set: 'main' | 'told' | 'unwritten';
  readonly given: string | true | readonly string[];
  readonly where: 'config' | 'secrets file' | 'cloud' | 'disk' | 'terminal';
  look(seen: Seen): unknown;
  /** What is seen while it is given. */
  readonly seen: unknown;
  /** What is seen of another value; without it: the value itself, where `seen` is what is given. */
  sees?(value: string | readonly string[]): unknown;
  /**
   * `gone`: as if it had never been given. `refused`: with both values. `required`: it cannot be dropped. `this run`: it says
   * where this run reads and writes. Or why it stays.
   */
  readonly dropped: 'gone' | 'refused' | 'required' | 'this run' | { readonly stays: string };
}
/** What is to be looked at in another way: by flag-effects.tools.test.ts on machines, or in a test of its own. */
interface Apart {
  readonly by: 'machines' | 'itself';
  readonly where: 'machines' | 'terminal' | 'disk';
  readonly dropped: InPlay['dropped'];
}
export type Row = InPlay | Apart;

const inConfig = (path: string, given: string | true | readonly string[], seen: unknown = given): InPlay => ({
  set: 'main',
  given,
  where: 'config',
  look: ({ config }) => config(path),
  seen,
  dropped: 'gone',
});
const inSecrets = (name: string, given: string, seen: string = given): InPlay => ({
  set: 'main',
  given,
  where: 'secrets file',
  look: ({ secret }) => secret(name),
  seen,
  dropped: 'gone',
});
const inCloud = (given: string | true, look: InPlay['look'], seen: unknown = given): InPlay => ({
  set: 'main',
  given,
  where: 'cloud',
  look,
  seen,
  dropped: 'refused',
});
const onDisk = (given: string): InPlay => ({
  set: 'told',
  given,
  where: 'disk',
  look: ({ written }) => written.includes(given),
  seen: true,
  dropped: 'this run',
});
const onTerminal = (look: InPlay['look']): InPlay => ({
  set: 'told',
  given: true,
  where: 'terminal',
  look,
  seen: true,
  dropped: 'this run',
});
const onMachines = (dropped: Apart['dropped'], where: Apart['where'] = 'machines') =>
  ({ by: 'machines', where, dropped }) as const;
const installed = { stays: 'what is installed is kept and repaired until another package is named' };
const seeing = (row: InPlay, sees: NonNullable<InPlay['sees']>): InPlay => ({ ...row, sees });
const of = (set: InPlay['set'], row: InPlay): InPlay => ({ ...row, set });
const kept = (row: InPlay, dropped: InPlay['dropped']): InPlay => ({ ...row, dropped });

const allTrue = (names: string | readonly string[]) => Object.fromEntries([names].flat().map((name) => [name, true]));
const scheduling = (name: string) => (seen: Seen) =>
  (seen.vm('k0s-1')?.['scheduling'] as Record<string, unknown> | undefined)?.[name];
/** In the file of `--ssh-public-key-path`. */
export const ownKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBvzZpkM1mOAq0YPoqJz8b4Zr1d1yG2Q0eN6q1S0b2Xy';
const keysOf = ({ vm }: Seen): string => JSON.stringify(vm('k0s-1')?.['metadata']);
const hasTeamKeys = (seen: Seen): boolean => (keysOf(seen).match(/ssh-(?:rsa|ed25519)/g) ?? []).length > 4;
const diskSize = ({ vm }: Seen) =>
  (vm('k0s-1')?.['disks'] as readonly { readonly diskSizeGb?: string }[] | undefined)?.[0]?.diskSizeGb;

export const rows = {
  /* Core and cloud */
  projectName: kept(
    inCloud('effects', ({ project }) => project['displayName']),
    'required',
  ),
  billingAccount: kept(
    inCloud(
      local.otherBillingAccount,
      ({ project }) => project['billingAccountName'],
      `billingAccounts/${local.otherBillingAccount}`,
    ),
    'required',
  ),
  baseDomain: kept(inConfig('platform.domain', 'effects.example.com', 'cs.effects.example.com'), 'required'),
  folderId: seeing(
    inCloud(local.otherFolder.replace('folders/', ''), ({ project }) => project['parent'], local.otherFolder),
    (value) => `folders/${value}`,
  ),
  region: inCloud(
    'us-central1',
    ({ named }) => named('compute.addresses').every((name) => /us-central1/.test(name)),
    true,
  ),
  zone: inCloud('us-central1-b', ({ vm }) => /\/([^/]+)$/.exec(String(vm('k0s-1')?.['zone']))?.[1]),
  projectTtl: {
    ...inCloud('5h', ({ hours }) => Math.round(hours), 5),
    dropped: { stays: 'a time to live that was given or extended is not cut short by a command that is silent of it' },
  },
  rootDiskSize: seeing(inCloud('77', diskSize), (value) => String(Number(value))),
  preemptible: of('unwritten', inCloud(true, scheduling('preemptible'))),
  spotVms: inCloud(true, scheduling('provisioningModel'), 'SPOT'),
  multiDc: of(
    'unwritten',
    inCloud(true, ({ vm }) => vm('k0s-1-dc2') !== undefined || vm('k0s-4') !== undefined),
  ),
  datacenterId: seeing(kept(inConfig('dataCenter.id', '7', 7), 'refused'), Number),
  datacenterName: inConfig('dataCenter.name', 'mine'),
  customPgIp: of('told', kept(inConfig('postgres.primary.ip', '10.99.0.7'), 'refused')),
  kubeDistroVersion: inConfig('kubernetes.version', 'v1.30.1+k0s.0'),

  /* DNS and certificates */
  dnsProjectId: kept(inConfig('cluster.certManager.dnsSolver.cloudDns.project', local.dnsProject), 'refused'),
  dnsZoneName: kept(inConfig('cluster.certManager.dnsSolver.cloudDns.zone', 'effects'), 'refused'),
  acmeStaging: {
    ...inConfig('platform.certIssuer.acme.server', true, true),
    look: ({ config }) => /staging|test/.test(String(config('platform.certIssuer.acme.server'))),
  },
  cloudAcmeIssuer: {
    ...inConfig('platform.certIssuer.acme.eabKeyId', true, true),
    look: ({ config }) => config('platform.certIssuer.acme.eabKeyId') !== undefined,
  },

  /* Installation */
  installConfig: onDisk('mine.yaml'),
  installHash: onMachines(installed),
  installLocal: onMachines(installed),
  installVersion: onMachines(installed),
  installSkipSteps: inConfig('operations.skip', ['ceph', 'docker']),
  writeConfig: {
    set: 'unwritten',
    given: 'false',
    where: 'disk',
    look: ({ written }) => written.length === 0,
    seen: true,
    dropped: 'this run',
  },
  recoverConfig: onMachines('this run', 'disk'),
  remoteCliBinary: onMachines('gone'),
  pcAppsValues: onMachines('gone'),
  featureFlags: seeing(inConfig('platform.features', ['one', 'two'], { one: true, two: true }), allTrue),
  internalFlags: inConfig('platform.internal', ['three']),
  previewFlags: seeing(inConfig('platform.preview', ['four'], { four: true }), allTrue),
  clusterAdminEmail: inConfig('platform.clusterAdminEmail', 'Admin@example.com', 'admin@example.com'),
  createTestUser: onMachines({ stays: 'the user is the platform’s, and whoever has its token goes on' }),
  timer: onTerminal(({ told }) => told.result['timings'] !== undefined),
  help: { by: 'itself', where: 'terminal', dropped: 'this run' },

  /* Registry */
  registryType: of(
    'unwritten',
    inCloud('artifact-registry', ({ named }) => named('artifactregistry.repositories').length > 0, true),
  ),
  registryUser: inSecrets('registryUsername', 'somebody'),
  airgapped: of('told', kept(inConfig('registry.type', true, 'local-container'), 'refused')),

  /* Source-code hosting and OAuth providers */
  forge1AppClientId: kept(inSecrets('forge1AppClientId', 'client-1'), 'required'),
  forge1AppClientSecret: kept(inSecrets('forge1AppClientSecret', 'planted-forge1'), 'required'),
  forge1AppName: seeing(
    inConfig(
      'platform.forges.forge1.oauth.installationUri',
      'my app',
      'https://github.com/apps/my%20app/installations/new',
    ),
    (value) => `https://github.com/apps/${encodeURIComponent(String(value))}/installations/new`,
  ),
  forge1Pat: kept(inSecrets('registryPassword', forge1Pat), {
    stays: 'a secret is kept while it is not given again, and it belongs to no one flag',
  }),
  forge1TeamOrg: kept(inCloud('example', hasTeamKeys, true), 'gone'),
  forge1TeamSlug: kept(inCloud('platform', hasTeamKeys, true), 'gone'),
  forge2AppClientId: inSecrets('forge2AppClientId', 'client-2'),
  forge2AppClientSecret: inSecrets('forge2AppClientSecret', 'planted-forge2'),
  forge3AppClientId: inSecrets('forge3AppClientId', 'client-3'),
  forge3AppClientSecret: inSecrets('forge3AppClientSecret', 'planted-forge3'),
  forge4AppClientId: inSecrets('forge4AppClientId', 'client-4'),
  forge4AppClientSecret: inSecrets('forge4AppClientSecret', 'planted-forge4'),
  oidcClientId: inSecrets('oidcClientId', 'client-5'),
  oidcClientSecret: inSecrets('oidcClientSecret', 'planted-oidc'),
  oidcIssuerUrl: inConfig('platform.oauth.oidc.issuerUrl', 'https://id.example.com'),
  oidcProviderName: inConfig('platform.oauth.oidc.name', 'Corp'),

  /* Secrets store */
  vaultUri: inConfig('platform.vault.uri', 'https://vault.example.com'),
  vaultUser: inConfig('platform.vault.user', 'keeper'),
  vaultPassword: inSecrets('vaultPassword', 'planted-vault'),
  vaultEngine: inConfig('platform.vault.engine', 'engine'),
  secretsDir: inConfig('secrets.baseDir', '/etc/mine'),
  secretsFile: onDisk('mine.vault.yaml'),

  /* Observability */
  centralOtelEndpoint: inConfig('platform.telemetry.remoteEndpoint', 'https://otel.example.com'),
  centralOtelUsername: inConfig('platform.telemetry.remoteUser', 'otel'),
  centralOtelPassword: {
    ...inSecrets('centralOtelCreds', 'planted-otel'),
    look: ({ secret }) => secret('centralOtelCreds')?.replace(/^.*\//s, ''),
  },
  centralOtelSpanMetrics: inConfig('platform.telemetry.spanMetrics', true),
  localTraceEndpoint: inConfig('platform.telemetry.localTraceEndpoint', 'traces:4317'),
  externalLogstoreEndpoint: inConfig('cluster.monitoring.logs.endpoint', 'https://logs.example.com'),
  externalLogstoreUser: inConfig('cluster.monitoring.logs.user', 'logger'),
  externalLogstoreSecret: inSecrets('logstorePassword', 'planted-logs'),
  metricsRemoteWriteUrl: inConfig('cluster.monitoring.prometheus.remoteWrite.url', 'https://metrics.example.com'),
  metricsRemoteWriteUser: inConfig('cluster.monitoring.prometheus.remoteWrite.username', 'writer'),
  metricsRemoteWritePassword: inSecrets('metricsRemoteWritePassword', 'planted-metrics'),

  /* SSH */
  sshPrivateKeyPath: onMachines('this run'),
  sshPublicKeyPath: {
    ...inCloud('mine.pub', (seen) => keysOf(seen).includes(ownKey), true),
    set: 'told',
    dropped: 'gone',
  },
  sshQuiet: onMachines('this run', 'terminal'),

  /* Inherited */
  verbose: onTerminal(({ told }) => /POST \/bootstraps/.test(told.stderr)),
} as const satisfies Readonly<Record<Option, Row>>;
