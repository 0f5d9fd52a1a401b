/**
 * Makes in the simulated cloud what terraform makes in the real one. That is plinth's own project, an identity with roles for
 * each function, the key for proofs, and the functions' environments.
 *
 * A test compares the tables with terraform's.
 */
import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { type GoogleApi, googleApis, type SettingName } from '../../functions/config.js';
import { endpointsText } from '../../functions/endpoints.js';
import type { LoadBalancers, MachineAccess } from '../../shared/bootstrap/bootstrap.js';
import {
  bootstrapIdPrefix,
  deploymentSecrets,
  type FunctionName,
  functionAccountIn,
  functionNames,
  type Lane,
  schedulerAccountId,
  schedulerJobs,
  topics,
} from '../../shared/names.js';
import type { InitialState } from '../cloud/index.js';
import { apiFunctions, functionPath } from '../functions/places.js';
import { oauthClients } from '../identity/oauth.js';
import { anybody } from '../machines/network/fabric.js';

/** What exists before plinth: an organization with a folder, and billing accounts. */
export const local = {
  project: 'plinth-local',
  projectNumber: '412345678901',
  deployment: 'local',
  region: 'europe-west4',
  domain: 'example.com',
  organization: 'organizations/1000000000001',
  folder: 'folders/1000000000002',
  /** A second folder, for `--folder-id`. */
  otherFolder: 'folders/1000000000003',
  billingAccount: '01AB23-45CD67-89EF01',
  otherBillingAccount: '02AB23-45CD67-89EF02',
  /**
   * A project where bootstraps share zones and make missing ones, for `--dns-project-id`. It is one of terraform's
   * `dns_projects`.
   */
  dnsProject: 'shared-dns-local',
  /** One of terraform's `dns_zones`, for `example.com`. It exists already, and plinth may do nothing else in its project. */
  standingZone: { project: 'standing-dns-local', name: 'standing' },
  packagesBucket: 'plinth-local-plinth-packages',
  uploadsBucket: 'plinth-local-plinth-uploads',
  releaseBucket: 'plinth-local-plinth-releases',
  /** The folder in that bucket where machines' releases are. */
  releaseFolder: 'releases',
  /** The audience of people's tokens: the deployment's OAuth client. */
  oauthClient: oauthClients.desktop.id,
  /** The console's client, of type Web. */
  consoleClient: oauthClients.console.id,
  consoleClientSecret: oauthClients.console.secret,
} as const;

const accountEmail = (id: string): string => `${id}@${local.project}.iam.gserviceaccount.com`;

export const functionAccount = (name: FunctionName): string => functionAccountIn(local.project, name);
export const invokers = { scheduler: accountEmail(schedulerAccountId), eventarc: accountEmail('plinth-eventarc') };

/**
 * Where a role is granted:
 *
 * - `project`: plinth's own project
 * - `bootstrapSecrets`: the same, limited to secrets of bootstraps
 * - `proofKey`, `webhookKey`, `cursorKey`, `consoleClient`: only that secret
 * - `topics`: both lanes
 * - `parents`, `billingAccounts`: all that may be used
 * - `dnsZones`: each zone, or its project where plinth may make zones
 * - `packages`: the bucket of packages
 * - `uploads`: the bucket of uploads
 * - `releases`: the executables in the bucket of releases
 * - `itself`: the function's own account
 */
const RoleScope = z.enum([
  'project',
  'bootstrapSecrets',
  'topics',
  'proofKey',
  'webhookKey',
  'cursorKey',
  'consoleClient',
  'parents',
  'billingAccounts',
  'dnsZones',
  'packages',
  'uploads',
  'releases',
  'itself',
]);
type RoleScope = z.output<typeof RoleScope>;

/** The content of terraform/roles.json: the one list of roles, with a reason for each. */
const RoleTable = z.strictObject({
  customRoles: z.record(
    z.string(),
    z.strictObject({ title: z.string(), description: z.string(), permissions: z.array(z.string()) }),
  ),
  functions: z.record(z.string(), z.array(z.strictObject({ role: z.string(), on: RoleScope, why: z.string() }))),
});

/** The build compiles only sources. The file stays in the checkout. */
const roleTable = RoleTable.parse(
  JSON.parse(readFileSync(new URL('../../../terraform/roles.json', import.meta.url), 'utf8')),
);

