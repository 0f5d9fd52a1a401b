import { expect } from 'chai';
import { project, type ReadyCloud, readyCloud, stranger } from './ready-cloud.js';
import { commonRefusals, invalid, itRefuses, refusalsOf } from './refusals.js';

const parent = '/v1/projects/P/locations/europe-west4';
const root = `${parent}/repositories`;
const docker = { format: 'DOCKER' };

describe('simulated Artifact Registry', () => {
  let cloud: ReadyCloud;
  const call = (line: string, body?: unknown, options?: { as?: string }) =>
    cloud.call('artifactregistry', line, body, options);

  describe('bad requests', () => {
    before(async () => {
      cloud = await readyCloud();
      await call(`POST ${root}?repositoryId=kept`, docker);
    });
    after(() => cloud.close());
    const refused = refusalsOf('artifactregistry');
    const notFound = [404, 'NOT_FOUND', /^Requested entity was not found\.$/] as const;
    itRefuses(() => cloud, commonRefusals('artifactregistry', `POST ${root}?repositoryId=other`, docker));
    itRefuses(
      () => cloud,
      [
        refused('a repository without an id', `POST ${root}`, docker, ...invalid),
        refused('an id in capitals', `POST ${root}?repositoryId=Other`, docker, ...invalid),
        refused('an id of 64 letters', `POST ${root}?repositoryId=${'a'.repeat(64)}`, docker, ...invalid),
        refused('a repository without a format', `POST ${root}?repositoryId=other`, {}, ...invalid),
        refused('a format that there is not', `POST ${root}?repositoryId=other`, { format: 'FLOPPY' }, ...invalid),
        refused('a mode that there is not', `POST ${root}?repositoryId=other`, { ...docker, mode: 'LAZY' }, ...invalid),
        refused('labels that are a list', `POST ${root}?repositoryId=other`, { ...docker, labels: [] }, ...invalid),
        refused(
          'a location that there is not',
          'POST /v1/projects/P/locations/mars-west1/repositories?repositoryId=other',
          docker,
          ...invalid,
          /mars-west1/,
        ),
        refused(
          'a repository that exists',
          `POST ${root}?repositoryId=kept`,
          docker,
          409,
          'ALREADY_EXISTS',
          /^the repository already exists$/,
        ),
        refused(
          'a project without billing',
          'POST /v1/projects/unpaid-project/locations/europe-west4/repositories?repositoryId=other',
          docker,
          403,
          'PERMISSION_DENIED',
          /billing/,
        ),
        refused('a look at one that is not there', `GET ${root}/none`, undefined, ...notFound),
        refused('removing one that is not there', `DELETE ${root}/none`, undefined, ...notFound),
        refused('a policy of one that is not there', `GET ${root}/none:getIamPolicy`, undefined, ...notFound),
        refused('an operation that never was', `GET ${parent}/operations/none`, undefined, ...notFound),
        refused('another format later', `PATCH ${root}/kept?updateMask=format`, { format: 'MAVEN' }, ...invalid),
        refused(
          'a policy with a role that there is not',
          `POST ${root}/kept:setIamPolicy`,
          { policy: { bindings: [{ role: 'roles/none', members: [] }] } },
          ...invalid,
        ),
        refused(
          'a policy for an account that is not there',
          `POST ${root}/kept:setIamPolicy`,
          {
            policy: {
              bindings: [
                {
                  role: 'roles/artifactregistry.reader',
                  members: [`serviceAccount:none@${project}.iam.gserviceaccount.com`],
                },
              ],
            },
          },
          ...invalid,
          /does not exist/,
        ),
      ],
    );
  });

  describe('behaviour', () => {
    afterEach(() => cloud.close());

    it('makes a repository by an operation, and shows it only then', async () => {
      cloud = await readyCloud({ timeFactor: 0.01 });
      const begun = await call(`POST ${root}?repositoryId=platform-registry`, { ...docker, labels: { a: 'b' } });
      expect(begun.body).not.to.have.property('done');
      expect((await call(`GET ${root}/platform-registry`)).status).to.equal(404);
      expect((await call(`POST ${root}?repositoryId=platform-registry`, docker)).status).to.equal(409);
      await new Promise((resolve) => setTimeout(resolve, 130));
      const done = (await call(`GET /v1/${begun.body['name']}`)).body as { done?: boolean; response?: object };
      expect(done.done).to.equal(true);
      expect(done.response).to.include({
        '@type': 'type.googleapis.com/google.devtools.artifactregistry.v1.Repository',
      });
      const { body } = await call(`GET ${root}/platform-registry`);
      expect(body).to.deep.include({
        name: `projects/${project}/locations/europe-west4/repositories/platform-registry`,
        format: 'DOCKER',
        mode: 'STANDARD_REPOSITORY',
        registryUri: `europe-west4-docker.pkg.dev/${project}/platform-registry`,
        labels: { a: 'b' },
      });
    });

    it('fills in a repository by its format', async () => {
      cloud = await readyCloud();
      await call(`POST ${root}?repositoryId=plain`, { ...docker, mode: 'MODE_UNSPECIFIED' });
      await call(`POST ${root}?repositoryId=modules`, { format: 'NPM' });
      const plain = (await call(`GET ${root}/plain`)).body;
      expect(plain).to.include({ mode: 'STANDARD_REPOSITORY', satisfiesPzi: true });
      expect(plain['vulnerabilityScanningConfig']).to.include({ enablementState: 'SCANNING_DISABLED' });
      const modules = (await call(`GET ${root}/modules`)).body;
      expect(modules).to.include({ registryUri: `europe-west4-npm.pkg.dev/${project}/modules` });
      expect(modules).not.to.have.property('vulnerabilityScanningConfig');
      for (const [format, mode] of [
        ['MAVEN', 'REMOTE_REPOSITORY'],
        ['DOCKER', 'VIRTUAL_REPOSITORY'],
      ]) {
        const reply = await call(`POST ${root}?repositoryId=far`, { format, mode });
        expect([reply.status, reply.reason]).to.deep.equal([501, 'UNIMPLEMENTED']);
      }
    });

    it('is satisfied with a role on the repository alone, and forgets it with the repository', async () => {
      cloud = await readyCloud();
      await call(`POST ${root}?repositoryId=one`, docker);
      await call(`POST ${root}?repositoryId=two`, docker);
      const bindings = [{ role: 'roles/artifactregistry.reader', members: [`user:${stranger}`] }];
      await call(`POST ${root}/one:setIamPolicy`, { policy: { bindings } });
      expect((await call(`GET ${root}/one`, undefined, { as: stranger })).status).to.equal(200);
      expect((await call(`GET ${root}/two`, undefined, { as: stranger })).status).to.equal(403);
      await call(`DELETE ${root}/one`);
      expect((await call(`GET ${root}/one`)).status).to.equal(404);
      await call(`POST ${root}?repositoryId=one`, docker);
      expect((await call(`GET ${root}/one`, undefined, { as: stranger })).status).to.equal(403);
    });
  });
});
