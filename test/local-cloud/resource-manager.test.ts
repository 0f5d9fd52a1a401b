import { expect } from 'chai';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import { changeSettings, readSettings } from '../../local/cloud/worlds/settings.js';
import { owner, ownersBindings, type ReadyCloud, readyCloud, stranger } from './ready-cloud.js';
import { denied, invalid, itRefuses, refusalsOf } from './refusals.js';

const folder = 'folders/100000000001';
const api = 'cloudresourcemanager';
const creator = `creator@ready-project.iam.gserviceaccount.com`;

const initial = {
  folders: [{ name: folder, displayName: 'bootstraps', parent: 'organizations/100' }],
  serviceAccounts: [creator],
  bindings: [
    ...ownersBindings,
    { resource: folder, role: 'roles/resourcemanager.projectCreator', members: [`serviceAccount:${creator}`] },
  ],
} as const;

const wanted = (projectId: string, more: JsonObject = {}): JsonObject => ({
  projectId,
  displayName: 'My project',
  parent: folder,
  ...more,
});
const policyOf = async (cloud: ReadyCloud, project: string, as = owner): Promise<JsonObject> =>
  (
    await cloud.call(
      api,
      `POST /v3/projects/${project}:getIamPolicy`,
      { options: { requestedPolicyVersion: 3 } },
      { as },
    )
  ).body;
const bind = (policy: JsonObject, role: string, member: string): JsonObject => ({
  ...policy,
  bindings: [...((policy['bindings'] ?? []) as JsonObject[]), { role, members: [member] }],
});

/** A hundred times as fast as Google's. Search lags for long enough to be met also by a busy computer. */
async function slowCloud(): Promise<ReadyCloud> {
  const cloud = await readyCloud({ initial, timeFactor: 0.01 });
  changeSettings(cloud.world, readSettings({ 'delay.projectSearch': 120 }));
  return cloud;
}