const customRole = (id: string): string => `projects/${local.project}/roles/${id}`;

/** Custom roles, made in plinth's own project. */
export const customRoles = Object.entries(roleTable.customRoles).map(([id, { title, permissions }]) => ({
  name: customRole(id),
  title,
  permissions,
}));

/** The roles of each function, and nothing more. Terraform grants from the same file. */
export const functionGrants = Object.values(functionNames).flatMap((name) =>
  (roleTable.functions[name] ?? []).map(({ role, on }) => ({
    name,
    role: role in roleTable.customRoles ? customRole(role) : role,
    on,
  })),
);

/** The APIs of plinth's own project that the functions call or run by. Terraform enables more, for its own resources. */
export const ownServices = [...googleApis, 'firestore', 'run', 'cloudfunctions', 'eventarc'].map(
  (service) => `${service}.googleapis.com`,
);

const resourcesOf: Readonly<Record<RoleScope, readonly string[]>> = {
  project: [`projects/${local.project}`],
  bootstrapSecrets: [`projects/${local.project}`],
  topics: Object.values(topics).map((topic) => `projects/${local.project}/topics/${topic}`),
  proofKey: [`projects/${local.project}/secrets/${deploymentSecrets.proofKey}`],
  webhookKey: [`projects/${local.project}/secrets/${deploymentSecrets.webhookKey}`],
  cursorKey: [`projects/${local.project}/secrets/${deploymentSecrets.cursorKey}`],
  consoleClient: [`projects/${local.project}/secrets/${deploymentSecrets.consoleClient}`],
  parents: [local.folder, local.otherFolder],
  billingAccounts: [`billingAccounts/${local.billingAccount}`, `billingAccounts/${local.otherBillingAccount}`],
  dnsZones: [
    `projects/${local.dnsProject}`,
    `projects/${local.standingZone.project}/managedZones/${local.standingZone.name}`,
  ],
  packages: [`projects/${local.project}/buckets/${local.packagesBucket}`],
  uploads: [`projects/${local.project}/buckets/${local.uploadsBucket}`],
  releases: [`projects/${local.project}/buckets/${local.releaseBucket}`],
  // Differs per function: see resourcesFor.
  itself: [],
};

export const resourcesFor = (on: RoleScope, name: FunctionName): readonly string[] =>
  on === 'itself' ? [`projects/${local.project}/serviceAccounts/${functionAccount(name)}`] : resourcesOf[on];

/** Limits a grant to a part of the resource that carries it. Google's names in Secret Manager carry the project's number. */
export const bootstrapSecretsCondition = (projectNumber: string) => ({
  title: 'secrets-of-bootstraps',
  expression: `resource.name.startsWith("projects/${projectNumber}/secrets/${bootstrapIdPrefix}")`,
});

/** That bucket holds terraform's state, too. */
export const releasesCondition = (bucket: string) => ({
  title: 'executables-of-releases',
  expression: `resource.name.startsWith("projects/_/buckets/${bucket}/objects/${local.releaseFolder}/") && resource.name.endsWith("/plinth-linux-amd64")`,
});

const conditionsOf: Partial<Record<RoleScope, { readonly title: string; readonly expression: string }>> = {
  bootstrapSecrets: bootstrapSecretsCondition(local.projectNumber),
  releases: releasesCondition(local.releaseBucket),
};

const roleBindings = () =>
  functionGrants.flatMap(({ name, role, on }) =>
    resourcesFor(on, name).map((resource) => ({
      resource,
      role,
      members: [`serviceAccount:${functionAccount(name)}`],
      ...(conditionsOf[on] === undefined ? {} : { condition: conditionsOf[on] }),
    })),
  );

/** `admin` deploys plinth and owns the organization. alice sees only what a bootstrap gives her in the cloud. */
export const people = { admin: `admin@${local.domain}`, alice: `alice@${local.domain}` };

