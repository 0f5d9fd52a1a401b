/**
 * All settings of the functions, which read process.env only here. Docs and terraform list the table below: each variable
 * once, with its meaning and default.
 */
import * as z from 'zod';
import { LoadBalancers, MachineAccess } from '../shared/bootstrap/bootstrap.js';
import { AmountText, microsOf } from '../shared/bootstrap/money.js';
import { iapTunnelUrl } from '../shared/iap.js';
import { isLoopback } from '../shared/loopback.js';
import { asciiLowerCased, Email } from '../shared/organization/email.js';
import { type Fault, Problem } from '../shared/problems.js';
import type { Releases } from '../shared/release.js';
import { accessFaults, SourceRanges, sourceRangesOf } from '../shared/source-ranges.js';
import { sshProxyForm, sshProxyRule } from '../shared/ssh-proxy.js';
import { PricesSetting, type PriceTable } from './cost/prices.js';
import { type Pool, PoolsSetting, poolFaults } from './pools/setting.js';
import { readHeaders, tracesUrl } from './tracing/tracing.js';
import { isRefusedHost } from './webhook/target.js';

/** The bundler inserts it, because only the bundler knows the executable built from the same sources. */
declare const PLINTH_RELEASE_SHA256: string | undefined;
const builtSha256 = typeof PLINTH_RELEASE_SHA256 === 'string' ? PLINTH_RELEASE_SHA256 : undefined;

/** APIs that plinth calls. The base URL of each is a setting. */
export const googleApis = [
  'cloudresourcemanager',
  'cloudbilling',
  'serviceusage',
  'iam',
  'compute',
  'dns',
  'artifactregistry',
  'secretmanager',
  'publicca',
  'cloudquotas',
  'pubsub',
  'cloudscheduler',
  'storage',
  'iamcredentials',
  'orgpolicy',
  'oslogin',
] as const;
export type GoogleApi = (typeof googleApis)[number];

