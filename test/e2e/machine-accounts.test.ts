/**
 * What root on a machine reaches with the tokens that its metadata server gives: nothing outside of its project. Every
 * simulated method is tried on another bootstrap's project and on plinth's own. What an owner may, is refused to them.
 */
import { expect } from 'chai';
import { accountEmail, accountIds } from '../../functions/steps/topology.js';
import { apiDefinitions, apis } from '../../local/cloud/apis.js';
import { accessOf } from '../../local/cloud/iam/access.js';
import type { ApiDefinition, JsonObject, SimulatedApi } from '../../local/cloud/kernel/api.js';
import { resourceIn, surfaceOf } from '../../local/cloud/kernel/surface.js';
import { functionAccount, local, people } from '../../local/stack/deployment.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { deploymentSecrets, functionNames, topics } from '../../shared/names.js';
import { namedPath } from '../support/method-paths.js';
import { domainOf, makeScene, type Scene, succeeded } from '../support/scene.js';

const zone = 'europe-west4-a';
const bucketOf = (projectId: string): string => `${projectId}-of-test`;
const robotOf = (projectId: string): string => `robot1@${projectId}.iam.gserviceaccount.com`;
const zoneName = 'tool-testing';
const topic = topics.cloud;
const secret = deploymentSecrets.proofKey;

interface Asked {
  readonly api: SimulatedApi;
  readonly line: string;
  readonly body?: JsonObject | undefined;
}
interface EveryCall extends Asked {
  readonly id: string;
  readonly definition: ApiDefinition;
  readonly params: Readonly<Record<string, string>>;
}
interface Answer {
  readonly status: number;
  readonly text: string;
}

const json = (value: string): JsonObject => JSON.parse(value) as JsonObject;

/** One call that reads and one that changes of each API, which its owner is not refused. */
function goodCalls(p: string): readonly (Asked & { readonly as?: string })[] {
  const location = `projects/${p}/locations/${local.region}`;
  const compute = `/compute/v1/projects/${p}`;
  const quota = `projects/${p}/locations/global`;
  return [
    { api: 'cloudresourcemanager', line: `GET /v3/projects/${p}` },
    {
      api: 'cloudresourcemanager',
      line: `PATCH /v3/projects/${p}?updateMask=displayName`,
      body: { displayName: 'Mine' },
    },
    { api: 'cloudresourcemanager', line: `POST /v3/projects/${p}:getIamPolicy`, body: {} },
    { api: 'cloudresourcemanager', line: `GET /v1/projects/${p}` },
    {
      api: 'cloudresourcemanager',
      line: 'POST /v1/liens',
      body: {
        parent: `projects/${p}`,
        restrictions: ['resourcemanager.projects.delete'],
        reason: 'a reason',
        origin: 'x',
      },
    },
    { api: 'cloudbilling', line: `GET /v1/projects/${p}/billingInfo` },
    {
      api: 'cloudbilling',
      line: `PUT /v1/projects/${p}/billingInfo`,
      body: { billingAccountName: `billingAccounts/${local.otherBillingAccount}` },
    },
    { api: 'serviceusage', line: `GET /v1/projects/${p}/services?filter=state:ENABLED` },
    { api: 'serviceusage', line: `POST /v1/projects/${p}/services/run.googleapis.com:enable`, body: {} },
    { api: 'iam', line: `GET /v1/projects/${p}/serviceAccounts` },
    { api: 'iam', line: `POST /v1/projects/${p}/serviceAccounts`, body: { accountId: 'another' } },
    { api: 'iam', line: `POST /v1/projects/${p}/serviceAccounts/${robotOf(p)}:setIamPolicy`, body: { policy: {} } },
    { api: 'compute', line: `GET ${compute}/zones/${zone}/instances` },
    { api: 'compute', line: `GET ${compute}` },
    {
      api: 'compute',
      line: `POST ${compute}/global/networks`,
      body: { name: 'another', autoCreateSubnetworks: false },
    },
    {
      api: 'compute',
      line: `POST ${compute}/regions/${local.region}/addresses`,
      body: { name: 'another' },
    },
    { api: 'dns', line: `GET /dns/v1/projects/${p}/managedZones/${zoneName}/rrsets` },
    {
      api: 'dns',
      line: `POST /dns/v1/projects/${p}/managedZones/${zoneName}/changes`,
      body: { additions: [{ name: `x.${domainOf('theirs')}.`, type: 'A', ttl: 300, rrdatas: ['203.0.113.7'] }] },
    },
    { api: 'artifactregistry', line: `GET /v1/${location}/repositories` },
    {
      api: 'artifactregistry',
      line: `POST /v1/${location}/repositories?repositoryId=another`,
      body: { format: 'DOCKER' },
    },
    { api: 'secretmanager', line: `GET /v1/projects/${p}/secrets` },
    { api: 'secretmanager', line: `GET /v1/projects/${p}/secrets/${secret}/versions/1:access` },
    {
      api: 'secretmanager',
      line: `POST /v1/projects/${p}/secrets/${secret}:addVersion`,
      body: { payload: { data: 'YQ==' } },
    },
    { api: 'publicca', line: `POST /v1/projects/${p}/locations/global/externalAccountKeys`, body: {} },
    // Of the account itself: nobody sees another's.
    { api: 'oslogin', line: `GET /v1/users/${people.admin}/loginProfile?projectId=${p}` },
    { api: 'pubsub', line: `GET /v1/projects/${p}/topics` },
    { api: 'pubsub', line: `POST /v1/projects/${p}/topics/${topic}:publish`, body: { messages: [{ data: 'YQ==' }] } },
    { api: 'cloudscheduler', line: `GET /v1/${location}/jobs` },
    {
      api: 'cloudscheduler',
      line: `POST /v1/${location}/jobs`,
      body: { name: `${location}/jobs/another`, schedule: '* * * * *', httpTarget: { uri: 'https://example.com/' } },
    },
    { api: 'storage', line: `GET /storage/v1/b/${bucketOf(p)}/o` },
    { api: 'storage', line: `PATCH /storage/v1/b/${bucketOf(p)}`, body: { labels: { a: 'b' } } },
    {
      // Not even an owner may sign for an account. The account itself may.
      api: 'iamcredentials',
      line: `POST /v1/projects/-/serviceAccounts/${functionAccount(functionNames.runHostStep)}:signBlob`,
      body: { payload: 'YQ==' },
      as: functionAccount(functionNames.runHostStep),
    },
    { api: 'orgpolicy', line: `GET /v2/projects/${p}/policies/compute.requireOsLogin:getEffectivePolicy` },
    { api: 'cloudquotas', line: `GET /v1/${quota}/services/compute.googleapis.com/quotaInfos/NETWORKS-per-project` },
    {
      api: 'cloudquotas',
      line: `POST /v1/${quota}/quotaPreferences?quotaPreferenceId=more`,
      body: {
        service: 'compute.googleapis.com',
        quotaId: 'CPUS-per-project-region',
        dimensions: { region: local.region },
        quotaConfig: { preferredValue: '500' },
        contactEmail: people.admin,
      },
    },
  ];
}

