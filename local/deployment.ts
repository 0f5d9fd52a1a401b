/**
 * What terraform makes in the cloud, made in the simulated one: plinth's own project, an identity for each function with
 * the roles it needs, the key that proofs are made with, and the environment of each function. Called by the local stack;
 * a test compares the tables with terraform's.
 */
import { randomBytes } from 'node:crypto';
import { type GoogleApi, googleApis, type SettingName } from '../functions/config.js';
import {
  deploymentSecrets,
  type FunctionName,
  functionNames,
  type Lane,
  schedulerJobs,
  topics,
} from '../shared/names.js';
import type { InitialState, SimulatedCloud } from './cloud/index.js';

/** What stands before plinth comes: an organization with a folder, and who pays. */
export const local = {
  project: 'plinth-local',
  deployment: 'local',
  region: 'europe-west4',
  domain: 'example.com',
  organization: 'organizations/1000000000001',
  folder: 'folders/1000000000002',
  /** A second one, for `--folder-id`. */
  otherFolder: 'folders/1000000000003',
  billingAccount: '01AB23-45CD67-89EF01',
  otherBillingAccount: '02AB23-45CD67-89EF02',
  /** Where zones live that are shared between bootstraps, for `--dns-project-id`. */
  dnsProject: 'shared-dns-local',
  /** What people's tokens are made for: the deployment's OAuth client. */
  oauthClient: 'plinth-local.apps.example.com',
} as const;

const accountEmail = (id: string): string => `${id}@${local.project}.iam.gserviceaccount.com`;

/** Ids of service accounts have at least six characters, so the functions' names alone would not do. */
export const functionAccount = (name: FunctionName): string => accountEmail(`plinth-${name}`);
export const invokers = { scheduler: accountEmail('plinth-scheduler'), eventarc: accountEmail('plinth-eventarc') };

/** `project`: plinth's own · `proofKey`: its secret alone · `topics`: both lanes · `parents`, `billingAccounts`, `dnsProjects`: all that may be used. */
export type RoleScope = 'project' | 'topics' | 'proofKey' | 'parents' | 'billingAccounts' | 'dnsProjects';

/** Creates secrets and versions, reads and deletes them; lists none that it cannot name. */
export const secretsRole = {
  name: `projects/${local.project}/roles/plinthSecrets`,
  title: 'Secrets of bootstraps',
  permissions: [
    'secretmanager.secrets.create',
    'secretmanager.secrets.delete',
    'secretmanager.versions.add',
    'secretmanager.versions.list',
    'secretmanager.versions.access',
  ],
} as const;

/** Sees and steers the jobs of Cloud Scheduler that are there; makes, changes and deletes none. */
export const scheduleRole = {
  name: `projects/${local.project}/roles/plinthSchedule`,
  title: 'Schedule of cleanup',
  permissions: [
    'cloudscheduler.jobs.get',
    'cloudscheduler.jobs.pause',
    'cloudscheduler.jobs.enable',
    'cloudscheduler.jobs.run',
  ],
} as const;

const storeAndPublish = { project: ['roles/datastore.user'], topics: ['roles/pubsub.publisher'] } as const;

/** Each function's roles, and nothing more; who makes a project owns it, so the lane needs no role in those. */
export const functionRoles: Readonly<Record<FunctionName, Readonly<Partial<Record<RoleScope, readonly string[]>>>>> = {
  [functionNames.bootstraps]: {
    ...storeAndPublish,
    project: ['roles/datastore.user', secretsRole.name, scheduleRole.name],
  },
  [functionNames.api]: { project: ['roles/datastore.user'] },
  [functionNames.runCloudStep]: {
    ...storeAndPublish,
    project: ['roles/datastore.user', secretsRole.name],
    parents: ['roles/resourcemanager.projectCreator'],
    billingAccounts: ['roles/billing.user'],
    dnsProjects: ['roles/dns.admin'],
  },
  [functionNames.runHostStep]: storeAndPublish,
  [functionNames.sweep]: storeAndPublish,
  [functionNames.cleanup]: {
    ...storeAndPublish,
    proofKey: ['roles/secretmanager.secretAccessor', 'roles/secretmanager.viewer'],
    parents: ['roles/browser'],
  },
};