export interface Config {
  /** The project that plinth itself runs in. */
  readonly project: string;
  /** Written into labels. Cleanup touches only its own deployment. */
  readonly deployment: string;
  /** The deployed release, by the name of its folder in the release bucket. Undefined: not known. */
  readonly release?: string;
  /** The identity to ask the metadata server for: `default` or an e-mail. */
  readonly serviceAccount: string;
  /** Base URL of each API, without a trailing slash: `https://compute.googleapis.com`. */
  readonly endpoints: Readonly<Record<GoogleApi, string>>;
  readonly firestore: { readonly database: string; readonly emulatorHost?: string };
  readonly pubsubEmulatorHost?: string;
  /** `folders/…` or `organizations/…`. Undefined: `--folder-id` must be given. */
  readonly defaultParent?: string;
  readonly auth: {
    readonly issuer: string;
    readonly jwksUrl: string;
    readonly audiences: readonly string[];
    readonly operators: readonly string[];
  };
  /** Who may bootstrap. If all are empty, only operators may. `domains` are compared with the `hd` claim. */
  readonly bootstrappers: { readonly emails: readonly string[]; readonly domains: readonly string[] };
  /** True: a migration needs an admin of the team, besides one of the organization. A team with living projects always does. */
  readonly migrationConsent: boolean;
  /** Who may make organizations. If neither is set, only operators may. `domains` are compared with the `hd` claim. */
  readonly organizationCreators: { readonly anyone: boolean; readonly domains: readonly string[] };
  /** `*` allows all. */
  readonly allowed: {
    readonly billingAccounts: readonly string[];
    readonly parents: readonly string[];
    /** `<project>/<zone>`, or `*` for all. Zones in the bootstrap's own project are always allowed. */
    readonly dnsZones: readonly string[];
  };
  readonly limits: {
    readonly livingPerOwner: number;
    readonly livingInAll: number;
    /** 0: no limit. */
    readonly changesPerMinute: number;
    readonly maxTtlSeconds?: number;
  };
  /** Of prepared projects. */
  readonly pools: readonly Pool[];
  /** What may be spent, in whole micro-units of USD. */
  readonly ceilings: {
    /** By one bootstrap in an hour. */
    readonly microsAnHour?: number;
    readonly monthOfOwner?: number;
    /** By all bootstraps in a month. */
    readonly month?: number;
    /** What becomes of a bootstrap without a price while there is a ceiling. */
    readonly withoutPrice: 'refuse' | 'allow';
    /** What happens to a bootstrap that comes to cost more than it may. `stop`: its VMs are stopped, and kept. */
    readonly beyond: 'warn' | 'stop';
  };
  /** The role that the caller gets on their project. */
  readonly callerRole: string;
  /** Role of the nodes on a zone of another project that is for their domain itself. Undefined: they get none. */
  readonly nodesZoneRole?: string;
  /** Resolver for looks at the DNS, as `<IPv4>[:<port>]`. Name servers are asked at the same port. Undefined: the machine's. */
  readonly dnsResolver?: string;
  /** Of new VMs' boot disks, as `projects/<project>/global/images/[family/]<name>`. */
  readonly vmImage: string;
  /** Requests for quota that a project lacks. Without a contact nothing is asked. `waitSeconds`: how long answers are awaited. */
  readonly quota: { readonly contact?: string; readonly waitSeconds: number };
  /** How machines of new bootstraps are reached. */
  readonly machineAccess: MachineAccess;
  /** `wss://host/v4` */
  readonly iapTunnelUrl: string;
  /** From which the jumpbox takes SSH where it has a public address. Empty: nobody said. */
  readonly sshSourceRanges: readonly string[];
  /** Of the platforms of new bootstraps. */
  readonly loadBalancers: LoadBalancers;
  /** Whether bootstraps go on to the machines. */
  readonly hosts: boolean;
  /** Base URL of the releases of k0s: `<version>/k0s-<version>-amd64` and `sha256sums.txt` beneath it. */
  readonly k0sReleasesUrl: string;
  /** HTTP CONNECT proxy for connections to machines: `http://host:port`. */
  readonly sshProxy?: string;
  /** Base URL of forge1's API, for team keys. */
  readonly forge1ApiUrl: string;
  /** Base URLs of registries, as machines and nodes reach them. */
  readonly registryUrls: {
    readonly forge1: string;
    /** Undefined: the region's host, `https://<region>-docker.pkg.dev`. */
    readonly artifactRegistry?: string;
  };
  /** Base URLs that go into the install config. */
  readonly forgeUrls: Readonly<Record<'forge1' | 'forge2' | 'forge3' | 'forge4', string>>;
  readonly acmeDirectories: {
    readonly default: string;
    readonly defaultStaging: string;
    readonly cloud: string;
    readonly cloudStaging: string;
  };
  /** Where machines fetch plinth's own executable, and the SHA-256 they check it against. */
  readonly releases: Releases;
  /** Prices with a date, for estimates of cost. */
  readonly prices: PriceTable;
  /** The page for people. Undefined: there is none. Both URLs as browsers reach them, without a path. */
  readonly console?: {
    /** Of the OAuth client of type Web. */
    readonly clientId: string;
    /** Of the function `api`, which serves the page. */
    readonly url: string;
    readonly bootstrapsUrl: string;
  };
  /** Gets notices about ends that are near and about migrations of teams. Undefined: nothing is sent. */
  readonly webhookUrl?: string;
  /** Bucket of the installer packages. Undefined: nothing can be installed by version or hash. */
  readonly packagesBucket?: string;
  /** Bucket of big files on their way to jumpboxes. Undefined: they go through IAP like small ones. */
  readonly uploadsBucket?: string;
  /** Of the function `check`. Undefined: what it would answer is unknown. */
  readonly checkUrl?: string;
  /** The identity that Cloud Scheduler calls with. */
  readonly schedulerInvoker: string;
  /** Region of the Cloud Scheduler jobs in plinth's own project. */
  readonly schedulerRegion: string;
  /** Where traces are sent. Undefined: nowhere. */
  readonly traces?: { readonly url: string; readonly headers: Readonly<Record<string, string>> };
}

const text = z.string();
const bucketName = text.regex(/^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$/, 'must be the name of a bucket');
const list = z
  .string()
  .transform((value) => value.split(',').map((each) => each.trim()))
  .transform((values) => values.filter((each) => each !== ''));
const emails = list.pipe(z.array(Email));
const domains = list.transform((values) => values.map(asciiLowerCased));
const count = z
  .string()
  .regex(/^\d{1,9}$/, 'must be a whole number')
  .transform(Number);
/** A function that calls its own metadata server would tell it what only the receiver is to know. */
const secureUrl = z
  .string()
  .refine((value) => {
    if (!URL.canParse(value)) return false;
    const { protocol, hostname } = new URL(value);
    return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
  }, 'must be an https URL (plain http is for loopback only)')
  .refine(
    (value) => !URL.canParse(value) || !isRefusedHost(new URL(value).hostname),
    'must not be the metadata server, another link-local address, or this computer by another address than 127.0.0.1 or ::1',
  );
const url = secureUrl.transform((value) => value.replace(/\/+$/, ''));
/** A folder of a bucket, or of any web server. */
const releasesUrl = z.union([
  z
    .string()
    .transform((value) => value.replace(/\/+$/, ''))
    .refine((value) => /^gs:\/\/[a-z0-9][a-z0-9._-]{1,220}[a-z0-9](\/[\w.-]+)*$/.test(value), {
      message: 'must be gs://<bucket>/<folder> or an https URL',
    }),
  url,
]);
/** As browsers name the origin of a page, and as names of images begin. */
const origin = url.refine((value) => new URL(value).pathname === '/', 'must have no path');
/** Traffic through the proxy is encrypted end to end, so plain http is fine. */
const proxy = z
  .string()
  .regex(sshProxyForm, sshProxyRule)
  .transform((value) => value.replace(/\/$/, ''));