/** They ask for no permission: they answer with what the caller may see, and that must be nothing of the others. */
const tellsWhatOneMaySee =
  /\.testIamPermissions$|\.search$|^cloudbilling\.billingAccounts\.list$|^cloudresourcemanager\.projects\.list$/;
/** They are about the caller's own account, in no project. */
const isOfCaller = /^oslogin\.users\./;
/** What Google tells everybody. */
const tellsAll = /^iam\.(roles|permissions)\./;
/** As an owner they would end what the next calls look for. */
const ends = /\.(delete|disable|detach|undelete|setIamPolicy|updateBillingInfo)$/;

describe('root on a machine', function () {
  this.timeout(240_000);
  let scene: Scene;
  let mine: BootstrapView;
  let theirs: BootstrapView;

  const tokenOf = async (email: string): Promise<string> => {
    const path = `computeMetadata/v1/instance/service-accounts/${email}/token`;
    const reply = await fetch(`http://${scene.cloud.metadataHost}/${path}`, {
      headers: { 'metadata-flavor': 'Google' },
    });
    return ((await reply.json()) as { access_token: string }).access_token;
  };
  const ask = async (token: string, { api, line, body }: Asked): Promise<Answer> => {
    const [method = 'GET', path = ''] = line.split(' ');
    const reply = await fetch((scene.cloud.endpoints as Record<string, string>)[api] + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: reply.status, text: await reply.text() };
  };
  const asAdmin = async (api: SimulatedApi, line: string, body?: JsonObject): Promise<JsonObject> => {
    const { status, text } = await ask(scene.cloud.identity.accessToken(people.admin), { api, line, body });
    expect(status, `${line}: ${text}`).to.be.oneOf([200, 409]);
    return json(text);
  };

  /** All that there may be to reach, beside what plinth made. */
  async function furnish(projectId: string): Promise<void> {
    const all = Object.keys(apis).map((name) => `${name}.googleapis.com`);
    await asAdmin('serviceusage', `POST /v1/projects/${projectId}/services:batchEnable`, { serviceIds: all });
    await asAdmin('iam', `POST /v1/projects/${projectId}/serviceAccounts`, { accountId: 'robot1' });
    await asAdmin('storage', `POST /storage/v1/b?project=${projectId}`, {
      name: bucketOf(projectId),
      location: local.region,
      iamConfiguration: { uniformBucketLevelAccess: { enabled: true } },
    });
    await asAdmin('pubsub', `PUT /v1/projects/${projectId}/topics/${topic}`, {});
    await asAdmin('secretmanager', `POST /v1/projects/${projectId}/secrets?secretId=${secret}`, {
      replication: { automatic: {} },
    });
    await asAdmin('secretmanager', `POST /v1/projects/${projectId}/secrets/${secret}:addVersion`, {
      payload: { data: 'YQ==' },
    });
    await asAdmin('dns', `POST /dns/v1/projects/${projectId}/managedZones`, {
      name: zoneName,
      dnsName: `${domainOf('theirs')}.`,
      description: 'theirs',
    });
  }

  before(async () => {
    scene = await makeScene();
    const flags = { 'registry-type': 'artifact-registry' };
    const [alice, bob] = [await scene.caller(), await scene.caller(`bob@${local.domain}`)];
    mine = succeeded(await alice.bootstrap('mine', flags));
    theirs = succeeded(await bob.bootstrap('theirs', flags));
    const policy = await asAdmin('cloudresourcemanager', `POST /v1/${local.organization}:getIamPolicy`, {});
    await asAdmin('cloudresourcemanager', `POST /v1/${local.organization}:setIamPolicy`, {
      policy: {
        ...policy,
        bindings: [
          ...(policy['bindings'] as JsonObject[]),
          ...['orgpolicy.policyAdmin', 'cloudquotas.admin', 'publicca.externalAccountKeyCreator'].map((role) => ({
            role: `roles/${role}`,
            members: [`user:${people.admin}`],
          })),
        ],
      },
    });
    for (const projectId of [theirs.projectId, local.project, local.standingZone.project]) await furnish(projectId);
  });
  after(() => scene?.close());

  const accounts = [accountIds.cloudController, accountIds.registryWriter] as const;
  const targets = {
    'another’s project': () => theirs.projectId,
    'plinth’s own project': () => local.project,
    'the project of a shared zone': () => local.standingZone.project,
  };

  it('is somebody in its own project', async () => {
    const nodes = await tokenOf(accountEmail(accountIds.cloudController, mine.projectId));
    const line = `GET /compute/v1/projects/${mine.projectId}/zones/${zone}/instances`;
    expect((await ask(nodes, { api: 'compute', line })).status).to.equal(200);
    const writer = await tokenOf(accountEmail(accountIds.registryWriter, mine.projectId));
    const repository = mine.instances.find(({ id }) => id === 'repository');
    expect(repository?.state).to.equal('done');
    const read = await ask(writer, {
      api: 'artifactregistry',
      line: `GET /v1/projects/${mine.projectId}/locations/${local.region}/repositories/platform-registry`,
    });
    expect(read.status, read.text).to.equal(200);
  });

  for (const [title, projectOf] of Object.entries(targets)) {
    for (const account of accounts) {
      it(`as ${account} is refused on ${title} what its owner may`, async () => {
        const token = await tokenOf(accountEmail(account, mine.projectId));
        const reached: string[] = [];
        for (const asked of goodCalls(projectOf())) {
          const { status, text } = await ask(token, asked);
          if (status !== 403 && status !== 404) reached.push(`${asked.api} ${asked.line}: ${status} ${text}`);
        }
        expect(reached.join('\n')).to.equal('');
      });

      it(`as ${account} is refused on ${title} by every method`, async () => {
        expect(await reachedBy(account, projectOf())).to.equal('');
      });
    }

    it(`would be refused nothing on ${title}, were it the owner`, async () => {
      const admin = scene.cloud.identity.accessToken(people.admin);
      const refused: string[] = [];
      const calls = goodCalls(projectOf());
      for (const { as, ...asked } of calls) {
        const { status, text } = await ask(as === undefined ? admin : scene.cloud.identity.accessToken(as), asked);
        if (status !== 200) refused.push(`${asked.api} ${asked.line}: ${status} ${text}`);
      }
      expect(refused.join('\n')).to.equal('');
      expect(new Set(calls.map(({ api }) => api))).to.have.keys(...Object.keys(apis));
      // Nor by any other method, whatever the request lacks.
      for (const asked of everyCall(projectOf())) {
        if (ends.test(asked.id) || isOfCaller.test(asked.id) || asked.api === 'iamcredentials') continue;
        const { status, text } = await ask(admin, asked);
        if (status === 401 || status === 403 || status === 501) refused.push(`${asked.id}: ${status} ${text}`);
      }
      expect(refused.join('\n')).to.equal('');
    });
  }

  /** Whether the policies refuse what a method would ask for, where its body is judged before its caller. */
  function isDenied(email: string, { definition, id, params, body = {} }: EveryCall): boolean {
    const caller = { email, kind: 'serviceAccount' } as const;
    const resource = resourceIn(params['path'] ?? '');
    const needed = accessOf(definition, { method: id, params, lists: {}, resource, body, caller }, scene.cloud.world);
    return needed.some((access) => !scene.cloud.world.policies.allows(caller, access.permission, access.resource));
  }

  async function reachedBy(account: string, projectId: string): Promise<string> {
    const email = accountEmail(account, mine.projectId);
    const token = await tokenOf(email);
    const reached: string[] = [];
    for (const asked of everyCall(projectId)) {
      const { status, text } = await ask(token, asked);
      const isRefused = status === 403 || status === 404 || (status === 400 && isDenied(email, asked));
      if (isRefused || tellsAll.test(asked.id) || isOfCaller.test(asked.id)) continue;
      const tellsNothing = !text.includes(projectId) && !text.includes('"permissions":');
      if (status === 200 && tellsNothing && tellsWhatOneMaySee.test(asked.id)) continue;
      reached.push(`${asked.id}: ${status} ${text}`);
    }
    return reached.join('\n');
  }
});