/** What docs/operate/deploy.md asks of who deploys, and `roles/owner`, which holds none of it. */
const adminBindings = [
  ...[
    'owner',
    'resourcemanager.organizationAdmin',
    'resourcemanager.folderAdmin',
    'resourcemanager.projectCreator',
  ].map((role) => ({ resource: local.organization, role: `roles/${role}` })),
  ...[local.billingAccount, local.otherBillingAccount].map((account) => ({
    resource: `billingAccounts/${account}`,
    role: 'roles/billing.admin',
  })),
].map((grant) => ({ ...grant, members: [`user:${people.admin}`] }));

export const initialState = (): InitialState => ({
  organizations: [{ name: local.organization, displayName: local.domain }],
  folders: [
    { name: local.folder, displayName: 'bootstraps', parent: local.organization },
    { name: local.otherFolder, displayName: 'other-bootstraps', parent: local.organization },
  ],
  billingAccounts: [
    { name: `billingAccounts/${local.billingAccount}`, displayName: 'Main account', projectLimit: 1000 },
    { name: `billingAccounts/${local.otherBillingAccount}`, displayName: 'Other account', projectLimit: 1000 },
  ],
  projects: [
    {
      projectId: local.project,
      projectNumber: local.projectNumber,
      parent: local.organization,
      billingAccountName: `billingAccounts/${local.billingAccount}`,
      services: ownServices,
    },
    ...[local.dnsProject, local.standingZone.project].map((projectId) => ({
      projectId,
      parent: local.organization,
      billingAccountName: `billingAccounts/${local.billingAccount}` as const,
      services: ['dns.googleapis.com'],
    })),
  ],
  serviceAccounts: [...new Set(Object.values(functionNames).map(functionAccount)), ...Object.values(invokers)],
  customRoles,
  bindings: [...roleBindings(), ...adminBindings],
});

/** The function that hears each lane's topic. */
export const laneFunctions: Readonly<Record<Lane, FunctionName>> = {
  cloud: functionNames.runCloudStep,
  host: functionNames.runHostStep,
};
export const topicPath = (lane: Lane): string => `projects/${local.project}/topics/${topics[lane]}`;

/** The URL of a function: the APIs are at the root of the one origin, the others beneath a path of their own. */
export const functionUrl = (origin: string, name: FunctionName): string =>
  apiFunctions.includes(name) ? origin : `${origin}${functionPath(name)}`;

interface Schedule {
  readonly job: string;
  readonly target: FunctionName;
  readonly schedule: string;
  /** How long Cloud Scheduler waits for an answer: as long as the function may run. */
  readonly deadlineSeconds: number;
}
/** The calls of Cloud Scheduler and their times. A function that does not exist is not called. */
export const schedules: readonly Schedule[] = [
  { job: schedulerJobs.sweep, target: functionNames.sweep, schedule: '* * * * *', deadlineSeconds: 120 },
  { job: schedulerJobs.cleanup, target: functionNames.cleanup, schedule: '*/5 * * * *', deadlineSeconds: 300 },
];

/** Facts that terraform knows only after making things. */
export interface DeployedFacts {
  readonly origin: string;
  readonly endpoints: Readonly<Record<GoogleApi, string>>;
  readonly issuerUrl: string;
  readonly forge1Url: string;
  /** Undefined means forge1's own. */
  readonly forge1RegistryUrl?: string | undefined;
  /** Undefined means Google's. */
  readonly artifactRegistryDockerUrl?: string | undefined;
  /** Releases of k0s. Undefined means the real ones. */
  readonly k0sReleasesUrl?: string | undefined;
  /** Undefined means that of the machine. */
  readonly dnsResolver?: string | undefined;
  /** Proxy to the VMs that answer SSH, if there are any. */
  readonly sshProxyUrl?: string | undefined;
  /** Undefined means `direct`. */
  readonly machineAccess?: MachineAccess | undefined;
  /** Undefined means `external`. */
  readonly loadBalancers?: LoadBalancers | undefined;
  /** `ws://127.0.0.1:<port>/v4` */
  readonly iapTunnelUrl?: string | undefined;
  /** Undefined means that warnings are sent nowhere. */
  readonly webhookUrl?: string | undefined;
  /** Releases of plinth's own executable. Undefined if none is built. */
  readonly releases?: { readonly url: string; readonly sha256: string } | undefined;
  readonly firestoreHost?: string | undefined;
  readonly pubsubHost?: string | undefined;
}

