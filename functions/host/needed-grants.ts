/**
 * What each function needs of what terraform/roles.json grants it by the name of a resource. It asks for itself, as Google's
 * testIamPermissions answers only for whoever asks. Nothing is made or changed.
 */
import { bootstrapIdPrefix, deploymentSecrets, topics } from '../../shared/names.js';
import { noneIfHidden } from '../cloud/errors.js';
import type { Context } from '../context.js';
import { accountsOf, parentsOf } from './allowed-places.js';

type Asker = Pick<Context, 'cloud' | 'config'>;

type Place =
  | 'project'
  | 'topics'
  | 'bootstrapSecrets'
  | 'proofKey'
  | 'webhookKey'
  | 'cursorKey'
  | 'billingAccounts'
  | 'parents'
  | 'itself';

const publish = ['pubsub.topics.publish'];
const readSecrets = ['secretmanager.versions.access', 'secretmanager.versions.list'];
const seeProjects = ['resourcemanager.projects.get'];

/** By function and by where they are granted. What lies in buckets has findings of its own, and so have the cloud lane's places. */
export const neededGrants = {
  bootstraps: {
    project: [
      'datastore.entities.create',
      'secretmanager.secrets.create',
      'compute.regions.get',
      'compute.machineTypes.get',
      'cloudscheduler.jobs.get',
      'cloudscheduler.jobs.pause',
      'cloudscheduler.jobs.enable',
      'cloudscheduler.jobs.run',
    ],
    topics: publish,
    bootstrapSecrets: readSecrets,
    proofKey: readSecrets,
    cursorKey: [...readSecrets, 'secretmanager.versions.add'],
    billingAccounts: ['billing.accounts.get', 'billing.resourceAssociations.list'],
    parents: seeProjects,
  },
  'run-cloud-step': {
    project: ['datastore.entities.create', 'secretmanager.secrets.create'],
    topics: publish,
    bootstrapSecrets: readSecrets,
    proofKey: [...readSecrets, 'secretmanager.versions.add'],
  },
  'run-host-step': {
    project: ['datastore.entities.create'],
    topics: publish,
    bootstrapSecrets: ['secretmanager.versions.access'],
    itself: ['iam.serviceAccounts.signBlob'],
  },
  sweep: { project: ['datastore.entities.create'], topics: publish, webhookKey: readSecrets },
  cleanup: {
    project: ['datastore.entities.create', 'cloudscheduler.jobs.get', 'cloudscheduler.jobs.run'],
    topics: publish,
    proofKey: readSecrets,
    parents: seeProjects,
  },
} as const satisfies Readonly<Record<string, Partial<Readonly<Record<Place, readonly string[]>>>>>;

export type Holder = keyof typeof neededGrants;

/** Those that are missing, each with its place: `pubsub.topics.publish on plinth-cloud-steps`. Throws what Google refuses to tell. */
export async function missingGrants(asker: Asker, name: Holder): Promise<readonly string[]> {
  const needed: Partial<Readonly<Record<Place, readonly string[]>>> = neededGrants[name];
  const missing = await Promise.all(
    Object.entries(needed).map(([place, permissions]) => asks[place as Place](asker, permissions)),
  );
  return missing.flat();
}

/** How many permissions a function is asked for. */
export const countOf = (name: Holder): number => Object.values(neededGrants[name]).flat().length;

const asks: Readonly<Record<Place, (asker: Asker, permissions: readonly string[]) => Promise<readonly string[]>>> = {
  async project({ cloud, config: { project } }, permissions) {
    const held = await cloud.projects.held(`projects/${project}`, permissions);
    return permissions.filter((each) => !held.includes(each));
  },
  async topics({ cloud, config }, permissions) {
    // The emulator knows no policies.
    if (config.pubsubEmulatorHost !== undefined) return [];
    const held = (topic: string) => cloud.topics.held(topic, permissions);
    return each(Object.values(topics), permissions, held, (topic) => `the topic ${topic}`);
  },
  bootstrapSecrets: async ({ cloud }, permissions) =>
    on('secrets of bootstraps', permissions, await heldOnSecrets(cloud.secretManager, permissions)),
  proofKey: (asker, permissions) => onSecret(asker, deploymentSecrets.proofKey, permissions),
  webhookKey: (asker, permissions) => onSecret(asker, deploymentSecrets.webhookKey, permissions),
  cursorKey: (asker, permissions) => onSecret(asker, deploymentSecrets.cursorKey, permissions),
  billingAccounts: ({ cloud, config }, permissions) =>
    each(accountsOf(config), permissions, (account) => cloud.billing.held(account, permissions).catch(noneIfHidden)),
  parents: ({ cloud, config }, permissions) =>
    each(parentsOf(config), permissions, (parent) => cloud.projects.held(parent, permissions).catch(noneIfHidden)),
  itself: async ({ cloud, config: { project, serviceAccount } }, permissions) =>
    serviceAccount === 'default'
      ? []
      : on(serviceAccount, permissions, await cloud.iam.held(project, serviceAccount, permissions)),
};

async function each(
  names: readonly string[],
  permissions: readonly string[],
  held: (name: string) => Promise<readonly string[] | undefined>,
  called = (name: string) => name,
): Promise<readonly string[]> {
  const missing = await Promise.all(
    names.map(async (name) => {
      const found = await held(name);
      return found === undefined ? [`${called(name)}, which is not there`] : on(name, permissions, found);
    }),
  );
  return missing.flat();
}

const on = (place: string, permissions: readonly string[], held: readonly string[]): string[] =>
  permissions.filter((permission) => !held.includes(permission)).map((permission) => `${permission} on ${place}`);

const onSecret = async ({ cloud }: Asker, secretId: string, permissions: readonly string[]) =>
  on(secretId, permissions, await cloud.secretManager.held(secretId, permissions));

/** No id of a bootstrap has a dash. */
const noSecret = `${bootstrapIdPrefix}-of-no-bootstrap`;

/**
 * Their roles hold for names alone, so that testIamPermissions of the project says nothing, and that of a secret that is not
 * there says nothing either. Reading one that is not there is refused as missing to whoever may, and as forbidden to others. What changes
 * secrets comes with the same role, and is not tried.
 */
async function heldOnSecrets(
  secrets: Asker['cloud']['secretManager'],
  permissions: readonly string[],
): Promise<readonly string[]> {
  const tries: Readonly<Record<string, () => Promise<boolean>>> = {
    'secretmanager.versions.access': () => secrets.mayRead(noSecret),
    'secretmanager.versions.list': () => secrets.mayList(noSecret),
  };
  const held = await Promise.all(permissions.map(async (each) => ((await tries[each]?.()) === true ? [each] : [])));
  return held.flat();
}