const amount = AmountText.transform(microsOf);
const hostPort = z.string().regex(/^[\w.-]+:\d+$|^\[[\da-f:]+\]:\d+$/i, 'must be host:port');

const webSocketUrl = z
  .string()
  .refine((value) => secureUrl.safeParse(value.replace(/^ws/, 'http')).success && /^wss?:/.test(value), {
    message: 'must be a wss URL (plain ws is for loopback only)',
  })
  .transform((value) => value.replace(/\/+$/, ''));

interface Setting<T = unknown> {
  /** One or two sentences for the reference page. */
  readonly help: string;
  readonly schema: z.ZodType<T, string>;
  /** In the form of the environment. Without a default, the setting is `required` or may be undefined. */
  readonly default?: string;
  readonly required?: true;
}
const setting = <T>(
  schema: z.ZodType<T, string>,
  help: string,
  fallback: string,
): Setting<T> & { default: string } => ({
  help,
  schema,
  default: fallback,
});
const optional = <T>(schema: z.ZodType<T, string>, help: string): Setting<T> => ({ help, schema });
const required = <T>(schema: z.ZodType<T, string>, help: string): Setting<T> & { required: true } => ({
  help,
  schema,
  required: true,
});

const endpointVariable = (api: GoogleApi) => `PLINTH_ENDPOINT_${api.toUpperCase() as Uppercase<GoogleApi>}` as const;
const endpoint = (api: GoogleApi) => setting(url, `Base URL of Google's ${api} API.`, `https://${api}.googleapis.com`);

