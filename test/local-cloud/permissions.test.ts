/** Every permission that a simulated method asks for is one that Google has. */
import { expect } from 'chai';
import { apiDefinitions } from '../../local/cloud/apis.js';
import { accessOf } from '../../local/cloud/iam/access.js';
import { permissionIsKnown } from '../../local/cloud/iam/predefined-roles.js';
import type { CloudCall, JsonObject } from '../../local/cloud/kernel/api.js';
import { type Method, resourceIn, surfaceOf } from '../../local/cloud/kernel/surface.js';
import { namedPath } from '../support/method-paths.js';
import { furnish, region, vmBody, zone } from './furnished.js';
import { owner, project, type ReadyCloud, readyCloud } from './ready-cloud.js';

const robot = `robot@${project}.iam.gserviceaccount.com`;

/** By the word before it in the path, or by the parameter's name. */
const names: Readonly<Record<string, string>> = {
  projects: project,
  project,
  projectId: project,
  locations: region,
  region,
  zone,
  managedZone: 'platform',
  bucket: 'bucket-of-test',
  organizations: '100',
  folders: '1',
  billingAccounts: '000000-000000-000000',
  services: 'dns.googleapis.com',
  serviceAccounts: robot,
  resource: project,
};

/** What makes a call need more than its plain permission. */
const bodies: Readonly<Record<string, JsonObject>> = {
  'compute.instances.insert': vmBody('vm', {
    networkInterfaces: [{ subnetwork: 'sub', accessConfigs: [{}] }],
    tags: { items: ['ssh'] },
    labels: { a: 'b' },
    serviceAccounts: [{ email: robot }],
  }) as unknown as JsonObject,
  'dns.changes.create': { additions: [{}], deletions: [{}] },
  'pubsub.projects.subscriptions.create': { topic: `projects/${project}/topics/topic` },
  'cloudresourcemanager.liens.create': { parent: `projects/${project}` },
  'cloudbilling.projects.updateBillingInfo': { billingAccountName: 'billingAccounts/000000-000000-000000' },
};

/** Of a new project: the two versions of the API have different forms. */
const parentIn = (path: string, id: string): JsonObject =>
  id !== 'cloudresourcemanager.projects.create'
    ? {}
    : { parent: path.startsWith('v1') ? { type: 'organization', id: '100' } : 'organizations/100' };

/** They ask for nothing: what they show is what the caller may see, is known to who holds its name, or is the caller's own. */
const asksNothing =
  /\.testIamPermissions$|\.search$|\.operations\.get$|^cloudbilling\.billingAccounts\.list$|^iam\.(roles|permissions)\.|^cloudresourcemanager\.projects\.list$|^oslogin\.users\./;

describe('permissions that simulated methods ask for', () => {
  let cloud: ReadyCloud;
  let lien: string;

  before(async () => {
    cloud = await readyCloud();
    await furnish(cloud);
    const bucket = await cloud.call('storage', `POST /storage/v1/b?project=${project}`, {
      name: 'bucket-of-test',
      location: region,
      iamConfiguration: { uniformBucketLevelAccess: { enabled: true } },
    });
    expect(bucket.status, bucket.message).to.equal(200);
    await cloud.call('serviceusage', `POST /v1/projects/${project}/services/iamcredentials.googleapis.com:enable`, {});
    await cloud.call('iam', `POST /v1/projects/${project}/serviceAccounts`, { accountId: 'robot1' });
    const made = await cloud.call('cloudresourcemanager', 'POST /v1/liens', {
      parent: `projects/${project}`,
      restrictions: ['resourcemanager.projects.delete'],
      reason: 'a reason',
      origin: 'a test',
    });
    lien = String(made.body['name']).slice('liens/'.length);
  });
  after(() => cloud.close());

  function callOf({ id, path: template, parameters = {} }: Method, base: string): CloudCall {
    const nameFor = (word: string): string => {
      if (word === 'liens') return lien;
      if (word === 'serviceAccounts') return `robot1@${project}.iam.gserviceaccount.com`;
      if (word === 'projects' && id.startsWith('iamcredentials')) return '-';
      return names[word] ?? 'any';
    };
    const { path, params } = namedPath({ path: template, parameters }, nameFor);
    for (const [name, { location }] of Object.entries(parameters)) {
      if (location !== 'query') continue;
      if (name === 'project') params[name] = project;
      if (name === 'parent') params[name] = id.includes('.liens.') ? `projects/${project}` : 'organizations/100';
    }
    return {
      method: id,
      params,
      lists: {},
      resource: resourceIn(`${base}${path}`),
      body: bodies[id] ?? parentIn(template, id),
      caller: { kind: 'user', email: owner },
    };
  }

  for (const definition of apiDefinitions) {
    it(`of ${definition.api} are Google’s`, () => {
      const surface = surfaceOf(definition.api);
      const strange: string[] = [];
      for (const id of Object.keys(definition.handlers)) {
        const method = surface.methods.get(id);
        if (method === undefined) throw new Error(`${definition.api} has no method ${id}`);
        const needed = accessOf(definition, callOf(method, surface.base), cloud.world);
        if (needed.length === 0 && !asksNothing.test(id)) strange.push(`${id} asks for nothing`);
        for (const { permission } of needed) {
          if (permissionIsKnown(permission) !== 'known') strange.push(`${id}: ${permission}`);
        }
      }
      expect(strange).to.deep.equal([]);
    });
  }
});
