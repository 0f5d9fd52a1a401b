/**
 * All settings of the functions, which read process.env only here. Docs and terraform list the table below: each variable
 * once, with its meaning and default.
 */
import * as z from 'zod';
import { LoadBalancers, MachineAccess } from '../shared/bootstrap/bootstrap.js';
import { AmountText, microsOf } from '../shared/bootstrap/money.js';
import { asciiLowerCased, Email } from '../shared/organization/email.js';
import { type Fault, Problem } from '../shared/problems.js';
import type { Releases } from '../shared/release.js';
import { accessFaults, SourceRanges, sourceRangesOf } from '../shared/source-ranges.js';
import { sshProxyForm, sshProxyRule } from '../shared/ssh-proxy.js';
import { PricesSetting, type PriceTable } from './cost/prices.js';
import { EndpointsSetting, type GoogleApi, googleApis } from './endpoints.js';
import { type Pool, PoolsSetting, poolFaults } from './pools/setting.js';
import {
  count,
  domains,
  emails,
  hostPort,
  ifSet,
  list,
  onOrOff,
  optional,
  origin,
  required,
  type Setting,
  secureUrl,
  setting,
  text,
  url,
  type Values as ValuesOf,
} from './setting.js';
import { readHeaders, tracesUrl } from './tracing/tracing.js';

/** The bundler inserts it, because only the bundler knows the executable built from the same sources. */
declare const PLINTH_RELEASE_SHA256: string | undefined;
const builtSha256 = typeof PLINTH_RELEASE_SHA256 === 'string' ? PLINTH_RELEASE_SHA256 : undefined;

export { type GoogleApi, googleApis };

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
  /** `folders/…` or `organizations/…`: the first that is allowed by name. Undefined: `--folder-id` must be given. */
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
  /** Whom Google may write to about a request for quota. Undefined: nothing is asked for. */
  readonly quotaContact?: string;
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
  /** Region of the Cloud Scheduler jobs in plinth's own project. */
  readonly schedulerRegion: string;
  /** Where traces are sent. Undefined: nowhere. */
  readonly traces?: { readonly url: string; readonly headers: Readonly<Record<string, string>> };
}

const bucketName = text.regex(/^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$/, 'must be the name of a bucket');
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
/** Traffic through the proxy is encrypted end to end, so plain http is fine. */
const proxy = z
  .string()
  .regex(sshProxyForm, sshProxyRule)
  .transform((value) => value.replace(/\/$/, ''));
/** E-mails and domains in one list. */
const bootstrappers = list
  .transform((values) => ({
    emails: values.filter((each) => each.includes('@')),
    domains: values.filter((each) => !each.includes('@')),
  }))
  .pipe(
    z.object({
      emails: z.array(Email),
      domains: z.array(
        text
          .regex(/^[^\s:.]+(?:\.[^\s:.]+)+$/, 'must be e-mails and domains such as example.com')
          .transform(asciiLowerCased),
      ),
    }),
  );