export const settings = {
  PLINTH_PROJECT: required(
    text.regex(/^[a-z][a-z0-9-]{4,28}[a-z0-9]$/, 'must be a project id'),
    'The project that plinth itself runs in.',
  ),
  PLINTH_DEPLOYMENT: required(
    text.regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'must do as a label value'),
    'Name of this deployment, written into the labels of what it makes.',
  ),
  PLINTH_RELEASE: optional(
    text.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, 'must be the name of a release'),
    'Name of the release that was deployed, which `/health` tells. Unset: it is not told.',
  ),
  PLINTH_SERVICE_ACCOUNT: setting(text, 'Identity to ask the metadata server for: `default`, or an e-mail.', 'default'),
  PLINTH_FIRESTORE_DATABASE: setting(text, 'Id of the Firestore database.', '(default)'),
  FIRESTORE_EMULATOR_HOST: optional(hostPort, "host:port of Firestore's emulator, in its place."),
  PUBSUB_EMULATOR_HOST: optional(hostPort, "host:port of Pub/Sub's emulator, in its place."),
  PLINTH_DEFAULT_PARENT: optional(
    text.regex(/^(?:folders|organizations)\/\d+$/, 'must be folders/<number> or organizations/<number>'),
    'Where projects are made when no `--folder-id` is given.',
  ),
  PLINTH_ISSUER: setting(url, 'Issuer of the ID tokens of callers.', 'https://accounts.google.com'),
  PLINTH_JWKS_URL: setting(url, "Where the issuer's keys are.", 'https://www.googleapis.com/oauth2/v3/certs'),
  PLINTH_AUDIENCES: setting(
    list,
    'Audiences that tokens may be made for: the endpoints, and the OAuth client of people. Unset: no token is accepted.',
    '',
  ),
  PLINTH_OPERATORS: setting(emails, 'E-mails of operators, who may do what an owner may, everywhere.', ''),
  PLINTH_BOOTSTRAPPERS: setting(
    emails,
    'E-mails of people and service accounts that may bootstrap. With no domain either: operators only.',
    '',
  ),
  PLINTH_BOOTSTRAPPER_DOMAINS: setting(domains, 'Workspace domains (the `hd` claim) whose people may bootstrap.', ''),
  PLINTH_ORGANIZATION_CREATORS: setting(
    domains,
    'Workspace domains (the `hd` claim) whose people may make organizations; `anyone`: every caller. Unset: operators only.',
    '',
  ),
  PLINTH_MIGRATION_CONSENT: optional(
    z.enum(['on', 'off'], 'must be on or off'),
    'Whether migrating a team takes the consent of an admin of the team. `off`: any admin of an organization may migrate a team there that has no living projects. Unset: `on` where others than operators may make organizations (`PLINTH_ORGANIZATION_CREATORS`), else `off`.',
  ),
  PLINTH_BILLING_ACCOUNTS: setting(list, 'Billing accounts that may be used; `*`: any. Unset: none.', ''),
  PLINTH_PARENTS: setting(
    list,
    'Folders and organizations that projects may be made in; `*`: any. Unset: the default parent alone.',
    '',
  ),
  PLINTH_DNS_ZONES: setting(
    list,
    'DNS zones outside of the own project that may be written, as `<project>/<zone>`; `*`: any. Unset: none.',
    '',
  ),
  PLINTH_LIVING_PER_OWNER: setting(count, 'How many bootstraps one owner may have at once.', '3'),
  PLINTH_LIVING_IN_ALL: setting(count, 'How many bootstraps there may be at once, in all.', '20'),
  PLINTH_CHANGES_PER_MINUTE: setting(
    count,
    'How often in a minute one caller may make, invite, hand on or preview: bootstraps, organizations, teams, members. Operators may do so as often as they like. 0: no limit.',
    '120',
  ),
  PLINTH_MAX_TTL_SECONDS: optional(
    count,
    'The longest time to live that may be asked for, by `extend` and `protect`, too. No project lives longer than 366 days in any case. Unset: no other ceiling.',
  ),
  PLINTH_POOLS: setting(
    PoolsSetting,
    'Pools of projects that are prepared before anybody asks for one, as a JSON list: parent, billingAccount, region, size, and maxAge (default 7d). Unset: none.',
    '',
  ),
  PLINTH_USD_PER_HOUR: optional(
    amount,
    'The most that one bootstrap may cost an hour, in USD, by the estimate of its plan. Unset: no ceiling.',
  ),
  PLINTH_USD_PER_MONTH_OWNER: optional(
    amount,
    'The most that the bootstraps of one owner may come to in a calendar month (UTC), in USD. `extend` and `protect` count. Unset: no ceiling.',
  ),
  PLINTH_USD_PER_MONTH: optional(
    amount,
    'The most that all bootstraps may come to in a calendar month (UTC), in USD. `extend` and `protect` count. Unset: no ceiling.',
  ),
  PLINTH_WITHOUT_PRICE: setting(
    z.enum(['refuse', 'allow'], 'must be refuse or allow'),
    'What becomes of a bootstrap that lacks a price while one of these ceilings is set. `allow`: it counts as nothing.',
    'refuse',
  ),
  PLINTH_BEYOND_CEILING: setting(
    z.enum(['warn', 'stop'], 'must be warn or stop'),
    'What happens to a bootstrap that comes to cost more than a ceiling or its `--max-cost` allows. `warn`: its owner is warned. `stop`: its VMs are stopped, too, and kept with their disks. `restart-vms` starts them again once the ceiling is raised.',
    'warn',
  ),
  PLINTH_DNS_RESOLVER: optional(
    text.regex(/^\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?$/, 'must be an IPv4 address, with or without a port'),
    "Resolver that is asked whether a domain is delegated, as `<IPv4>[:<port>]`. Name servers are asked at the same port. Unset: the machine's own, and port 53. The command line knows a variable of the same name.",
  ),
  PLINTH_QUOTA_CONTACT: optional(
    Email,
    'E-mail that Google may write to about a request for quota. plinth then asks for what a project lacks. Unset: nothing is asked, and a project that lacks quota fails at once.',
  ),
  PLINTH_QUOTA_WAIT_SECONDS: setting(count, 'How long a bootstrap waits for the answer to such a request.', '600'),
  PLINTH_NODES_ZONE_ROLE: optional(
    text.regex(
      /^(?:projects|organizations)\/[^/]+\/roles\/[A-Za-z0-9_.]{3,64}$/,
      'must be a custom role, as projects/<id>/roles/<role> or organizations/<number>/roles/<role>',
    ),
    "Custom role of the nodes on a DNS zone of another project that is for their domain itself. Whoever has a node can then change that zone's names. Unset: they get none, and certificates by DNS fail there.",
  ),
  PLINTH_CALLER_ROLE: setting(
    text.regex(/^(?:roles|projects\/[^/]+\/roles|organizations\/\d+\/roles)\/[\w.]+$/, 'must be a role'),
    'Role that the owner gets on their own project. With `roles/editor` they make what they like there, on your bill, and act as its service accounts. Who is invited never gets more.',
    'roles/editor',
  ),
  PLINTH_VM_IMAGE: setting(
    text.regex(
      /^projects\/[a-z0-9:.-]+\/global\/images\/(?:family\/)?[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
      'must be an image, as projects/<project>/global/images/family/<family> or projects/<project>/global/images/<image>',
    ),
    'Image of new VMs: Ubuntu 22.04, or one made from it. Its project gives `plinth-run-cloud-step` the role `roles/compute.imageUser`.',
    'projects/ubuntu-os-cloud/global/images/family/ubuntu-2204-lts',
  ),
  PLINTH_MACHINE_ACCESS: required(
    MachineAccess,
    'How functions and people reach the machines of new bootstraps. `iap`: through Identity-Aware Proxy. The jumpbox has no public address, and port 22 is open to IAP alone. `direct`: the jumpbox has a public address, and port 22 is open to `PLINTH_SSH_SOURCE_RANGES`. A bootstrap keeps what it began with.',
  ),
  PLINTH_IAP_TUNNEL_URL: setting(webSocketUrl, 'Where IAP takes the WebSockets of tunnels to machines.', iapTunnelUrl),
  PLINTH_SSH_SOURCE_RANGES: setting(
    SourceRanges,
    'Ranges from which the jumpbox takes SSH with `PLINTH_MACHINE_ACCESS=direct`, as `203.0.113.7/32` or `2001:db8::/32`. Each begins with its first address. The functions need addresses among them, and so do the people. A standing bootstrap takes other ranges with its next run.',
    '',
  ),
  PLINTH_MACHINE_ACCESS_OPEN: setting(
    z.enum(['on', 'off'], 'must be on or off'),
    'Whether port 22 of the jumpbox may be open to everybody with `PLINTH_MACHINE_ACCESS=direct`: without ranges, or with `0.0.0.0/0` or `::/0` among them. `off` refuses both.',
    'off',
  ),
  PLINTH_LOAD_BALANCERS: setting(
    LoadBalancers,
    "Load balancers of the platforms of new bootstraps. `external`: with public addresses. `internal`: with addresses of the subnet, which only the bootstrap's network and those connected to it reach. A bootstrap keeps what it began with.",
    'external',
  ),
  PLINTH_HOSTS: setting(
    z.enum(['on', 'off'], 'must be on or off'),
    'Whether bootstraps go on to the machines, over SSH; `off`: they end when the cloud resources stand.',
    'on',
  ),
  PLINTH_K0S_RELEASES_URL: setting(
    url,
    'Where machines fetch k0s: `<version>/k0s-<version>-amd64` and `<version>/sha256sums.txt` beneath it.',
    'https://github.com/k0sproject/k0s/releases/download',
  ),
  PLINTH_SSH_PROXY: optional(
    proxy,
    'HTTP CONNECT proxy for SSH to machines, as `http://host:port`: where the way out leads through one. The command line knows a variable of the same name.',
  ),
  PLINTH_FORGE1_API_URL: setting(url, "Base URL of forge1's API, where team keys are read.", 'https://api.github.com'),
  PLINTH_FORGE1_REGISTRY_URL: setting(
    origin,
    "Base URL of forge1's container registry, which nodes pull from, or the jumpbox mirrors.",
    'https://ghcr.io',
  ),
  PLINTH_ARTIFACT_REGISTRY_DOCKER_URL: optional(
    origin,
    "Base URL of Artifact Registry's Docker endpoint. Unset: that of the region, `https://<region>-docker.pkg.dev`.",
  ),
  PLINTH_FORGE1_URL: setting(url, 'Base URL of forge1, for the install config.', 'https://github.com'),
  PLINTH_FORGE2_URL: setting(url, 'Base URL of forge2, for the install config.', 'https://gitlab.com'),
  PLINTH_FORGE3_URL: setting(url, 'Base URL of forge3, for the install config.', 'https://bitbucket.org'),
  PLINTH_FORGE4_URL: setting(url, 'Base URL of forge4, for the install config.', 'https://dev.azure.com'),
  PLINTH_ACME_DIRECTORY: setting(
    url,
    'ACME directory of the default certificate authority.',
    'https://acme-v02.api.letsencrypt.org/directory',
  ),
  PLINTH_ACME_STAGING_DIRECTORY: setting(
    url,
    'Its staging directory.',
    'https://acme-staging-v02.api.letsencrypt.org/directory',
  ),
  PLINTH_CLOUD_ACME_DIRECTORY: setting(
    url,
    "ACME directory of Google's public CA.",
    'https://dv.acme-v02.api.pki.goog/directory',
  ),
  PLINTH_CLOUD_ACME_STAGING_DIRECTORY: setting(
    url,
    'Its staging directory.',
    'https://dv.acme-v02.test-api.pki.goog/directory',
  ),
  PLINTH_RELEASES_URL: optional(
    releasesUrl,
    'Base URL of the releases of plinth: machines fetch `v<version>/<its SHA-256>/plinth-linux-amd64` there. `gs://<bucket>/<folder>`: a private bucket, by signed URL. `https://…`: a mirror that needs no credentials. Terraform names the bucket of releases. Unset: only with `--remote-cli-binary`.',
  ),
  PLINTH_RELEASE_SHA256: optional(
    text.regex(/^[0-9a-f]{64}$/, 'must be 64 hex digits in lower case'),
    "SHA-256 of this version's executable there. Unset: as this build of the functions knows it.",
  ),
  PLINTH_PRICES: setting(
    PricesSetting,
    'Prices that estimates of cost go by, as one JSON object: asOf, source, currency, and by region e2VcpuHour, e2MemoryGbHour, spotE2VcpuHour, spotE2MemoryGbHour, pdSsdGbMonth, staticAddressHour, externalAddressHour, natVmHour. `asOf` is a day, or a day for each of machines, spot, disks, addresses and nat. Unset: the list prices in functions/cost/default-prices.ts.',
    '',
  ),
  PLINTH_PACKAGES_BUCKET: optional(
    bucketName,
    'Cloud Storage bucket of the installer packages, `packages/<version>/<hash>/installer[-lite].tar.gz`. Unset: nothing is installed by version or hash.',
  ),
  PLINTH_UPLOADS_BUCKET: optional(
    bucketName,
    'Cloud Storage bucket for big files of callers, on their way to jumpboxes that only IAP reaches. Its lifecycle must delete what is older than a day. Unset: these files go through IAP, slowly.',
  ),
  PLINTH_CHECK_URL: optional(
    url,
    'URL of the function `check`, which asks Google as `plinth-run-cloud-step` before a project is created. It is also the audience of tokens for it. Unset: what it would answer is unknown.',
  ),
  PLINTH_SCHEDULER_INVOKER: setting(
    text,
    'E-mail that Cloud Scheduler calls with. Unset: nobody may call sweep and cleanup.',
    '',
  ),
  PLINTH_SCHEDULER_REGION: setting(
    text.regex(/^[a-z]+-[a-z]+\d+$/, 'must be a region'),
    'Region of the Cloud Scheduler jobs of this deployment.',
    'europe-west4',
  ),
  PLINTH_WEBHOOK_URL: optional(
    secureUrl,
    "Gets the warnings before a project's time is over, and who migrated which team, signed with the secret `plinth-webhook-key`. Unset: nothing is sent.",
  ),
  PLINTH_CONSOLE_CLIENT_ID: optional(
    text.regex(/^[^\s,]+$/, 'must be the id of an OAuth client'),
    'OAuth client of type Web by which people sign in to the console. Its secret is in the secret `plinth-console-client`. Unset: there is no console.',
  ),
  PLINTH_CONSOLE_URL: optional(
    origin,
    'Base URL of `api` as browsers reach it, where the console is. Only its page may call `bootstraps` from a browser.',
  ),
  PLINTH_BOOTSTRAPS_URL: optional(origin, 'Base URL of `bootstraps` as browsers reach it, for the console.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(
    url,
    'Where traces are sent by OTLP over HTTP, `/v1/traces` beneath it; `https://telemetry.googleapis.com` is Cloud Trace. Unset: nowhere.',
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: optional(url, 'The same as the whole URL; it wins.'),
  OTEL_EXPORTER_OTLP_HEADERS: setting(
    text,
    'Headers of those exports, as `name=value,name=value`. Whoever sees the settings of a function sees them, so a collector that asks for more than Cloud Trace does is better reached without. Cloud Trace needs none.',
    '',
  ),
  PLINTH_ENDPOINT_CLOUDRESOURCEMANAGER: endpoint('cloudresourcemanager'),
  PLINTH_ENDPOINT_CLOUDBILLING: endpoint('cloudbilling'),
  PLINTH_ENDPOINT_SERVICEUSAGE: endpoint('serviceusage'),
  PLINTH_ENDPOINT_IAM: endpoint('iam'),
  PLINTH_ENDPOINT_COMPUTE: endpoint('compute'),
  PLINTH_ENDPOINT_DNS: endpoint('dns'),
  PLINTH_ENDPOINT_ARTIFACTREGISTRY: endpoint('artifactregistry'),
  PLINTH_ENDPOINT_SECRETMANAGER: endpoint('secretmanager'),
  PLINTH_ENDPOINT_PUBLICCA: endpoint('publicca'),
  PLINTH_ENDPOINT_CLOUDQUOTAS: endpoint('cloudquotas'),
  PLINTH_ENDPOINT_PUBSUB: endpoint('pubsub'),
  PLINTH_ENDPOINT_CLOUDSCHEDULER: endpoint('cloudscheduler'),
  PLINTH_ENDPOINT_STORAGE: endpoint('storage'),
  PLINTH_ENDPOINT_IAMCREDENTIALS: endpoint('iamcredentials'),
  PLINTH_ENDPOINT_ORGPOLICY: endpoint('orgpolicy'),
  PLINTH_ENDPOINT_OSLOGIN: endpoint('oslogin'),
} satisfies Record<string, Setting>;
export type SettingName = keyof typeof settings;
/** The environment of one function, as terraform would give it. */
export type Environment = Readonly<Record<string, string | undefined>>;

type Always<S> = S extends { readonly default: string } | { readonly required: true } ? true : false;
type Values = {
  readonly [Name in SettingName]:
    | z.output<(typeof settings)[Name]['schema']>
    | (Always<(typeof settings)[Name]> extends true ? never : undefined);
};

/** An empty variable counts as unset. */
function readValues(env: Environment): Values {
  const faults: Fault[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, row] of Object.entries<Setting>(settings)) {
    const given = env[name]?.trim() || row.default;
    if (given === undefined) {
      if (row.required) faults.push({ path: name, message: `is not set. ${row.help}` });
      continue;
    }
    const read = row.schema.safeParse(given);
    if (read.success) values[name] = read.data;
    else faults.push({ path: name, message: read.error.issues.map((issue) => issue.message).join('; ') });
  }
  faults.push(
    ...poolFaultsIn(values as Partial<Values>),
    ...ceilingFaults(values as Partial<Values>),
    ...accessFaults(accessOf(values as Partial<Values>)),
    ...consoleFaults(values as Partial<Values>),
  );
  if (faults.length > 0) {
    throw new Problem(
      'bad-input',
      `The settings are faulty: ${faults.map((f) => `${f.path} ${f.message}`).join('; ')}`,
      {
        errors: faults,
      },
    );
  }
  return values as Values;
}

