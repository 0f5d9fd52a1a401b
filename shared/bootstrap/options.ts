/**
 * THE flag table: every flag of `plinth beta bootstrap-cloud`, once. Command line, help, request schema, rules, redaction,
 * resume rules and the reference page are read from it. The types of options are derived from it.
 */
import * as z from 'zod';
import { Email } from '../organization/email.js';
import { plainPattern, seen } from '../plain-text.js';
import { durationPattern, parseDuration } from './duration.js';
import { isUnreachableHost, rangeWithoutServer } from './network-ranges.js';

/** Sections of the help and of the reference page, in this order. */
export const flagGroups = {
  core: 'Core and cloud',
  dns: 'DNS and certificates',
  installation: 'Installation',
  registry: 'Registry',
  forges: 'Source-code hosting and OAuth providers',
  vault: 'Secrets store',
  observability: 'Observability',
  ssh: 'SSH',
  inherited: 'Inherited',
} as const;
export type FlagGroup = keyof typeof flagGroups;

/**
 * What a value means for a bootstrap that exists. `fixed`: another value is refused, for some options only once a step has
 * made what holds the value. `applies`: the change is carried out. `local`: the option concerns the caller's machine and is
 * never sent.
 */
export type OnResume = 'fixed' | 'applies' | 'local';

interface FlagRow<Value> {
  readonly group: FlagGroup;
  /** One or two sentences, without the default. */
  readonly help: string;
  readonly onResume: OnResume;
  readonly schema: z.ZodType<Value>;
  readonly default?: Value;
  readonly required?: true;
  /** Redacted wherever it might be shown. The environment may supply it (`PLINTH_<FLAG>`). */
  readonly secret?: true;
  /**
   * For a secret: the option that it belongs to. A resume keeps a secret that isn't given again, and drops it along with that
   * option.
   */
  readonly owner?: string;
  /** Part of what is installed. A resume that names no package keeps it, unless it is given. */
  readonly ofInstall?: true;
  /** A one-letter form of the flag. */
  readonly short?: string;
  /** The path of a file on the caller's machine. The request carries its name, hash and size instead (upload.ts). */
  readonly file?: true;
}
/** `kind` says how the value is written on the command line. A `list` flag may be repeated. */
export type Flag =
  | ({ readonly kind: 'string' } & FlagRow<string>)
  | ({ readonly kind: 'int' } & FlagRow<number>)
  | ({ readonly kind: 'bool'; readonly default: boolean } & FlagRow<boolean>)
  | ({ readonly kind: 'list'; readonly default: readonly string[] } & FlagRow<string[]>);

/* Schemas of values. Messages go on from the name of the flag: "--zone must be …". */

const longest = 4096;
/** One line, not empty. The bytes stay as given. */
const bytes = (max = longest) =>
  z
    .string()
    .min(1, 'must not be empty')
    .max(max, `must have at most ${max} characters`)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
    .regex(/^[^\u0000-\u001f\u007f]*$/, 'must not contain control characters');
/** Whoever sees the bootstrap sees it. It is compared byte by byte elsewhere, so that its spelling stays. */
const line = (max = longest) => seen(bytes(max)).meta({ pattern: plainPattern });
const like = (pattern: RegExp, message: string) => z.string().max(longest).regex(pattern, message);
const secretValue = z.string().min(1, 'must not be empty').max(longest, `must have at most ${longest} characters`);
const yesNo = z.boolean('must be true or false');
const lines = z.array(line()).max(100, 'may be repeated at most 100 times');
/** Of a file of the caller's, whose name others may have given. */
const path = bytes();

const domain = z
  .string()
  .transform((text) => text.toLowerCase())
  .refine(
    (text) =>
      // The longest name under it is `*.N.ssh.cs.<domain>`.
      text.length <= 230 && /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/.test(text),
    'must be a domain name such as example.com',
  )
  .meta({
    maxLength: 230,
    pattern: '^(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)+[A-Za-z](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])$',
  });