describe('simulated Resource Manager', () => {
  let cloud: ReadyCloud;
  const call = (line: string, body?: unknown, as = owner) => cloud.call(api, line, body, { as });

  before(async () => {
    cloud = await readyCloud({ initial });
    await call('POST /v3/projects', wanted('taken-project', { labels: { kind: 'test' } }));
  });
  after(() => cloud.close());

  describe('bad requests', () => {
    const refused = refusalsOf(api);
    const post = (name: string, body: unknown, says?: RegExp) =>
      refused(name, 'POST /v3/projects', body, ...invalid, says);
    itRefuses(
      () => cloud,
      [
        refused('a call without a token', 'GET /v3/projects/ready-project', undefined, 401, 'UNAUTHENTICATED', {
          token: undefined,
        }),
        refused('a token of another making', 'GET /v3/projects/ready-project', undefined, 401, 'UNAUTHENTICATED', {
          token: 'ya29.abc.def',
        }),
        post(
          'an unknown field',
          wanted('good-project', { colour: 'red' }),
          /^Invalid JSON payload received\. Unknown name "colour" at 'project': Cannot find field\.$/,
        ),
        post(
          'a number for a text',
          wanted('good-project', { displayName: 5 }),
          /Invalid value at 'project\.display_name' \(TYPE_STRING\), 5/,
        ),
        post('a list for an object', wanted('good-project', { labels: [] })),
        post(
          'a label that is no text',
          wanted('good-project', { labels: { a: true } }),
          /'project\.labels\.a' \(TYPE_STRING\), true/,
        ),
        post('an id that is too short', wanted('abc'), /at least 6 characters/),
        post('an id that is too long', wanted(`a${'b'.repeat(30)}`), /at most 30 characters/),
        post('an id that begins with a digit', wanted('1st-project'), /must start with a lowercase letter/),
        post('an id in capitals', wanted('my-Project'), /invalid characters/),
        post('an id that ends in a hyphen', wanted('my-project-'), /must not end/),
        post('no id', { displayName: 'My project', parent: folder }),
        post('a display name that is too short', wanted('good-project', { displayName: 'abc' })),
        post('a display name that is too long', wanted('good-project', { displayName: 'a'.repeat(31) })),
        post('a display name with a slash', wanted('good-project', { displayName: 'my/project' })),
        post('a label value with a dot', wanted('good-project', { labels: { version: 'v1.2' } })),
        post('a label value of 64 characters', wanted('good-project', { labels: { version: 'v'.repeat(64) } })),
        post('a label key in capitals', wanted('good-project', { labels: { Version: '1' } })),
        post(
          '65 labels',
          wanted('good-project', { labels: Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`l${i}`, ''])) }),
        ),
        post('a parent that is no name', wanted('good-project', { parent: 'folders/my-folder' })),
        { ...post('a body that is no JSON', undefined), text: '{"projectId":' },
        post('a body that is a list', [1]),
        refused('an id that is taken', 'POST /v3/projects', wanted('taken-project'), 409, 'ALREADY_EXISTS'),
        refused(
          'a project in a folder that is not there',
          'POST /v3/projects',
          wanted('good-project', { parent: 'folders/9' }),
          ...denied,
        ),
        refused("a project in somebody else's folder", 'POST /v3/projects', wanted('good-project'), ...denied, {
          as: stranger,
          says: /'resourcemanager\.projects\.create' denied/,
        }),
        refused(
          'a project of a service account without a parent',
          'POST /v3/projects',
          { projectId: 'good-project', displayName: 'My project' },
          ...denied,
          { as: creator, says: /Service accounts cannot create projects without a parent/ },
        ),
        refused(
          'a project that is not there, like one that is not ours',
          'GET /v3/projects/no-such-project',
          undefined,
          ...denied,
          /\(or it may not exist\)/,
        ),
        refused("somebody else's project", 'GET /v3/projects/taken-project', undefined, ...denied, { as: stranger }),
        refused(
          'an unknown query parameter',
          'GET /v3/projects/taken-project?view=FULL',
          undefined,
          ...invalid,
          /Cannot bind query parameter/,
        ),
        refused(
          'a page size that is no number',
          'GET /v3/projects:search?pageSize=many',
          undefined,
          ...invalid,
          /'page_size' \(TYPE_INT32\), "many"/,
        ),
        refused(
          'a mask of what cannot change',
          'PATCH /v3/projects/taken-project?updateMask=projectId',
          { projectId: 'other' },
          ...invalid,
        ),
        refused(
          'labels that are not valid',
          'PATCH /v3/projects/taken-project?updateMask=labels',
          { labels: { a: 'B' } },
          ...invalid,
        ),
        refused(
          'a stale etag',
          'PATCH /v3/projects/taken-project?updateMask=labels',
          { labels: {}, etag: 'W/"old"' },
          409,
          'ABORTED',
        ),
        refused('a search by what it does not know', 'GET /v3/projects:search?query=colour:red', undefined, ...invalid),
        refused('a policy without a policy', 'POST /v3/projects/taken-project:setIamPolicy', {}, ...invalid),
        refused(
          'an unknown role',
          'POST /v3/projects/taken-project:setIamPolicy',
          { policy: bind({}, 'roles/everything', `user:${owner}`) },
          ...invalid,
          /^Role roles\/everything is not supported/,
        ),
        refused(
          'a role that means nothing on a project',
          'POST /v3/projects/taken-project:setIamPolicy',
          { policy: bind({}, 'roles/billing.user', `user:${owner}`) },
          ...invalid,
          /^Role roles\/billing\.user is not supported for this resource\.$/,
        ),
        refused(
          'a service account that does not exist',
          'POST /v3/projects/taken-project:setIamPolicy',
          { policy: bind({}, 'roles/viewer', 'serviceAccount:none@taken-project.iam.gserviceaccount.com') },
          ...invalid,
          /^Service account none@taken-project\.iam\.gserviceaccount\.com does not exist\.$/,
        ),
        refused(
          'a member of no kind',
          'POST /v3/projects/taken-project:setIamPolicy',
          { policy: bind({}, 'roles/viewer', 'alice@example.com') },
          ...invalid,
        ),
        refused(
          'a service account that is called a user',
          'POST /v3/projects/taken-project:setIamPolicy',
          { policy: bind({}, 'roles/viewer', `user:${creator}`) },
          ...invalid,
        ),
        refused(
          'a condition in version 1',
          'POST /v3/projects/taken-project:setIamPolicy',
          {
            policy: {
              version: 1,
              bindings: [
                { role: 'roles/viewer', members: [`user:${owner}`], condition: { title: 'soon', expression: 'true' } },
              ],
            },
          },
          ...invalid,
        ),
        refused(
          'a lien without a reason',
          'POST /v1/liens',
          { parent: 'projects/taken-project', restrictions: ['resourcemanager.projects.delete'], origin: 'test' },
          ...invalid,
        ),
        refused('an operation that never was', 'GET /v3/operations/cp.1', undefined, 404, 'NOT_FOUND'),
        refused('a method of a version that has none', 'GET /v4/projects/taken-project', undefined, 404, ''),
        refused(
          'a version 1 parent of an unknown kind',
          'POST /v1/projects',
          { projectId: 'good-project', parent: { type: 'team', id: '1' } },
          ...invalid,
        ),
        refused(
          'an unknown field in version 1',
          'POST /v1/projects',
          { projectId: 'good-project', displayName: 'My project' },
          ...invalid,
        ),
        refused(
          'a project that is not there in version 1',
          'GET /v1/projects/no-such-project',
          undefined,
          ...denied,
          /^The caller does not have permission$/,
        ),
      ],
    );
  });

  it('makes a project in an operation, and its creator is its owner', async () => {
    const made = await call('POST /v3/projects', wanted('made-project', { labels: { 'delete-after': 't1' } }), creator);
    expect(made.body).to.deep.include({ done: true });
    expect(made.body['name']).to.match(/^operations\/cp\.\d+$/);
    const found = await call('GET /v3/projects/made-project', undefined, creator);
    expect(found.body).to.deep.include({
      projectId: 'made-project',
      displayName: 'My project',
      parent: folder,
      state: 'ACTIVE',
      labels: { 'delete-after': 't1' },
    });
    expect(found.body['name']).to.match(/^projects\/\d{12}$/);
    const policy = await policyOf(cloud, 'made-project', creator);
    expect(policy['bindings']).to.deep.equal([{ role: 'roles/owner', members: [`serviceAccount:${creator}`] }]);
    const [, number] = String(found.body['name']).split('/');
    expect((await call(`GET /v1/projects/${number}`, undefined, creator)).body).to.deep.include({
      projectId: 'made-project',
      projectNumber: number,
      lifecycleState: 'ACTIVE',
      parent: { type: 'folder', id: '100000000001' },
    });
  });

  it('shows nothing of a project until its operation is done, and search lags behind', async () => {
    const slow = await slowCloud();
    try {
      const ask = (line: string, body?: unknown) => slow.call(api, line, body);
      const begun = await ask('POST /v3/projects', wanted('slow-project'));
      expect(begun.body['done']).to.equal(undefined);
      expect((await ask('GET /v3/projects/slow-project')).status, 'owner of the organization').to.equal(403);
      expect((await ask('POST /v3/projects', wanted('slow-project'))).reason).to.equal('ALREADY_EXISTS');
      while ((await ask(`GET /v3/${String(begun.body['name'])}`)).body['done'] !== true) await pause(5);
      expect((await ask('GET /v3/projects/slow-project')).status).to.equal(200);
      expect((await ask('GET /v3/projects:search?query=id:slow-project')).body).to.deep.equal({});
      const search = async () => (await ask('GET /v3/projects:search?query=id:slow-project')).body['projects'];
      while ((await search()) === undefined) await pause(20);
      expect(await search()).to.have.length(1);
    } finally {
      await slow.close();
    }
  });

  it('fails in the operation, with code 8, over the quota of projects', async () => {
    const fault = cloud.faults.quota({ metric: 'projects', limit: 1 });
    await call('POST /v3/projects', wanted('quota-project-a'), creator);
    const { body } = await call('POST /v3/projects', wanted('quota-project-b'), creator);
    cloud.faults.remove(fault);
    expect(body['error']).to.deep.include({ code: 8 });
    expect((await call('GET /v3/projects/quota-project-b')).status).to.equal(403);
  });

  it('deletes at once, for 30 days restorable, and never gives the id away again', async () => {
    await call('POST /v3/projects', wanted('short-project'));
    expect((await call('DELETE /v3/projects/short-project')).body['done']).to.equal(true);
    expect((await call('GET /v3/projects/short-project')).body['state']).to.equal('DELETE_REQUESTED');
    expect((await call('DELETE /v3/projects/short-project')).reason).to.equal('FAILED_PRECONDITION');
    expect((await call('POST /v3/projects', wanted('short-project'))).reason).to.equal('ALREADY_EXISTS');
    await call('POST /v1/projects/short-project:undelete', {});
    expect((await call('GET /v3/projects/short-project')).body['state']).to.equal('ACTIVE');
  });

  it('restores nothing after 30 days', async () => {
    await call('POST /v3/projects', wanted('old-project'));
    await call('DELETE /v3/projects/old-project');
    const record = cloud.world.project.bind(cloud.world);
    expect(() => record('old-project')).to.throw(/has been deleted/);
    const projects = cloud.world.table<{ deleteTime: string }>('projects');
    (projects['old-project'] as { deleteTime: string }).deleteTime = new Date(
      Date.now() - 31 * 86_400_000,
    ).toISOString();
    expect((await call('POST /v1/projects/old-project:undelete', {})).status).to.equal(403);
  });

  it('shows deletion and labels of a project at once, in a search only later', async () => {
    const slow = await slowCloud();
    try {
      const ask = (line: string, body?: unknown) => slow.call(api, line, body);
      const search = async (query: string) =>
        ((await ask(`GET /v3/projects:search?query=${query}`)).body['projects'] ?? []) as JsonObject[];
      const shown = async () => (await ask('GET /v3/projects/lag-project')).body;
      const { body: begun } = await ask('POST /v3/projects', wanted('lag-project'));
      while ((await ask(`GET /v3/${String(begun['name'])}`)).body['done'] !== true) await pause(5);
      while ((await search('id:lag-project')).length === 0) await pause(20);
      await ask('PATCH /v3/projects/lag-project?updateMask=labels', { labels: { colour: 'red' } });
      expect((await shown())['labels']).to.deep.equal({ colour: 'red' });
      expect(await search('labels.colour:red')).to.deep.equal([]);
      while ((await search('labels.colour:red')).length === 0) await pause(20);
      await ask('DELETE /v3/projects/lag-project');
      expect((await shown())['state']).to.equal('DELETE_REQUESTED');
      const found = async () => (await search('id:lag-project'))[0]?.['state'];
      expect(await found()).to.equal('ACTIVE');
      while ((await found()) !== 'DELETE_REQUESTED') await pause(20);
    } finally {
      await slow.close();
    }
  });

  it('does not delete under a lien', async () => {
    await call('POST /v3/projects', wanted('liened-project'));
    const { body: project } = await call('GET /v3/projects/liened-project');
    const lien = await call('POST /v1/liens', {
      parent: project['name'],
      restrictions: ['resourcemanager.projects.delete'],
      reason: 'still needed',
      origin: 'test',
    });
    expect((await call(`GET /v3/liens?parent=${String(project['name'])}`)).body['liens']).to.deep.equal([lien.body]);
    const refused = await call('DELETE /v3/projects/liened-project');
    expect(refused).to.deep.include({ status: 400, reason: 'FAILED_PRECONDITION' });
    expect(refused.message).to.match(/A lien to prevent deletion was placed on the project by \[test\]/);
    await call(`DELETE /v1/${String(lien.body['name'])}`);
    expect((await call('DELETE /v3/projects/liened-project')).status).to.equal(200);
  });

  it('changes labels under a mask, with an etag', async () => {
    const { body: before } = await call('GET /v3/projects/taken-project');
    const changed = await call('PATCH /v3/projects/taken-project?updateMask=labels', {
      labels: { kind: 'new' },
      etag: before['etag'],
    });
    expect(changed.status).to.equal(200);
    const { body: after } = await call('GET /v3/projects/taken-project');
    expect(after).to.deep.include({ labels: { kind: 'new' }, displayName: 'My project' });
    expect(after['etag']).not.to.equal(before['etag']);
    const search = await call('GET /v3/projects:search?query=labels.kind:new%20state:ACTIVE');
    expect((search.body['projects'] as JsonObject[]).map(({ projectId }) => projectId)).to.deep.equal([
      'taken-project',
    ]);
  });

  it('lets the later of two writers of a policy read again', async () => {
    const policy = await policyOf(cloud, 'taken-project');
    const line = 'POST /v3/projects/taken-project:setIamPolicy';
    expect((await call(line, { policy: bind(policy, 'roles/viewer', 'user:carol@example.com') })).status).to.equal(200);
    const late = await call(line, { policy: bind(policy, 'roles/viewer', 'user:dave@example.com') });
    expect(late).to.deep.include({ status: 409, reason: 'ABORTED' });
    const again = await policyOf(cloud, 'taken-project');
    expect((await call(line, { policy: bind(again, 'roles/viewer', 'user:dave@example.com') })).status).to.equal(200);
    const { bindings } = await policyOf(cloud, 'taken-project');
    expect(bindings).to.deep.include({
      role: 'roles/viewer',
      members: ['user:carol@example.com', 'user:dave@example.com'],
    });
  });

  it('keeps conditions, and shows them to who asks for version 3', async () => {
    const policy = await policyOf(cloud, 'taken-project');
    const condition = { title: 'soon', expression: 'request.time < timestamp("2001-01-01T00:00:00Z")' };
    const bindings = [
      ...(policy['bindings'] as JsonObject[]),
      { role: 'roles/editor', members: [`user:${stranger}`], condition },
    ];
    await call('POST /v3/projects/taken-project:setIamPolicy', { policy: { ...policy, version: 3, bindings } });
    expect((await policyOf(cloud, 'taken-project'))['bindings']).to.deep.include(bindings.at(-1));
    const plain = await call('POST /v3/projects/taken-project:getIamPolicy', {});
    expect(plain.body['version']).to.equal(1);
    expect((plain.body['bindings'] as JsonObject[]).some(({ role }) => /_withcond_/.test(String(role)))).to.equal(true);
    expect((await call('GET /v3/projects/taken-project', undefined, stranger)).status).to.equal(403);
  });

  it('says which permissions one has, and needs none for it', async () => {
    const permissions = ['resourcemanager.projects.get', 'resourcemanager.projects.delete'];
    const line = 'POST /v3/projects/ready-project:testIamPermissions';
    expect((await call(line, { permissions })).body).to.deep.equal({ permissions });
    expect((await call(line, { permissions }, stranger)).body).to.deep.equal({});
    const onFolder = await call(
      `POST /v3/${folder}:testIamPermissions`,
      { permissions: ['resourcemanager.projects.create'] },
      creator,
    );
    expect(onFolder.body).to.deep.equal({ permissions: ['resourcemanager.projects.create'] });
  });
});

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
