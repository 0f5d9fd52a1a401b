import { expect } from 'chai';
import { roleHolds } from '../../local/cloud/iam/roles.js';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import { permissionOf } from '../../local/cloud/kernel/permission-names.js';
import { vmBody, zone } from './furnished.js';
import { owner, type ReadyCloud, readyCloud, stranger } from './ready-cloud.js';

const robot = 'robot@ready-project.iam.gserviceaccount.com';
const member = `serviceAccount:${robot}`;

describe('roles in the simulated cloud', () => {
  for (const [method, permission] of [
    ['compute.instances.insert', 'compute.instances.create'],
    ['compute.instances.aggregatedList', 'compute.instances.list'],
    ['compute.globalOperations.wait', 'compute.globalOperations.get'],
    ['secretmanager.projects.secrets.addVersion', 'secretmanager.versions.add'],
    ['secretmanager.projects.secrets.versions.access', 'secretmanager.versions.access'],
    ['artifactregistry.projects.locations.repositories.create', 'artifactregistry.repositories.create'],
    ['pubsub.projects.topics.publish', 'pubsub.topics.publish'],
    ['dns.changes.create', 'dns.changes.create'],
    ['iam.projects.serviceAccounts.create', 'iam.serviceAccounts.create'],
    ['cloudresourcemanager.projects.setIamPolicy', 'resourcemanager.projects.setIamPolicy'],
  ] as const) {
    it(`${method} needs ${permission}`, () => expect(permissionOf(method)).to.equal(permission));
  }

  for (const [role, permission, holds] of [
    ['owner', 'resourcemanager.projects.setIamPolicy', true],
    ['owner', 'billing.resourceAssociations.create', false],
    ['editor', 'compute.instances.create', true],
    ['editor', 'resourcemanager.projects.setIamPolicy', false],
    ['editor', 'secretmanager.versions.access', false],
    ['viewer', 'compute.instances.list', true],
    ['viewer', 'compute.instances.create', false],
    ['compute.viewer', 'compute.instances.get', true],
    ['compute.viewer', 'compute.instances.delete', false],
    ['dns.admin', 'dns.changes.create', true],
    ['dns.admin', 'compute.instances.get', false],
    ['artifactregistry.reader', 'artifactregistry.repositories.uploadArtifacts', false],
    ['artifactregistry.writer', 'artifactregistry.repositories.uploadArtifacts', true],
    ['iam.serviceAccountAdmin', 'iam.serviceAccounts.create', true],
    ['iam.serviceAccountAdmin', 'iam.serviceAccounts.actAs', false],
    ['secretmanager.secretAccessor', 'secretmanager.secrets.get', false],
    ['resourcemanager.projectCreator', 'resourcemanager.projects.delete', false],
  ] as const) {
    it(`roles/${role} ${holds ? 'holds' : 'does not hold'} ${permission}`, () => {
      expect(roleHolds(`roles/${role}`, permission, undefined as never)).to.equal(holds);
    });
  }

  describe('as they are granted', () => {
    let cloud: ReadyCloud;
    const grant = (resource: string, role: string, who: string) => {
      const policy = cloud.world.policies.get(resource, 3);
      return cloud.world.policies.set(resource, {
        ...policy,
        bindings: [...((policy['bindings'] ?? []) as JsonObject[]), { role, members: [who] }],
      });
    };
    const look = (as: string, path = 'projects/ready-project') =>
      cloud.call('cloudresourcemanager', `GET /v3/${path}`, undefined, { as });

    const begin = async (timeFactor = 0) => {
      cloud = await readyCloud({
        timeFactor,
        initial: {
          serviceAccounts: [robot],
          folders: [
            { name: 'folders/1', displayName: 'outer', parent: 'organizations/100' },
            { name: 'folders/2', displayName: 'inner', parent: 'folders/1' },
          ],
          projects: [
            {
              projectId: 'ready-project',
              parent: 'organizations/100',
              billingAccountName: 'billingAccounts/000000-000000-000000',
              services: ['cloudresourcemanager', 'dns', 'secretmanager'].map((each) => `${each}.googleapis.com`),
            },
            { projectId: 'deep-project', parent: 'folders/2' },
          ],
        },
      });
    };
    afterEach(() => cloud.close());

    it('are inherited from organization and folders, and not from a neighbour', async () => {
      await begin();
      expect((await look(robot, 'projects/deep-project')).status).to.equal(403);
      grant('projects/ready-project', 'roles/viewer', member);
      expect((await look(robot, 'projects/deep-project')).status).to.equal(403);
      grant('folders/1', 'roles/viewer', member);
      expect((await look(robot, 'projects/deep-project')).status).to.equal(200);
    });

    it('hold for a resource under a project alone, if they were granted on it', async () => {
      await begin();
      const create = (name: string, as = owner) =>
        cloud.call(
          'secretmanager',
          `POST /v1/projects/ready-project/secrets?secretId=${name}`,
          { replication: { automatic: {} } },
          { as },
        );
      await create('mine');
      await create('other');
      grant('projects/ready-project/secrets/mine', 'roles/secretmanager.admin', member);
      const add = (name: string) =>
        cloud.call(
          'secretmanager',
          `POST /v1/projects/ready-project/secrets/${name}:addVersion`,
          { payload: { data: 'YQ==' } },
          { as: robot },
        );
      expect((await add('mine')).status).to.equal(200);
      expect(await add('other')).to.include({ status: 403, reason: 'PERMISSION_DENIED' });
      expect((await create('third', robot)).status).to.equal(403);
    });

    describe('under a condition on names in Secret Manager', () => {
      const secrets = '/v1/projects/ready-project/secrets';
      const create = (name: string, as: string) =>
        cloud.call('secretmanager', `POST ${secrets}?secretId=${name}`, { replication: { automatic: {} } }, { as });
      const asRobot = async (line: string, body?: object) =>
        (await cloud.call('secretmanager', line, body, { as: robot })).status;
      const value = { payload: { data: 'YQ==' } };
      const grantUnder = (startsWith: string) => {
        const condition = { title: 'names', expression: `resource.name.startsWith("${startsWith}")` };
        cloud.world.policies.set('projects/ready-project', {
          version: 3,
          bindings: [{ role: 'roles/secretmanager.admin', members: [member], condition }],
        });
      };
      const number = () => cloud.world.project('ready-project').projectNumber;

      beforeEach(async () => {
        await begin();
        for (const name of ['mine-1', 'other-1']) {
          await create(name, owner);
          await cloud.call('secretmanager', `POST ${secrets}/${name}:addVersion`, value);
        }
      });

      it('hold where the name with the project’s number begins so, however the caller writes it', async () => {
        grantUnder(`projects/${number()}/secrets/mine-`);
        for (const path of [secrets, secrets.replace('ready-project', number())]) {
          expect(await asRobot(`GET ${path}/mine-1`)).to.equal(200);
          expect(await asRobot(`POST ${path}/mine-1:addVersion`, value)).to.equal(200);
          expect(await asRobot(`GET ${path}/other-1`)).to.equal(403);
          expect(await asRobot(`POST ${path}/other-1:addVersion`, value)).to.equal(403);
        }
      });

      it('hold for no secret where the condition has the project’s id', async () => {
        grantUnder('projects/ready-project/secrets/mine-');
        expect(await asRobot(`GET ${secrets}/mine-1`)).to.equal(403);
      });

      it('hold for versions, which are judged by names of their own', async () => {
        grantUnder(`projects/${number()}/secrets/mine-`);
        expect(await asRobot(`GET ${secrets}/mine-1/versions/1:access`)).to.equal(200);
        expect(await asRobot(`GET ${secrets}/mine-1/versions/latest:access`)).to.equal(200);
        expect(await asRobot(`GET ${secrets}/mine-1/versions`)).to.equal(200);
        expect(await asRobot(`GET ${secrets}/other-1/versions/1:access`)).to.equal(403);
        grantUnder(`projects/${number()}/secrets/mine-1/versions/1`);
        expect(await asRobot(`GET ${secrets}/mine-1/versions/1:access`)).to.equal(200);
        expect(await asRobot(`GET ${secrets}/mine-1/versions`)).to.equal(403);
      });

      it('tell a secret that is missing, where its name would do', async () => {
        grantUnder(`projects/${number()}/secrets/mine-`);
        expect(await asRobot(`GET ${secrets}/mine-2/versions/1:access`)).to.equal(404);
        expect(await asRobot(`GET ${secrets}/other-2/versions/1:access`)).to.equal(403);
      });

      it('never hold for making and listing secrets, which are judged by the project', async () => {
        grantUnder(`projects/${number()}/secrets/mine-`);
        expect((await create('mine-3', robot)).status).to.equal(403);
        expect(await asRobot(`GET ${secrets}`)).to.equal(403);
      });
    });

    it('let a VM act as an account by a role on that account alone', async () => {
      await begin();
      await cloud.call('serviceusage', 'POST /v1/projects/ready-project/services/compute.googleapis.com:enable', {});
      await cloud.call('serviceusage', 'POST /v1/projects/ready-project/services/iam.googleapis.com:enable', {});
      await cloud.call('iam', 'POST /v1/projects/ready-project/serviceAccounts', { accountId: 'machine' });
      const email = 'machine@ready-project.iam.gserviceaccount.com';
      const insert = async () => {
        const body = vmBody('vm', { serviceAccounts: [{ email, scopes: [] }] });
        const line = `POST /compute/v1/projects/ready-project/zones/${zone}/instances`;
        return (await cloud.call('compute', line, body, { as: robot })).message;
      };
      grant('projects/ready-project', 'roles/compute.instanceAdmin.v1', member);
      expect(await insert()).to.match(/iam\.serviceAccounts\.actAs/);
      grant(`projects/ready-project/serviceAccounts/${email}`, 'roles/iam.serviceAccountUser', member);
      // The network is missing, which is no refusal.
      expect(await insert()).to.match(/^Invalid value for field/);
    });

    it('take effect, and lose it, only after a while', async () => {
      await begin(0.004);
      grant('projects/ready-project', 'roles/viewer', member);
      expect((await look(robot)).status).to.equal(403);
      await pause(330);
      expect((await look(robot)).status).to.equal(200);
      cloud.world.policies.set('projects/ready-project', {});
      expect((await look(robot)).status).to.equal(200);
      await pause(330);
      expect((await look(robot)).status).to.equal(403);
    });

    it('hold for all of a domain where it was named', async () => {
      await begin();
      expect((await look(stranger)).status).to.equal(403);
      grant('projects/ready-project', 'roles/viewer', 'domain:example.com');
      expect((await look(stranger)).status).to.equal(200);
      expect((await look('carol@example.org')).status).to.equal(403);
    });

    it('go with a project that is named by its number', async () => {
      await begin();
      const { body } = await look(owner);
      grant(String(body['name']), 'roles/viewer', `user:${stranger}`);
      expect((await look(stranger, String(body['name']))).status).to.equal(200);
      expect((await look(stranger)).status).to.equal(200);
    });
  });
});

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