/** APIs of plinth's own project. */
const ownServices = [
  'cloudresourcemanager',
  'cloudbilling',
  'serviceusage',
  'iam',
  'compute',
  'dns',
  'artifactregistry',
  'secretmanager',
  'publicca',
  'pubsub',
  'firestore',
  'run',
  'cloudfunctions',
  'cloudscheduler',
  'eventarc',
].map((service) => `${service}.googleapis.com`);

const resourcesOf: Readonly<Record<RoleScope, readonly string[]>> = {
  project: [`projects/${local.project}`],
  topics: Object.values(topics).map((topic) => `projects/${local.project}/topics/${topic}`),
  proofKey: [`projects/${local.project}/secrets/${deploymentSecrets.proofKey}`],
  parents: [local.folder, local.otherFolder],
  billingAccounts: [`billingAccounts/${local.billingAccount}`, `billingAccounts/${local.otherBillingAccount}`],
  dnsProjects: [`projects/${local.dnsProject}`],
};

const roleBindings = () =>
  Object.entries(functionRoles).flatMap(([name, scopes]) =>
    Object.entries(scopes).flatMap(([scope, roles]) =>
      resourcesOf[scope as RoleScope].flatMap((resource) =>
        roles.map((role) => ({ resource, role, members: [`serviceAccount:${functionAccount(name as FunctionName)}`] })),
      ),
    ),
  );

/** `admin` deploys plinth and owns the organization; alice sees in the cloud what a bootstrap gives her, and no more. */
export const people = { admin: `admin@${local.domain}`, alice: `alice@${local.domain}` };

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
      parent: local.organization,
      billingAccountName: `billingAccounts/${local.billingAccount}`,
      services: ownServices,
    },
    {
      projectId: local.dnsProject,
      parent: local.organization,
      billingAccountName: `billingAccounts/${local.billingAccount}`,
      services: ['dns.googleapis.com'],
    },
  ],
  serviceAccounts: [...Object.values(functionNames).map(functionAccount), ...Object.values(invokers)],
  customRoles: [secretsRole, scheduleRole],
  bindings: [
    ...roleBindings(),
    { resource: local.organization, role: 'roles/owner', members: [`user:${people.admin}`] },
  ],
});

/** One message in a lane: its topic, the function that hears it. */
export const laneFunctions: Readonly<Record<Lane, FunctionName>> = {
  cloud: functionNames.runCloudStep,
  host: functionNames.runHostStep,
};
export const topicPath = (lane: Lane): string => `projects/${local.project}/topics/${topics[lane]}`;

/** Functions that serve an API: they share the one origin, each with the paths of its routes. */
export const apiFunctions: readonly FunctionName[] = [functionNames.bootstraps, functionNames.api];

/** Where each function is reached: the APIs at the root of the one origin, the others beneath a path of their own. */
export const functionUrl = (origin: string, name: FunctionName): string =>
  apiFunctions.includes(name) ? origin : `${origin}${functionPath(name)}`;
export const functionPath = (name: FunctionName): string => `/_functions/${name}`;