/** Every simulated method, with what lies in the project wherever it takes a name. */
function everyCall(p: string): EveryCall[] {
  const names: Readonly<Record<string, string>> = {
    projects: p,
    project: p,
    projectId: p,
    locations: local.region,
    region: local.region,
    zone,
    managedZone: zoneName,
    bucket: bucketOf(p),
    organizations: local.organization.split('/')[1] ?? '',
    folders: local.folder.split('/')[1] ?? '',
    billingAccounts: local.billingAccount,
    services: 'compute.googleapis.com',
    permissions: 'storage.objects.get',
    serviceAccounts: robotOf(p),
    resource: p,
    topics: topic,
    secrets: secret,
    versions: '1',
    policies: 'compute.requireOsLogin',
    autoDelete: 'true',
  };
  return apiDefinitions.flatMap((definition) =>
    Object.keys(definition.handlers).map((id): EveryCall => {
      const surface = surfaceOf(definition.api);
      const method = surface.methods.get(id);
      if (method === undefined) throw new Error(`${definition.api} has no method ${id}`);
      const api = definition.api.split('.')[0] as SimulatedApi;
      const named = namedPath(method, (word) =>
        word === 'projects' && api === 'iamcredentials' ? '-' : (names[word] ?? 'any'),
      );
      const query: Record<string, string> = {};
      for (const [name, { location, required }] of Object.entries(method.parameters ?? {})) {
        if (location === 'query' && name === 'parent')
          query[name] = id.includes('.liens.') ? `projects/${p}` : local.folder;
        else if (location === 'query' && required === true) query[name] = names[name] ?? 'any';
      }
      const path = surface.base + named.path;
      return {
        id,
        api,
        definition,
        params: { ...named.params, ...query, path },
        line: `${method.httpMethod} ${path}?${new URLSearchParams(query)}`,
        body: method.request === undefined ? undefined : bodyOf(p, definition, id),
      };
    }),
  );
}