const accessOf = (read: Partial<Values>) => ({
  machineAccess: read.PLINTH_MACHINE_ACCESS,
  ranges: read.PLINTH_SSH_SOURCE_RANGES,
  open: read.PLINTH_MACHINE_ACCESS_OPEN === 'on',
});

const poolFaultsIn = (read: Partial<Values>): Fault[] =>
  poolFaults(read.PLINTH_POOLS ?? [], {
    parents: read.PLINTH_PARENTS ?? [],
    billingAccounts: read.PLINTH_BILLING_ACCOUNTS ?? [],
    defaultParent: read.PLINTH_DEFAULT_PARENT,
  }).map((message) => ({ path: 'PLINTH_POOLS', message }));

const ceilingSettings = ['PLINTH_USD_PER_HOUR', 'PLINTH_USD_PER_MONTH_OWNER', 'PLINTH_USD_PER_MONTH'] as const;

/** Amounts of two currencies cannot be compared. */
function ceilingFaults(read: Partial<Values>): Fault[] {
  const currency = read.PLINTH_PRICES?.currency ?? 'USD';
  if (currency === 'USD') return [];
  return ceilingSettings
    .filter((name) => read[name] !== undefined)
    .map((path) => ({ path, message: `is in USD, and the prices in PLINTH_PRICES are in ${currency}` }));
}