export type FunctionEnvironment = Partial<Record<SettingName, string>>;

/**
 * The settings of `npm run local`. Everyone at example.com may bootstrap, with any account and parent, and make organizations.
 * Migrations take no consent, as in the specification.
 */
export function environmentOf(name: FunctionName, facts: DeployedFacts): FunctionEnvironment {
  return {
    PLINTH_ENDPOINTS: endpointsText({
      ...facts.endpoints,
      'issuer-keys': `${facts.issuerUrl}/.well-known/jwks.json`,
      'forge1-api': facts.forge1Url,
      'forge1-registry': facts.forge1RegistryUrl,
      'docker-registry': facts.artifactRegistryDockerUrl,
      'dns-resolver': facts.dnsResolver,
      'k0s-releases': facts.k0sReleasesUrl,
      'iap-tunnel': facts.iapTunnelUrl,
    }),
    PLINTH_PROJECT: local.project,
    PLINTH_DEPLOYMENT: local.deployment,
    PLINTH_SERVICE_ACCOUNT: functionAccount(name),
    PLINTH_ISSUER: facts.issuerUrl,
    PLINTH_AUDIENCES: [functionUrl(facts.origin, name), local.oauthClient].join(','),
    PLINTH_CONSOLE_CLIENT_ID: local.consoleClient,
    PLINTH_CONSOLE_URL: facts.origin,
    PLINTH_BOOTSTRAPS_URL: facts.origin,
    PLINTH_OPERATORS: people.admin,
    PLINTH_BOOTSTRAPPERS: local.domain,
    PLINTH_ORGANIZATION_CREATORS: local.domain,
    PLINTH_MIGRATION_CONSENT: 'off',
    PLINTH_BILLING_ACCOUNTS: [local.billingAccount, local.otherBillingAccount, '*'].join(','),
    PLINTH_PARENTS: [local.folder, local.otherFolder, '*'].join(','),
    PLINTH_DNS_ZONES: [`${local.standingZone.project}/${local.standingZone.name}`, '*'].join(','),
    PLINTH_LIVING_PER_OWNER: '300',
    PLINTH_LIVING_IN_ALL: '1000',
    PLINTH_CHANGES_PER_MINUTE: '0',
    PLINTH_MACHINE_ACCESS: facts.machineAccess ?? 'direct',
    PLINTH_LOAD_BALANCERS: facts.loadBalancers ?? 'external',
    // Whoever connects from this computer has this address in the simulated network.
    PLINTH_SSH_SOURCE_RANGES: `${anybody}/32`,
    ...(facts.sshProxyUrl === undefined ? {} : { PLINTH_SSH_PROXY: facts.sshProxyUrl }),
    // Machines fetch the release of plinth. Without one they are not set up.
    ...(facts.sshProxyUrl === undefined || facts.releases === undefined ? { PLINTH_HOSTS: 'off' } : {}),
    ...(facts.releases === undefined
      ? {}
      : { PLINTH_RELEASES_URL: facts.releases.url, PLINTH_RELEASE_SHA256: facts.releases.sha256 }),
    ...(facts.webhookUrl === undefined ? {} : { PLINTH_WEBHOOK_URL: facts.webhookUrl }),
    PLINTH_CHECK_URL: functionUrl(facts.origin, functionNames.check),
    PLINTH_PACKAGES_BUCKET: local.packagesBucket,
    PLINTH_UPLOADS_BUCKET: local.uploadsBucket,
    PLINTH_SCHEDULER_REGION: local.region,
    ...(facts.firestoreHost === undefined ? {} : { FIRESTORE_EMULATOR_HOST: facts.firestoreHost }),
    ...(facts.pubsubHost === undefined ? {} : { PUBSUB_EMULATOR_HOST: facts.pubsubHost }),
  };
}

/** Other settings in place of these. Of endpoints only those that are named get another address. */
export const withSettings = (
  environment: FunctionEnvironment,
  { PLINTH_ENDPOINTS: endpoints, ...settings }: FunctionEnvironment = {},
): FunctionEnvironment => ({
  ...environment,
  ...settings,
  ...(endpoints !== undefined && { PLINTH_ENDPOINTS: `${environment.PLINTH_ENDPOINTS},${endpoints}` }),
});
