import { expect } from 'chai';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import { ownersBindings, type ReadyCloud, readyCloud, stranger } from './ready-cloud.js';
import { denied, invalid, itRefuses, refusalsOf } from './refusals.js';

const api = 'serviceusage';
const service = (name: string): string => `${name}.googleapis.com`;
const batch = 'POST /v1/projects/bare-project/services:batchEnable';

describe('simulated Service Usage', () => {
  let cloud: ReadyCloud;
  const call = (line: string, body?: unknown) => cloud.call(api, line, body);

  before(async () => {
    cloud = await readyCloud();
  });
  after(() => cloud.close());

  describe('bad requests', () => {
    const refused = refusalsOf(api);
    itRefuses(
      () => cloud,
      [
        refused('a call without a token', 'GET /v1/projects/bare-project/services', undefined, 401, 'UNAUTHENTICATED', {
          token: undefined,
        }),
        refused('a batch of none', batch, {}, ...invalid),
        refused(
          'a batch of 21',
          batch,
          { serviceIds: Array.from({ length: 21 }, (_, i) => service(`s${i}`)) },
          ...invalid,
          { says: /at most 20/ },
        ),
        refused(
          'a batch with an unknown service',
          batch,
          { serviceIds: [service('iam'), service('nothing')] },
          ...denied,
          { says: /^Not found or permission denied for service\(s\): nothing\.googleapis\.com\.$/ },
        ),
        refused('services that are no list', batch, { serviceIds: service('iam') }, ...invalid, {
          says: /\(TYPE_LIST\)/,
        }),
        refused('a service that is null', batch, { serviceIds: [null] }, ...invalid, {
          says: /'service_ids\[0\]' \(TYPE_STRING\), null/,
        }),
        refused('a service that is a number', batch, { serviceIds: [1] }, ...invalid, {
          says: /'service_ids\[0\]' \(TYPE_STRING\), 1/,
        }),
        refused('an unknown field', batch, { services: [service('iam')] }, ...invalid, {
          says: /^Invalid JSON payload received\. Unknown name "services": Cannot find field\.$/,
        }),
        refused('a body that is no JSON', batch, undefined, ...invalid, { text: '{' }),
        refused("a batch in somebody else's project", batch, { serviceIds: [service('iam')] }, ...denied, {
          as: stranger,
        }),
        refused(
          'a batch in a project that is not there',
          'POST /v1/projects/no-such-project/services:batchEnable',
          { serviceIds: [service('iam')] },
          ...denied,
        ),
        refused(
          'a paid service without billing',
          'POST /v1/projects/unpaid-project/services:batchEnable',
          { serviceIds: [service('cloudbuild')] },
          400,
          'FAILED_PRECONDITION',
          {
            says: /^Billing account for project '\d+' is not found\. Billing must be enabled for activation of service\(s\) 'cloudbuild\.googleapis\.com' to proceed\.$/,
          },
        ),
        refused(
          'one paid service without billing',
          `POST /v1/projects/unpaid-project/services/${service('run')}:enable`,
          {},
          400,
          'FAILED_PRECONDITION',
        ),
        refused(
          'an unknown service',
          `POST /v1/projects/bare-project/services/${service('nothing')}:enable`,
          {},
          ...denied,
        ),
        refused(
          'a look at an unknown service',
          `GET /v1/projects/bare-project/services/${service('nothing')}`,
          undefined,
          ...denied,
        ),
        refused(
          "a look at somebody else's services",
          `GET /v1/projects/bare-project/services/${service('iam')}`,
          undefined,
          ...denied,
          { as: stranger, says: /'serviceusage\.services\.get' denied/ },
        ),
        refused('names of no services', 'GET /v1/projects/bare-project/services:batchGet', undefined, ...invalid),
        refused(
          'a name without its project',
          `GET /v1/projects/bare-project/services:batchGet?names=${service('iam')}`,
          undefined,
          ...invalid,
        ),
        refused(
          'a name of another project',
          `GET /v1/projects/bare-project/services:batchGet?names=projects/ready-project/services/${service('iam')}`,
          undefined,
          ...invalid,
        ),
        refused(
          '31 names',
          `GET /v1/projects/bare-project/services:batchGet?${Array.from({ length: 31 }, () => `names=projects/bare-project/services/${service('iam')}`).join('&')}`,
          undefined,
          ...invalid,
        ),
        refused(
          'a filter that is not known',
          'GET /v1/projects/bare-project/services?filter=name:iam',
          undefined,
          ...invalid,
        ),
        refused('a page size over 200', 'GET /v1/projects/bare-project/services?pageSize=201', undefined, ...invalid),
        refused(
          'an unknown query parameter',
          'GET /v1/projects/bare-project/services?state=ENABLED',
          undefined,
          ...invalid,
        ),
        refused('an operation that never was', 'GET /v1/operations/acat.none', undefined, 404, 'NOT_FOUND'),
        refused(
          'a bad value of an enum',
          `POST /v1/projects/ready-project/services/${service('dns')}:disable`,
          { checkIfServiceHasUsage: 'MAYBE' },
          ...invalid,
          { says: /\(TYPE_ENUM\), "MAYBE"/ },
        ),
        refused(
          'a flag that is a text',
          `POST /v1/projects/ready-project/services/${service('dns')}:disable`,
          { disableDependentServices: 'yes' },
          ...invalid,
          { says: /\(TYPE_BOOL\), "yes"/ },
        ),
      ],
    );
  });

  it('says of a service that needs billing what is missing', async () => {
    const { body } = await call('POST /v1/projects/unpaid-project/services:batchEnable', {
      serviceIds: [service('cloudbuild')],
    });
    expect(body).to.have.nested.property(
      'error.details[0].@type',
      'type.googleapis.com/google.rpc.PreconditionFailure',
    );
    expect(body).to.have.nested.property('error.details[0].violations[0].type', 'googleapis.com/billing-enabled');
  });

  it('enables all or none', async () => {
    await call(batch, { serviceIds: [service('pubsub'), service('nothing')] });
    const look = `GET /v1/projects/bare-project/services:batchGet?names=projects/bare-project/services/${service('pubsub')}&names=projects/bare-project/services/${service('iam')}`;
    const states = async () => ((await call(look)).body['services'] as JsonObject[]).map(({ state }) => state);
    expect(await states()).to.deep.equal(['DISABLED', 'DISABLED']);
    const made = await call(batch, { serviceIds: [service('pubsub'), service('iam')] });
    expect(made.body).to.deep.include({ done: true });
    expect(await states()).to.deep.equal(['ENABLED', 'ENABLED']);
    const again = await call(batch, { serviceIds: [service('iam')] });
    expect(again.body).to.deep.include({ name: 'operations/noop.DONE_OPERATION', done: true });
    const { body } = await call('GET /v1/projects/bare-project/services?filter=state:ENABLED');
    expect((body['services'] as { config: JsonObject }[]).map(({ config }) => config['name'])).to.deep.equal([
      service('iam'),
      service('pubsub'),
    ]);
    await call(`POST /v1/projects/bare-project/services/${service('pubsub')}:disable`, {});
    expect(await states()).to.deep.equal(['DISABLED', 'ENABLED']);
  });

  it('is not felt at once: the API is refused as disabled for a while after its operation is done', async () => {
    const slow = await readyCloud({ timeFactor: 0.01 });
    try {
      const look = () => slow.call('iam', 'GET /v1/projects/bare-project/serviceAccounts');
      const first = await look();
      expect(first).to.deep.include({ status: 403, reason: 'accessNotConfigured' });
      expect(first.body).to.have.nested.property('error.status', 'PERMISSION_DENIED');
      expect(first.message).to.match(
        /^Identity and Access Management \(IAM\) API has not been used in project \d+ before or it is disabled/,
      );
      const { body } = await slow.call(api, batch, { serviceIds: [service('iam')] });
      const until = async (done: () => Promise<boolean>) => {
        while (!(await done())) await new Promise((resolve) => setTimeout(resolve, 5));
      };
      await until(async () => (await slow.call(api, `GET /v1/${String(body['name'])}`)).body['done'] === true);
      expect((await slow.call(api, `GET /v1/projects/bare-project/services/${service('iam')}`)).body['state']).to.equal(
        'ENABLED',
      );
      const late = await look();
      expect(late.body).to.have.nested.property('error.details[2].reason', 'SERVICE_DISABLED');
      await until(async () => (await look()).status === 200);
    } finally {
      await slow.close();
    }
  });

  for (const [host, line] of [
    ['cloudresourcemanager', 'GET /v3/projects/ready-project'],
    ['cloudresourcemanager', 'POST /v3/projects/ready-project:testIamPermissions'],
    ['cloudbilling', 'GET /v1/projects/ready-project/billingInfo'],
    ['serviceusage', 'GET /v1/projects/ready-project/services'],
    // Where the world says so.
    ['iam', 'GET /v1/projects/ready-project/serviceAccounts'],
  ] as const) {
    it(`counts calls of what manages projects for whoever calls: ${host} must be on there, for ${line}`, async () => {
      const robot = 'robot@bare-project.iam.gserviceaccount.com';
      const cloud = await readyCloud({
        worldSettings: { 'consumer.iam': 'caller' },
        initial: {
          serviceAccounts: [robot],
          bindings: [
            ...ownersBindings,
            { resource: 'projects/ready-project', role: 'roles/owner', members: [`serviceAccount:${robot}`] },
          ],
        },
      });
      try {
        const body = line.startsWith('POST') ? { permissions: ['resourcemanager.projects.get'] } : undefined;
        const look = (as?: string) => cloud.call(host, line, body, as === undefined ? {} : { as });
        // People call by gcloud's own project, where everything is on.
        expect((await look()).status).to.equal(200);
        const off = await look(robot);
        expect(off.status).to.equal(403);
        expect(off.body).to.have.nested.property('error.details[2].reason', 'SERVICE_DISABLED');
        expect(off.message).to.match(/ API has not been used in project \d+ before or it is disabled/);
        await cloud.call(api, batch, { serviceIds: [service(host)] });
        expect((await look(robot)).status).to.equal(200);
      } finally {
        await cloud.close();
      }
    });
  }

  it('reads the names also where clients send an enum as a number and the parent again', async () => {
    const name = `projects/ready-project/services/${service('dns')}`;
    const reply = await call(
      `GET /v1/projects/ready-project/services:batchGet?names=${name}&parent=projects/ready-project&$alt=json;enum-encoding=int`,
    );
    expect(reply.status).to.equal(200);
    expect((await call(`POST /v1/${name}:disable`, { checkIfServiceHasUsage: 1 })).status).to.equal(200);
  });
});