const consoleAddresses = ['PLINTH_CONSOLE_URL', 'PLINTH_BOOTSTRAPS_URL'] as const;

function consoleFaults(read: Partial<Values>): Fault[] {
  if (read.PLINTH_CONSOLE_CLIENT_ID === undefined) return [];
  return consoleAddresses
    .filter((name) => read[name] === undefined)
    .map((path) => ({ path, message: 'is needed beside PLINTH_CONSOLE_CLIENT_ID' }));
}

function consoleOf(read: Values): Config['console'] {
  const { PLINTH_CONSOLE_CLIENT_ID: clientId, PLINTH_CONSOLE_URL: url, PLINTH_BOOTSTRAPS_URL: bootstrapsUrl } = read;
  if (clientId === undefined || url === undefined || bootstrapsUrl === undefined) return undefined;
  // As browsers write origins.
  return { clientId, url: new URL(url).origin, bootstrapsUrl: new URL(bootstrapsUrl).origin };
}

function tracesOf(read: Values): Config['traces'] {
  const url = tracesUrl(read.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, read.OTEL_EXPORTER_OTLP_ENDPOINT);
  return url === undefined ? undefined : { url, headers: readHeaders(read.OTEL_EXPORTER_OTLP_HEADERS) };
}

const ifSet = <K extends string, T>(key: K, value: T | undefined) =>
  (value === undefined ? {} : { [key]: value }) as { [k in K]?: T };