const tested: Readonly<Record<string, string>> = {
  artifactregistry: 'artifactregistry.repositories.downloadArtifacts',
  cloudbilling: 'billing.resourceAssociations.create',
  cloudresourcemanager: 'resourcemanager.projects.get',
  dns: 'dns.changes.create',
  iam: 'iam.serviceAccounts.actAs',
  pubsub: 'pubsub.topics.publish',
  secretmanager: 'secretmanager.versions.access',
};

const bodyOf = (p: string, definition: ApiDefinition, id: string): JsonObject =>
  id.endsWith('.testIamPermissions')
    ? { permissions: [tested[id.split('.')[0] ?? ''] ?? ''] }
    : (bodies(p, definition)[id] ?? {});

/** Where what is asked for stands in the body. */
const bodies = (p: string, { api }: ApiDefinition): Readonly<Record<string, JsonObject>> => ({
  'cloudresourcemanager.liens.create': { parent: `projects/${p}`, restrictions: ['resourcemanager.projects.delete'] },
  'cloudresourcemanager.projects.create': {
    projectId: 'brand-new-project',
    parent: api.endsWith('v3') ? local.folder : { type: 'folder', id: local.folder.split('/')[1] ?? '' },
  },
  'pubsub.projects.subscriptions.create': { topic: `projects/${p}/topics/${topic}` },
});
