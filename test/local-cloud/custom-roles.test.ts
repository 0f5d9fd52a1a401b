/** Custom roles: those that are made in projects, and those of organizations. */
import { expect } from 'chai';
import { customRoles } from '../../local/cloud/iam/custom-roles.js';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import { owner, project, type ReadyCloud, readyCloud, stranger } from './ready-cloud.js';
import { itRefuses, refusalsOf } from './refusals.js';

const roles = `/v1/projects/${project}/roles`;
const zoneReader = {
  title: 'Reader of zones',
  includedPermissions: ['dns.managedZones.list', 'dns.managedZones.get'],
  stage: 'GA',
};

describe('custom roles of the simulated cloud', () => {
  let cloud: ReadyCloud;
  const call = (line: string, body?: unknown, as = owner) => cloud.call('iam', line, body, { as });
  const make = (roleId: string, role: JsonObject = zoneReader) => call(`POST ${roles}`, { roleId, role });
  const grant = (role: string, resource = `projects/${project}`) =>
    cloud.call('cloudresourcemanager', `POST /v3/${resource}:setIamPolicy`, {
      policy: { bindings: [{ role, members: [`user:${stranger}`] }] },
    });
  const zones = async (as: string) =>
    (await cloud.call('dns', `GET /dns/v1/projects/${project}/managedZones`, undefined, { as })).status;

  beforeEach(async () => {
    cloud = await readyCloud({
      initial: {
        organizations: [{ name: 'organizations/100', displayName: 'example.com' }],
        projects: [
          {
            projectId: project,
            parent: 'organizations/100',
            services: ['iam.googleapis.com', 'dns.googleapis.com'],
          },
          { projectId: 'other-project', parent: 'organizations/100' },
        ],
        bindings: ['owner', 'iam.organizationRoleAdmin'].map((role) => ({
          resource: 'organizations/100',
          role: `roles/${role}`,
          members: [`user:${owner}`],
        })),
      },
    });
    expect(await make('zoneReader')).to.include({ status: 200 });
  });
  afterEach(() => cloud.close());

  const name = `projects/${project}/roles/zoneReader`;

  it('are shown with title, permissions in order, stage and etag', async () => {
    const { body } = await call(`GET ${roles}/zoneReader`);
    expect(body).to.deep.equal({
      ...zoneReader,
      name,
      includedPermissions: ['dns.managedZones.get', 'dns.managedZones.list'],
      etag: body['etag'],
    });
  });

  it('grant what they hold, and no longer what is taken from them', async () => {
    expect(await zones(stranger)).to.equal(403);
    expect((await grant(name)).status).to.equal(200);
    expect(await zones(stranger)).to.equal(200);
    const without = { includedPermissions: ['dns.managedZones.get'] };
    await call(`PATCH ${roles}/zoneReader?updateMask=includedPermissions`, without);
    expect(await zones(stranger)).to.equal(403);
    expect((await call(`GET ${roles}/zoneReader`)).body).to.include({ title: zoneReader.title });
  });

  it('grant nothing while deleted or disabled, and their id stays taken', async () => {
    await grant(name);
    expect((await call(`DELETE ${roles}/zoneReader`)).body).to.include({ deleted: true });
    expect(await zones(stranger)).to.equal(403);
    expect((await call(`GET ${roles}/zoneReader`)).body).to.include({ deleted: true });
    expect(await make('zoneReader')).to.include({
      status: 400,
      reason: 'failedPrecondition',
      message: "You can't create a role_id (zoneReader) which has been marked for deletion.",
    });
    expect((await call(`POST ${roles}/zoneReader:undelete`, {})).body).to.not.have.property('deleted');
    expect(await zones(stranger)).to.equal(200);
    await call(`PATCH ${roles}/zoneReader`, { stage: 'DISABLED' });
    expect(await zones(stranger)).to.equal(403);
  });

  it('of an organization hold in its projects, and those of a project only there', async () => {
    const { title, includedPermissions: permissions } = zoneReader;
    customRoles(cloud.world)['organizations/100/roles/zoneReader'] = { title, permissions };
    expect((await call('GET /v1/organizations/100/roles/zoneReader')).body).to.include({ title });
    expect((await grant('organizations/100/roles/zoneReader')).status).to.equal(200);
    expect(await zones(stranger)).to.equal(200);
    expect(await grant(name, 'projects/other-project')).to.include({
      status: 400,
      message: `Role (${name}) does not exist in the resource's hierarchy.`,
    });
  });

  it('may hold what Google says may be tested', async () => {
    const names: string[] = [];
    for (let pageToken = ''; ; ) {
      const { body } = await call('POST /v1/permissions:queryTestablePermissions', {
        fullResourceName: `//cloudresourcemanager.googleapis.com/projects/${project}`,
        pageSize: 1000,
        pageToken,
      });
      names.push(...(body['permissions'] as JsonObject[]).map((each) => String(each['name'])));
      pageToken = String(body['nextPageToken'] ?? '');
      if (pageToken === '') break;
    }
    expect(names).to.include('dns.managedZones.setIamPolicy').and.not.include('resourcemanager.projects.list');
  });

  const refused = refusalsOf('iam');
  itRefuses(
    () => cloud,
    [
      refused(
        'an id with a hyphen',
        `POST ${roles}`,
        { roleId: 'zone-reader', role: zoneReader },
        400,
        'badRequest',
        /^The role_id "zone-reader" is invalid\. It doesn't match pattern/,
      ),
      refused('an id that is taken', `POST ${roles}`, { roleId: 'zoneReader', role: zoneReader }, 409, 'alreadyExists'),
      refused(
        'a permission that Google does not have',
        `POST ${roles}`,
        { roleId: 'other', role: { includedPermissions: ['dns.managedZones.admire'] } },
        400,
        'badRequest',
        /^Permission dns\.managedZones\.admire is not valid\.$/,
      ),
      refused(
        'a permission of organizations in a project',
        `POST ${roles}`,
        { roleId: 'other', role: { includedPermissions: ['resourcemanager.projects.list'] } },
        400,
        'badRequest',
        /^Permission resourcemanager\.projects\.list is not valid\.$/,
      ),
      refused(
        'a permission of a service whose permissions are not known here',
        `POST ${roles}`,
        { roleId: 'other', role: { includedPermissions: ['container.clusters.get'] } },
        501,
        'SIMULATOR_LIMIT',
      ),
      refused(
        'a change under an old etag',
        `PATCH ${roles}/zoneReader`,
        { title: 'New', etag: 'BwXhqDVVjtU=' },
        409,
        'aborted',
      ),
      refused('a change of what cannot change', `PATCH ${roles}/zoneReader?updateMask=deleted`, {}, 400, 'badRequest'),
      refused('a role that is not there', `GET ${roles}/nothing`, undefined, 404, 'notFound'),
      refused('the restoring of what stands', `POST ${roles}/zoneReader:undelete`, {}, 400, 'failedPrecondition'),
      refused('who may not make roles', `POST ${roles}`, {}, 403, 'forbidden', { as: stranger }),
    ],
  );
});