const ceilingsOf = (read: Values): Config['ceilings'] => ({
  ...ifSet('microsAnHour', read.PLINTH_USD_PER_HOUR),
  ...ifSet('monthOfOwner', read.PLINTH_USD_PER_MONTH_OWNER),
  ...ifSet('month', read.PLINTH_USD_PER_MONTH),
  withoutPrice: read.PLINTH_WITHOUT_PRICE,
  beyond: read.PLINTH_BEYOND_CEILING,
});

/** External services that a platform talks to. */
const servicesOf = (read: Values): Pick<Config, 'forgeUrls' | 'acmeDirectories'> => ({
  forgeUrls: {
    forge1: read.PLINTH_FORGE1_URL,
    forge2: read.PLINTH_FORGE2_URL,
    forge3: read.PLINTH_FORGE3_URL,
    forge4: read.PLINTH_FORGE4_URL,
  },
  acmeDirectories: {
    default: read.PLINTH_ACME_DIRECTORY,
    defaultStaging: read.PLINTH_ACME_STAGING_DIRECTORY,
    cloud: read.PLINTH_CLOUD_ACME_DIRECTORY,
    cloudStaging: read.PLINTH_CLOUD_ACME_STAGING_DIRECTORY,
  },
});

/** Whoever makes an organization is its admin. Without consent, its admins could take any team. */
const consentOf = (read: Values): boolean =>
  read.PLINTH_MIGRATION_CONSENT === undefined
    ? read.PLINTH_ORGANIZATION_CREATORS.length > 0
    : read.PLINTH_MIGRATION_CONSENT === 'on';