const parents = list.pipe(
  z.array(
    text.regex(/^(?:\*|(?:folders|organizations)\/\d+)$/, 'must be folders/<number>, organizations/<number> or *'),
  ),
);
const amount = AmountText.transform(microsOf);

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
  PLINTH_ISSUER: setting(url, 'Issuer of the ID tokens of callers.', 'https://accounts.google.com'),
  PLINTH_AUDIENCES: setting(
    list,
    'Audiences that tokens may be made for: the endpoints, and the OAuth client of people. Unset: no token is accepted.',
    '',
  ),
  PLINTH_OPERATORS: setting(emails, 'E-mails of operators, who may do what an owner may, everywhere.', ''),
  PLINTH_BOOTSTRAPPERS: setting(
    bootstrappers,
    'Who may bootstrap: e-mails of people and service accounts, and Workspace domains (the `hd` claim). Unset: operators only.',
    '',
  ),
  PLINTH_ORGANIZATION_CREATORS: setting(
    domains,
    'Workspace domains (the `hd` claim) whose people may make organizations; `anyone`: every caller. Unset: operators only.',
    '',
  ),
  PLINTH_MIGRATION_CONSENT: optional(
    onOrOff,
    'Whether migrating a team takes the consent of an admin of the team. `off`: any admin of an organization may migrate a team there that has no living projects. Unset: `on` where others than operators may make organizations (`PLINTH_ORGANIZATION_CREATORS`), else `off`.',
  ),
  PLINTH_BILLING_ACCOUNTS: setting(list, 'Billing accounts that may be used; `*`: any. Unset: none.', ''),
  PLINTH_PARENTS: setting(
    parents,
    'Folders and organizations that projects may be made in, as `folders/<number>` and `organizations/<number>`; `*`: any. The first of them is where projects are made when no `--folder-id` is given. Unset: none.',
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
  PLINTH_QUOTA_CONTACT: optional(
    Email,
    'E-mail that Google may write to about a request for quota. plinth then asks for what a project lacks. Unset: nothing is asked, and a project that lacks quota fails at once.',
  ),
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
  PLINTH_SSH_SOURCE_RANGES: setting(
    SourceRanges,
    'Ranges from which the jumpbox takes SSH with `PLINTH_MACHINE_ACCESS=direct`, as `203.0.113.7/32` or `2001:db8::/32`. Each begins with its first address. The functions need addresses among them, and so do the people. A standing bootstrap takes other ranges with its next run.',
    '',
  ),
  PLINTH_MACHINE_ACCESS_OPEN: setting(
    onOrOff,
    'Whether port 22 of the jumpbox may be open to everybody with `PLINTH_MACHINE_ACCESS=direct`: without ranges, or with `0.0.0.0/0` or `::/0` among them. `off` refuses both.',
    'off',
  ),
  PLINTH_LOAD_BALANCERS: setting(
    LoadBalancers,
    "Load balancers of the platforms of new bootstraps. `external`: with public addresses. `internal`: with addresses of the subnet, which only the bootstrap's network and those connected to it reach. A bootstrap keeps what it began with.",
    'external',
  ),
  PLINTH_HOSTS: setting(
    onOrOff,
    'Whether bootstraps go on to the machines, over SSH; `off`: they end when the cloud resources stand.',
    'on',
  ),
  PLINTH_SSH_PROXY: optional(
    proxy,
    'HTTP CONNECT proxy for SSH to machines, as `http://host:port`: where the way out leads through one. The command line knows a variable of the same name.',
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
  OTEL_EXPORTER_OTLP_HEADERS: setting(
    text,
    'Headers of those exports, as `name=value,name=value`. Whoever sees the settings of a function sees them, so a collector that asks for more than Cloud Trace does is better reached without. Cloud Trace needs none.',
    '',
  ),
  PLINTH_ENDPOINTS: setting(
    EndpointsSetting,
    "Where services are, if not at their own addresses, as `name=address,name=address`: Google's APIs by the first word of their host (`compute`), `issuer-keys`, `iap-tunnel`, `docker-registry` (Artifact Registry's Docker endpoint), `k0s-releases`, `forge1-api`, `forge1-registry`, `forge1` to `forge4` (for the install config), and `dns-resolver` (`<IPv4>[:<port>]`, asked whether a domain is delegated). Of two addresses for one name, the last counts.",
    '',
  ),
} satisfies Record<string, Setting>;
export type SettingName = keyof typeof settings;
/** The environment of one function, as terraform would give it. */
export type Environment = Readonly<Record<string, string | undefined>>;

type Values = ValuesOf<typeof settings>;

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
  const url = tracesUrl(undefined, read.OTEL_EXPORTER_OTLP_ENDPOINT);
  return url === undefined ? undefined : { url, headers: readHeaders(read.OTEL_EXPORTER_OTLP_HEADERS) };
}

const ceilingsOf = (read: Values): Config['ceilings'] => ({
  ...ifSet('microsAnHour', read.PLINTH_USD_PER_HOUR),
  ...ifSet('monthOfOwner', read.PLINTH_USD_PER_MONTH_OWNER),
  ...ifSet('month', read.PLINTH_USD_PER_MONTH),
  withoutPrice: read.PLINTH_WITHOUT_PRICE,
  beyond: read.PLINTH_BEYOND_CEILING,
});

/** Services at their addresses. */
const servicesOf = ({ PLINTH_ENDPOINTS: at }: Values) => ({
  endpoints: Object.fromEntries(googleApis.map((api) => [api, at[api]])) as Config['endpoints'],
  iapTunnelUrl: at['iap-tunnel'],
  k0sReleasesUrl: at['k0s-releases'],
  forge1ApiUrl: at['forge1-api'],
  registryUrls: { forge1: at['forge1-registry'], ...ifSet('artifactRegistry', at['docker-registry']) },
  forgeUrls: { forge1: at.forge1, forge2: at.forge2, forge3: at.forge3, forge4: at.forge4 },
  ...ifSet('dnsResolver', at['dns-resolver']),
});

/** Whoever makes an organization is its admin. Without consent, its admins could take any team. */
const consentOf = (read: Values): boolean =>
  read.PLINTH_MIGRATION_CONSENT === undefined
    ? read.PLINTH_ORGANIZATION_CREATORS.length > 0
    : read.PLINTH_MIGRATION_CONSENT === 'on';

const authOf = (read: Values): Config['auth'] => ({
  issuer: read.PLINTH_ISSUER,
  jwksUrl: read.PLINTH_ENDPOINTS['issuer-keys'],
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
    firestore: {
      database: read.PLINTH_FIRESTORE_DATABASE,
      ...ifSet('emulatorHost', read.FIRESTORE_EMULATOR_HOST),
    },
    ...ifSet('pubsubEmulatorHost', read.PUBSUB_EMULATOR_HOST),
    ...ifSet(
      'defaultParent',
      read.PLINTH_PARENTS.find((each) => each !== '*'),
    ),
    auth: authOf(read),
    bootstrappers: read.PLINTH_BOOTSTRAPPERS,
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
    vmImage: read.PLINTH_VM_IMAGE,
    ...ifSet('quotaContact', read.PLINTH_QUOTA_CONTACT),
    machineAccess: read.PLINTH_MACHINE_ACCESS,
    sshSourceRanges: sourceRangesOf(accessOf(read)),
    loadBalancers: read.PLINTH_LOAD_BALANCERS,
    hosts: read.PLINTH_HOSTS === 'on',
    ...ifSet('sshProxy', read.PLINTH_SSH_PROXY),
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