/** Made once a deployment; a version that is there stays. Goes through the API, as whoever deploys. */
export async function makeProofKey(cloud: Pick<SimulatedCloud, 'endpoints' | 'identity'>): Promise<void> {
  const secrets = `${cloud.endpoints.secretmanager}/v1/projects/${local.project}/secrets`;
  const ask = async (method: string, path: string, body?: object): Promise<{ status: number; body: unknown }> => {
    const reply = await fetch(`${secrets}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${cloud.identity.accessToken(people.admin)}`,
        'content-type': 'application/json',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    if (!reply.ok && reply.status !== 409) throw new Error(`The proof key cannot be made: ${reply.status} ${text}`);
    return { status: reply.status, body: JSON.parse(text) };
  };
  const id = deploymentSecrets.proofKey;
  await ask('POST', `?secretId=${id}`, { replication: { automatic: {} } });
  const { body } = await ask('GET', `/${id}/versions`);
  if ((body as { versions?: unknown[] }).versions?.length) return;
  await ask('POST', `/${id}:addVersion`, { payload: { data: randomBytes(32).toString('base64') } });
}

/** What Cloud Scheduler calls, and when; a function that is not there is not called. */
const schedules: readonly { readonly job: string; readonly target: FunctionName; readonly schedule: string }[] = [
  { job: schedulerJobs.sweep, target: functionNames.sweep, schedule: '* * * * *' },
  { job: schedulerJobs.cleanup, target: functionNames.cleanup, schedule: '*/5 * * * *' },
];

/** Made through the API, as whoever deploys; where the functions have moved, the jobs follow them. A paused job stays paused. */
export async function makeScheduledJobs(
  cloud: Pick<SimulatedCloud, 'endpoints' | 'identity'>,
  origin: string,
): Promise<void> {
  const parent = `projects/${local.project}/locations/${local.region}`;
  const ask = async (method: string, path: string, body: object): Promise<number> => {
    const reply = await fetch(`${cloud.endpoints.cloudscheduler}/v1/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${cloud.identity.accessToken(people.admin)}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    });
    const text = await reply.text();
    if (!reply.ok && reply.status !== 409) throw new Error(`A job cannot be made: ${reply.status} ${text}`);
    return reply.status;
  };
  for (const { job, target, schedule } of schedules) {
    const uri = functionUrl(origin, target);
    const wanted = {
      schedule,
      timeZone: 'Etc/UTC',
      attemptDeadline: '180s',
      httpTarget: {
        uri,
        httpMethod: 'POST',
        oidcToken: { serviceAccountEmail: invokers.scheduler, audience: uri },
      },
    };
    const name = `${parent}/jobs/${job}`;
    const made = await ask('POST', `${parent}/jobs`, { ...wanted, name });
    if (made === 409) await ask('PATCH', `${name}?updateMask=schedule,timeZone,attemptDeadline,httpTarget`, wanted);
  }
}

/** Facts that terraform knows only once things are made. */
export interface DeployedFacts {
  readonly origin: string;
  readonly endpoints: Readonly<Record<GoogleApi, string>>;
  readonly issuerUrl: string;
  readonly forge1Url: string;
  readonly firestoreHost?: string | undefined;
  readonly pubsubHost?: string | undefined;
}

export type FunctionEnvironment = Partial<Record<SettingName, string>>;

/** `npm run local`: everyone at example.com may bootstrap, with any account and parent, and make organizations. */
export function environmentOf(name: FunctionName, facts: DeployedFacts): FunctionEnvironment {
  const endpoints = Object.fromEntries(
    googleApis.map((api) => [`PLINTH_ENDPOINT_${api.toUpperCase()}`, facts.endpoints[api]]),
  );
  return {
    ...endpoints,
    PLINTH_PROJECT: local.project,
    PLINTH_DEPLOYMENT: local.deployment,
    PLINTH_SERVICE_ACCOUNT: functionAccount(name),
    PLINTH_DEFAULT_PARENT: local.folder,
    PLINTH_ISSUER: facts.issuerUrl,
    PLINTH_JWKS_URL: `${facts.issuerUrl}/.well-known/jwks.json`,
    PLINTH_AUDIENCES: [functionUrl(facts.origin, name), local.oauthClient].join(','),
    PLINTH_OPERATORS: people.admin,
    PLINTH_BOOTSTRAPPER_DOMAINS: local.domain,
    PLINTH_ORGANIZATION_CREATORS: local.domain,
    PLINTH_BILLING_ACCOUNTS: '*',
    PLINTH_PARENTS: '*',
    PLINTH_DNS_ZONES: '*',
    PLINTH_LIVING_PER_OWNER: '300',
    PLINTH_LIVING_IN_ALL: '1000',
    PLINTH_FORGE1_API_URL: facts.forge1Url,
    PLINTH_SCHEDULER_INVOKER: invokers.scheduler,
    PLINTH_SCHEDULER_REGION: local.region,
    PLINTH_EVENTARC_INVOKER: invokers.eventarc,
    ...(facts.firestoreHost === undefined ? {} : { FIRESTORE_EMULATOR_HOST: facts.firestoreHost }),
    ...(facts.pubsubHost === undefined ? {} : { PUBSUB_EMULATOR_HOST: facts.pubsubHost }),
  };
}