const authOf = (read: Values): Config['auth'] => ({
  issuer: read.PLINTH_ISSUER,
  jwksUrl: read.PLINTH_JWKS_URL,
  audiences: [
    ...read.PLINTH_AUDIENCES,
    ...(read.PLINTH_CONSOLE_CLIENT_ID === undefined ? [] : [read.PLINTH_CONSOLE_CLIENT_ID]),
  ],
  operators: read.PLINTH_OPERATORS,
});

/** Throws a Problem with all faults at once. */
export function readConfig(env: Environment): Config {
  const read = readValues(env);
  return {
    project: read.PLINTH_PROJECT,
    deployment: read.PLINTH_DEPLOYMENT,
    ...ifSet('release', read.PLINTH_RELEASE),
    serviceAccount: read.PLINTH_SERVICE_ACCOUNT,
    endpoints: Object.fromEntries(googleApis.map((api) => [api, read[endpointVariable(api)]])) as Config['endpoints'],
    firestore: {
      database: read.PLINTH_FIRESTORE_DATABASE,
      ...ifSet('emulatorHost', read.FIRESTORE_EMULATOR_HOST),
    },
    ...ifSet('pubsubEmulatorHost', read.PUBSUB_EMULATOR_HOST),
    ...ifSet('defaultParent', read.PLINTH_DEFAULT_PARENT),
    auth: authOf(read),
    bootstrappers: { emails: read.PLINTH_BOOTSTRAPPERS, domains: read.PLINTH_BOOTSTRAPPER_DOMAINS },
    migrationConsent: consentOf(read),
    organizationCreators: {
      anyone: read.PLINTH_ORGANIZATION_CREATORS.includes('anyone'),
      domains: read.PLINTH_ORGANIZATION_CREATORS.filter((each) => each !== 'anyone'),
    },
    allowed: {
      billingAccounts: read.PLINTH_BILLING_ACCOUNTS,
      parents: read.PLINTH_PARENTS,
      dnsZones: read.PLINTH_DNS_ZONES,
    },
    limits: {
      livingPerOwner: read.PLINTH_LIVING_PER_OWNER,
      livingInAll: read.PLINTH_LIVING_IN_ALL,
      changesPerMinute: read.PLINTH_CHANGES_PER_MINUTE,
      ...ifSet('maxTtlSeconds', read.PLINTH_MAX_TTL_SECONDS),
    },
    pools: read.PLINTH_POOLS,
    ceilings: ceilingsOf(read),
    callerRole: read.PLINTH_CALLER_ROLE,
    ...ifSet('nodesZoneRole', read.PLINTH_NODES_ZONE_ROLE),
    ...ifSet('dnsResolver', read.PLINTH_DNS_RESOLVER),
    vmImage: read.PLINTH_VM_IMAGE,
    quota: { ...ifSet('contact', read.PLINTH_QUOTA_CONTACT), waitSeconds: read.PLINTH_QUOTA_WAIT_SECONDS },
    machineAccess: read.PLINTH_MACHINE_ACCESS,
    iapTunnelUrl: read.PLINTH_IAP_TUNNEL_URL,
    sshSourceRanges: sourceRangesOf(accessOf(read)),
    loadBalancers: read.PLINTH_LOAD_BALANCERS,
    hosts: read.PLINTH_HOSTS === 'on',
    k0sReleasesUrl: read.PLINTH_K0S_RELEASES_URL,
    ...ifSet('sshProxy', read.PLINTH_SSH_PROXY),
    forge1ApiUrl: read.PLINTH_FORGE1_API_URL,
    registryUrls: {
      forge1: read.PLINTH_FORGE1_REGISTRY_URL,
      ...ifSet('artifactRegistry', read.PLINTH_ARTIFACT_REGISTRY_DOCKER_URL),
    },
    ...servicesOf(read),
    releases: {
      ...ifSet('url', read.PLINTH_RELEASES_URL),
      ...ifSet('sha256', read.PLINTH_RELEASE_SHA256 ?? builtSha256),
    },
    prices: read.PLINTH_PRICES,
    ...ifSet('console', consoleOf(read)),
    ...ifSet('webhookUrl', read.PLINTH_WEBHOOK_URL),
    ...ifSet('packagesBucket', read.PLINTH_PACKAGES_BUCKET),
    ...ifSet('uploadsBucket', read.PLINTH_UPLOADS_BUCKET),
    ...ifSet('checkUrl', read.PLINTH_CHECK_URL),
    schedulerInvoker: read.PLINTH_SCHEDULER_INVOKER,
    schedulerRegion: read.PLINTH_SCHEDULER_REGION,
    ...ifSet('traces', tracesOf(read)),
  };
}

/** The settings of the function in this process. */
export const readProcessConfig = (): Config => readConfig(process.env);

/**
 * Else the functions framework answers with the text of an error that nobody caught, and even answers somebody else's request
 * with it, the latest one.
 */
export const hideErrorTexts = (): void => {
  process.env['NODE_ENV'] = 'production';
};