const email = line(254).pipe(Email).meta({ pattern: z.regexes.html5Email.source });
/** As it is written: a URL reads `0123` as an address. What is no URL has another fault. */
function namesReachableHost(text: string): boolean {
  const [, host = ''] = /^(?:[a-z][a-z0-9+.-]*:\/\/)?(?:[^/?#]*@)?(\[[^\]]*\]|[^:/?#]*)/i.exec(text) ?? [];
  return !isUnreachableHost(host);
}
const unreachableHost = 'must name a host that the platform can reach';
const url = line()
  .refine((text) => {
    if (!URL.canParse(text)) return false;
    const { protocol, hostname } = new URL(text);
    return (protocol === 'https:' || protocol === 'http:') && hostname !== '' && !/\s/.test(text);
  }, 'must be a URL that begins with https:// or http://')
  .refine(namesReachableHost, unreachableHost)
  .meta({ pattern: '^[Hh][Tt][Tt][Pp][Ss]?://\\S+$' });
/** A collector is named by a URL, or by host and port. */
const endpoint = line()
  .refine((text) => {
    const whole = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
    return !/\s/.test(text) && URL.canParse(whole) && new URL(whole).hostname !== '';
  }, 'must be a URL or host:port')
  .refine(namesReachableHost, unreachableHost)
  .meta({ pattern: '^\\S+$' });
const region = like(/^[a-z]+(?:-[a-z]+)+\d+$/, 'must be a region such as europe-west4');
const zone = like(/^[a-z]+(?:-[a-z]+)+\d+-[a-z][a-z0-9]*$/, 'must be a zone such as europe-west4-a');
const projectId = like(/^[a-z][a-z0-9-]{4,28}[a-z0-9]$/, 'must be a project id: 6 to 30 of a-z, 0-9 and -');
const duration = like(/^/, '')
  .refine(
    (text) => parseDuration(text) !== undefined,
    'must be a positive duration such as 90m, 2h, 1h30m or 2d, at most 366d',
  )
  .meta({ pattern: durationPattern });

const registryTypes = ['local-container', 'artifact-registry', 'forge1'] as const;

export const flags = {
  /* Core and cloud */
  projectName: {
    kind: 'string',
    group: 'core',
    help: 'Name of the cloud project to make, unique among the living bootstraps.',
    required: true,
    onResume: 'fixed',
    schema: like(
      /^(?=.*[A-Za-z0-9])[A-Za-z0-9 '"!-]{4,30}$/,
      'must have 4 to 30 characters: letters, digits, spaces, hyphens, quotes and exclamation marks',
    ),
  },
  billingAccount: {
    kind: 'string',
    group: 'core',
    help: 'Billing account ID that the project is charged to.',
    required: true,
    onResume: 'applies',
    schema: like(
      /^(?:billingAccounts\/)?[0-9A-F]{6}(?:-[0-9A-F]{6}){2}$/i,
      'must be a billing account ID, such as 012345-6789AB-CDEF01',
    )
      .transform((text) => text.replace('billingAccounts/', '').toUpperCase())
      .meta({ pattern: '^(?:billingAccounts/)?[0-9A-Fa-f]{6}(?:-[0-9A-Fa-f]{6}){2}$' }),
  },
  baseDomain: {
    kind: 'string',
    group: 'core',
    help: 'Base domain of the platform.',
    required: true,
    onResume: 'fixed',
    schema: domain,
  },
  folderId: {
    kind: 'string',
    group: 'core',
    help: "Cloud folder ID that the project is made in. Without one it is made in the deployment's default parent.",
    onResume: 'fixed',
    schema: like(/^(?:folders\/)?\d+$/, 'must be the number of a folder').transform((text) =>
      text.replace('folders/', ''),
    ),
  },
  region: {
    kind: 'string',
    group: 'core',
    help: 'Region. When only --zone is given, the region is that of the zone.',
    default: 'europe-west4',
    onResume: 'fixed',
    schema: region,
  },
  zone: {
    kind: 'string',
    group: 'core',
    help: 'Zone. When only --region is given, the zone is the first one of the region.',
    default: 'europe-west4-a',
    onResume: 'fixed',
    schema: zone,
  },
  projectTtl: {
    kind: 'string',
    group: 'core',
    help: 'Time to live of the project, such as 90m, 2h, 1h30m or 2d, at most 366d. Cleanup removes it afterwards.',
    default: '2h',
    onResume: 'applies',
    schema: duration,
  },
  rootDiskSize: {
    kind: 'int',
    group: 'core',
    help: "Size of every instance's root disk in GB.",
    default: 50,
    onResume: 'fixed',
    schema: z
      .int('must be a whole number of GB')
      .min(10, 'must be at least 10 GB')
      .max(65_536, 'must be at most 65536 GB'),
  },
  preemptible: {
    kind: 'bool',
    group: 'core',
    help: 'Use preemptible VMs. Cannot be combined with --spot-vms.',
    default: false,
    onResume: 'fixed',
    schema: yesNo,
  },
  spotVms: {
    kind: 'bool',
    group: 'core',
    help: 'Use spot VMs. Where spot capacity is unavailable, plinth makes a standard VM instead. Cannot be combined with --preemptible.',
    default: false,
    onResume: 'fixed',
    schema: yesNo,
  },
  multiDc: {
    kind: 'bool',
    group: 'core',
    help: 'Bootstrap two datacenters that share one PostgreSQL server and have Kubernetes and Ceph clusters of their own: 14 VMs, about 100 vCPUs, 6 static addresses. Cannot be combined with --datacenter-id.',
    default: false,
    onResume: 'fixed',
    schema: yesNo,
  },
  datacenterId: {
    kind: 'int',
    group: 'core',
    help: 'Datacenter ID.',
    default: 1,
    onResume: 'fixed',
    schema: z
      .int('must be a whole number')
      .min(1, 'must be at least 1')
      .max(2_147_483_647, 'must be at most 2147483647'),
  },
  datacenterName: {
    kind: 'string',
    group: 'core',
    help: 'Datacenter name.',
    default: 'dev',
    onResume: 'applies',
    schema: line(63),
  },
  customPgIp: {
    kind: 'string',
    group: 'core',
    help: "IP address of a PostgreSQL server of your own, outside the project's network. plinth then makes no VM for one.",
    onResume: 'fixed',
    schema: z.union([z.ipv4(), z.ipv6()], 'must be an IP address').superRefine((address, context) => {
      const range = rangeWithoutServer(address);
      if (range !== undefined) {
        context.addIssue({ code: 'custom', message: `must be an address outside ${range}` });
      }
    }),
  },
  kubeDistroVersion: {
    kind: 'string',
    group: 'core',
    help: 'Version of the Kubernetes distribution that is used for bootstrapping.',
    default: 'v1.31.14+k0s.0',
    onResume: 'applies',
    ofInstall: true,
    schema: like(/^v\d+\.\d+\.\d+(?:[+-][0-9A-Za-z.+-]+)?$/, 'must be a version such as v1.31.14+k0s.0'),
  },

  /* DNS and certificates */
  dnsProjectId: {
    kind: 'string',
    group: 'dns',
    help: 'Cloud project ID of the DNS service. Without one the zone is in the new project.',
    onResume: 'fixed',
    schema: projectId,
  },
  dnsZoneName: {
    kind: 'string',
    group: 'dns',
    help: 'DNS zone name.',
    default: 'tool-testing',
    onResume: 'fixed',
    schema: like(
      /^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
      'must be the name of a DNS zone: up to 63 of a-z, 0-9 and -, beginning with a letter',
    ),
  },
  acmeStaging: {
    kind: 'bool',
    group: 'dns',
    help: 'Use the staging endpoint of the public ACME certificate authority. Browsers do not trust its certificates.',
    default: false,
    onResume: 'applies',
    schema: yesNo,
  },
  cloudAcmeIssuer: {
    kind: 'bool',
    group: 'dns',
    help: "Use the cloud provider's public CA as ACME issuer instead of the default one. Its external account binding credentials are obtained automatically.",
    default: false,
    onResume: 'applies',
    schema: yesNo,
  },

  /* Installation */
  installConfig: {
    kind: 'string',
    group: 'installation',
    help: 'Path to the install config file.',
    default: 'config.yaml',
    onResume: 'local',
    schema: path,
  },
  installHash: {
    kind: 'string',
    group: 'installation',
    help: 'Package hash to install.',
    onResume: 'applies',
    ofInstall: true,
    schema: line(128),
  },
  installLocal: {
    kind: 'string',
    group: 'installation',
    help: 'Install from a local package.',
    onResume: 'applies',
    ofInstall: true,
    file: true,
    schema: path,
  },
  installVersion: {
    kind: 'string',
    group: 'installation',
    help: 'Platform version to install.',
    onResume: 'applies',
    ofInstall: true,
    schema: line(128),
  },
  installSkipSteps: {
    kind: 'list',
    group: 'installation',
    help: 'Installation steps to skip.',
    default: [],
    short: 's',
    onResume: 'applies',
    ofInstall: true,
    schema: lines,
  },
  writeConfig: {
    kind: 'bool',
    group: 'installation',
    help: 'Write the generated install config and secrets to files.',
    default: true,
    onResume: 'local',
    schema: yesNo,
  },
  recoverConfig: {
    kind: 'bool',
    group: 'installation',
    help: 'Recover the install config from the jumpbox. Overwrites the local one. What is recovered wins over other flags.',
    default: false,
    onResume: 'local',
    schema: yesNo,
  },
  remoteCliBinary: {
    kind: 'string',
    group: 'installation',
    help: 'Path to a local Linux amd64 binary of plinth that is copied to the jumpbox and used there, instead of downloading a release.',
    onResume: 'applies',
    ofInstall: true,
    file: true,
    schema: path,
  },
  pcAppsValues: {
    kind: 'list',
    group: 'installation',
    help: 'pc-apps values YAML file, passed unchanged to the installation.',
    default: [],
    onResume: 'applies',
    ofInstall: true,
    file: true,
    schema: lines,
  },
  featureFlags: {
    kind: 'list',
    group: 'installation',
    help: 'Feature flags to enable.',
    default: [],
    onResume: 'applies',
    schema: lines,
  },
  internalFlags: {
    kind: 'list',
    group: 'installation',
    help: 'Internal flags to enable. An empty value enables none.',
    default: ['headless-services', 'vcluster', 'custom-service-image', 'ms-in-ls'],
    onResume: 'applies',
    schema: lines,
  },
  previewFlags: {
    kind: 'list',
    group: 'installation',
    help: 'Preview flags to enable. An empty value enables none.',
    default: [
      'openfga-authz',
      'cluster-admin',
      'secret-management',
      'sub-path-mount',
      'workspace-ssh',
      'virtual-machines',
    ],
    onResume: 'applies',
    schema: lines,
  },
  clusterAdminEmail: {
    kind: 'string',
    group: 'installation',
    help: 'E-mail address of the initial cluster admin. It is written to the install config, and applied as the cluster-admin-email secret before the platform is installed.',
    onResume: 'applies',
    ofInstall: true,
    schema: email,
  },
  createTestUser: {
    kind: 'bool',
    group: 'installation',
    help: 'Create a test user with an API token on the bootstrapped instance, for smoke tests.',
    default: false,
    onResume: 'applies',
    ofInstall: true,
    schema: yesNo,
  },
  timer: {
    kind: 'bool',
    group: 'installation',
    help: 'Show how long each step took after it finishes.',
    default: false,
    onResume: 'local',
    schema: yesNo,
  },
  help: {
    kind: 'bool',
    group: 'installation',
    help: 'Print this help.',
    default: false,
    short: 'h',
    onResume: 'local',
    schema: yesNo,
  },

  /* Registry */
  registryType: {
    kind: 'string',
    group: 'registry',
    help: 'Container registry: local-container, artifact-registry or forge1.',
    default: 'forge1',
    onResume: 'fixed',
    schema: z.enum(registryTypes, `must be one of ${registryTypes.join(', ')}`),
  },
  registryUser: {
    kind: 'string',
    group: 'registry',
    help: 'Username for the forge1 image registry. Required for registry type forge1, and for local-container when installing. There, with --forge1-pat, it mirrors the platform images into the local registry.',
    onResume: 'applies',
    ofInstall: true,
    schema: line(256),
  },
  airgapped: {
    kind: 'bool',
    group: 'registry',
    help: 'Airgapped install: run a local container registry on the jumpbox, copy the package images into it and point the install config at it. Selects registry type local-container.',
    default: false,
    onResume: 'fixed',
    schema: yesNo,
  },

  /* Source-code hosting and OAuth providers */
  forge1AppClientId: {
    kind: 'string',
    group: 'forges',
    help: 'Client ID of the forge1 app.',
    required: true,
    onResume: 'applies',
    schema: line(),
  },
  forge1AppClientSecret: {
    kind: 'string',
    group: 'forges',
    help: 'Client secret of the forge1 app.',
    required: true,
    secret: true,
    onResume: 'applies',
    schema: secretValue,
  },
  forge1AppName: {
    kind: 'string',
    group: 'forges',
    help: 'Name of the forge1 app.',
    onResume: 'applies',
    schema: line(256),
  },
  forge1Pat: {
    kind: 'string',
    group: 'forges',
    help: "forge1 personal access token, for direct image access and for fetching a team's SSH keys. Scopes: read:packages, read:org. Required with --forge1-team-org and --forge1-team-slug, and for registry type local-container when installing.",
    secret: true,
    onResume: 'applies',
    schema: secretValue,
  },
  forge1TeamOrg: {
    kind: 'string',
    group: 'forges',
    help: 'forge1 organization of the team whose SSH keys are fetched. Used with --forge1-team-slug. Needs --forge1-pat with at least read:org.',
    onResume: 'applies',
    schema: line(256),
  },
  forge1TeamSlug: {
    kind: 'string',
    group: 'forges',
    help: 'Slug of the forge1 team whose SSH keys are fetched. Used with --forge1-team-org. Needs --forge1-pat with at least read:org.',
    onResume: 'applies',
    schema: line(256),
  },
  forge2AppClientId: {
    kind: 'string',
    group: 'forges',
    help: 'Client ID of the forge2 app.',
    onResume: 'applies',
    schema: line(),
  },
  forge2AppClientSecret: {
    kind: 'string',
    group: 'forges',
    help: 'Client secret of the forge2 app.',
    secret: true,
    owner: 'forge2AppClientId',
    onResume: 'applies',
    schema: secretValue,
  },
  forge3AppClientId: {
    kind: 'string',
    group: 'forges',
    help: 'Client ID of the forge3 app.',
    onResume: 'applies',
    schema: line(),
  },
  forge3AppClientSecret: {
    kind: 'string',
    group: 'forges',
    help: 'Client secret of the forge3 app.',
    secret: true,
    owner: 'forge3AppClientId',
    onResume: 'applies',
    schema: secretValue,
  },
  forge4AppClientId: {
    kind: 'string',
    group: 'forges',
    help: 'Client ID of the forge4 app.',
    onResume: 'applies',
    schema: line(),
  },
  forge4AppClientSecret: {
    kind: 'string',
    group: 'forges',
    help: 'Client secret of the forge4 app.',
    secret: true,
    owner: 'forge4AppClientId',
    onResume: 'applies',
    schema: secretValue,
  },
  oidcClientId: {
    kind: 'string',
    group: 'forges',
    help: 'Client ID at the OIDC provider.',
    onResume: 'applies',
    schema: line(),
  },
  oidcClientSecret: {
    kind: 'string',
    group: 'forges',
    help: 'Client secret at the OIDC provider.',
    secret: true,
    owner: 'oidcClientId',
    onResume: 'applies',
    schema: secretValue,
  },
  oidcIssuerUrl: {
    kind: 'string',
    group: 'forges',
    help: 'Issuer URL of the OIDC provider.',
    onResume: 'applies',
    schema: url,
  },
  oidcProviderName: {
    kind: 'string',
    group: 'forges',
    help: 'Display name of the OIDC provider.',
    onResume: 'applies',
    schema: line(256),
  },

  /* Secrets store */
  vaultUri: {
    kind: 'string',
    group: 'vault',
    help: 'URI of the secrets store.',
    onResume: 'applies',
    schema: url,
  },
  vaultUser: {
    kind: 'string',
    group: 'vault',
    help: 'Username for the secrets store.',
    default: 'admin',
    onResume: 'applies',
    schema: line(256),
  },
  vaultPassword: {
    kind: 'string',
    group: 'vault',
    help: 'Password for the secrets store.',
    secret: true,
    owner: 'vaultUri',
    onResume: 'applies',
    schema: secretValue,
  },
  vaultEngine: {
    kind: 'string',
    group: 'vault',
    help: 'Engine name in the secrets store.',
    default: 'cs-secrets-engine',
    onResume: 'applies',
    schema: line(256),
  },
  secretsDir: {
    kind: 'string',
    group: 'vault',
    help: 'Directory for secrets on the jumpbox.',
    default: '/etc/platform/secrets',
    onResume: 'applies',
    schema: like(
      /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._@+-]+)+$/,
      'must be an absolute path on the jumpbox, without . and .., such as /etc/platform/secrets',
    ),
  },
  secretsFile: {
    kind: 'string',
    group: 'vault',
    help: 'Path to the secrets file.',
    default: 'prod.vault.yaml',
    onResume: 'local',
    schema: path,
  },

  /* Observability */
  centralOtelEndpoint: {
    kind: 'string',
    group: 'observability',
    help: 'Central OpenTelemetry collector endpoint. Needed when spans are sent centrally.',
    onResume: 'applies',
    schema: endpoint,
  },
  centralOtelUsername: {
    kind: 'string',
    group: 'observability',
    help: 'Username for the central OpenTelemetry collector.',
    onResume: 'applies',
    schema: line(256),
  },
  centralOtelPassword: {
    kind: 'string',
    group: 'observability',
    help: 'Password for the central OpenTelemetry collector.',
    secret: true,
    owner: 'centralOtelEndpoint',
    onResume: 'applies',
    schema: secretValue,
  },
  centralOtelSpanMetrics: {
    kind: 'bool',
    group: 'observability',
    help: 'Enable span metrics in the central export.',
    default: false,
    onResume: 'applies',
    schema: yesNo,
  },
  localTraceEndpoint: {
    kind: 'string',
    group: 'observability',
    help: 'Endpoint for exporting traces to storage in the cluster.',
    onResume: 'applies',
    schema: endpoint,
  },
  externalLogstoreEndpoint: {
    kind: 'string',
    group: 'observability',
    help: 'External log store endpoint that logs are forwarded to.',
    onResume: 'applies',
    schema: endpoint,
  },
  externalLogstoreUser: {
    kind: 'string',
    group: 'observability',
    help: 'Username for log forwarding.',
    onResume: 'applies',
    schema: line(256),
  },
  externalLogstoreSecret: {
    kind: 'string',
    group: 'observability',
    help: 'Password for log forwarding, stored in the generated secrets file.',
    secret: true,
    owner: 'externalLogstoreEndpoint',
    onResume: 'applies',
    schema: secretValue,
  },
  metricsRemoteWriteUrl: {
    kind: 'string',
    group: 'observability',
    help: 'URL that metrics are written to.',
    onResume: 'applies',
    schema: url,
  },
  metricsRemoteWriteUser: {
    kind: 'string',
    group: 'observability',
    help: 'Username for the metrics remote write.',
    onResume: 'applies',
    schema: line(256),
  },
  metricsRemoteWritePassword: {
    kind: 'string',
    group: 'observability',
    help: 'Password for the metrics remote write, stored in the generated secrets file.',
    secret: true,
    owner: 'metricsRemoteWriteUrl',
    onResume: 'applies',
    schema: secretValue,
  },

  /* SSH */
  sshPrivateKeyPath: {
    kind: 'string',
    group: 'ssh',
    help: 'Path of the SSH private key.',
    default: '~/.ssh/id_rsa',
    onResume: 'local',
    schema: path,
  },
  sshPublicKeyPath: {
    kind: 'string',
    group: 'ssh',
    help: 'Path of the SSH public key.',
    default: '~/.ssh/id_rsa.pub',
    onResume: 'local',
    schema: path,
  },
  sshQuiet: {
    kind: 'bool',
    group: 'ssh',
    help: 'Suppress the output of SSH commands.',
    default: false,
    onResume: 'local',
    schema: yesNo,
  },

  /* Inherited */
  verbose: {
    kind: 'bool',
    group: 'inherited',
    help: 'Enable verbose output: cloud calls and retries.',
    default: false,
    onResume: 'local',
    schema: yesNo,
  },
} as const satisfies Record<string, Flag>;

/* Types */

type Table = typeof flags;
export type Option = keyof Table;
type OptionsWhere<Row> = { [K in Option]: Table[K] extends Row ? K : never }[Option];

export type LocalOption = OptionsWhere<{ onResume: 'local' }>;
export type SecretOption = OptionsWhere<{ secret: true }>;
type FileOption = OptionsWhere<{ file: true }>;
/** Options of the bootstrap itself. They are sent, and may be shown. */
type OpenOption = Exclude<Option, LocalOption | SecretOption>;

type Value<K extends Option> = Readonly<z.output<Table[K]['schema']>>;
type Present = OptionsWhere<{ required: true } | { default: unknown }>;
type Resolved<K extends Option> = { readonly [O in K & Present]: Value<O> } & {
  readonly [O in Exclude<K, Present>]?: Value<O> | undefined;
};
/** Spelled out, so that editors show the fields and not the derivation. */
type Flat<T> = { [K in keyof T]: T[K] };

/** The resolved options of a bootstrap: defaults applied, without local options and without secrets. */
export interface BootstrapOptions extends Flat<Resolved<OpenOption>> {}
/** The resolved options that concern only the caller's machine. */
export interface LocalOptions extends Flat<Resolved<LocalOption>> {}
/** The secrets that were given. */
export type SecretOptions = Flat<{ readonly [K in SecretOption]?: Value<K> | undefined }>;

/** What a request carries: only options that were given, secrets included, local ones never. */
export type GivenOptions = Flat<{ readonly [K in OpenOption | SecretOption]?: Value<K> | undefined }>;
/** The options that were given on the command line. */
export type GivenFlags = Flat<{ readonly [K in Option]?: Value<K> | undefined }>;

/* Readers */

export const optionNames = Object.keys(flags) as readonly Option[];
export const flagOf = (option: Option): Flag => flags[option];

export const isLocal = (option: Option): option is LocalOption => flagOf(option).onResume === 'local';
export const isSecret = (option: Option): option is SecretOption => flagOf(option).secret === true;
const isFile = (option: Option): option is FileOption => flagOf(option).file === true;
export const fileOptions: readonly FileOption[] = optionNames.filter(isFile);

/** The options of what is installed, the package's own among them. */
export const installOptions: readonly Option[] = optionNames.filter((option) => flagOf(option).ofInstall === true);

/** The value names a file or folder on the caller's machine, so shells complete it as a path. */
export const isPath = (option: Option): boolean => isFile(option) || flagOf(option).schema === path;

/** `datacenterId` → `datacenter-id`. */
const kebab = (option: string): string => option.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
/** `--datacenter-id`: the name of an option in messages and faults. */
export const flagName = (option: Option): `--${string}` => `--${kebab(option)}`;
/** `PLINTH_FORGE1_PAT`: the environment variable that may supply a secret. */
export const variableOf = (option: SecretOption): string =>
  `PLINTH_${kebab(option).replaceAll('-', '_').toUpperCase()}`;

/** The option that a secret belongs to, if it is a single one. */
export const ownerOf = (option: SecretOption): Option | undefined => flagOf(option).owner as Option | undefined;

export const redacted = '<secret>';
/** A shorter secret occurs in ordinary words by chance. It is redacted only where it stands alone. */
export const shortestHidden = 6;

/** The same record with secret values redacted, for showing and logging. */
export function redactOptions<T extends Readonly<Record<string, unknown>>>(
  given: T,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      value !== undefined && Object.hasOwn(flags, name) && isSecret(name as Option) ? redacted : value,
    ]),
  );
}
