/** Organization Policy v2 over HTTP: what is set where, what it comes to, and when it is felt. */

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import { customerOf } from '../../local/cloud/org-policy/policies.js';
import { project, stranger } from '../local-cloud/ready-cloud.js';
import { compute, type OpenWorld, openWorld, passed, refused } from './open-world.js';

const organization = 'organizations/100';
const folder = 'folders/200';
const location = 'gcp.resourceLocations';
const osLogin = 'compute.requireOsLogin';
const values = (...allowedValues: string[]) => ({ rules: [{ values: { allowedValues } }] });

describe('simulated Organization Policy', () => {
  let cloud: OpenWorld;
  const call = (line: string, body?: unknown, as?: string) =>
    cloud.call('orgpolicy', line, body, as === undefined ? {} : { as });
  const set = async (place: string, constraint: string, spec: object) =>
    call(`POST /v2/${place}/policies`, { name: `${place}/policies/${constraint}`, spec });
  const effective = async (place: string, constraint: string): Promise<unknown> =>
    ((await call(`GET /v2/${place}/policies/${constraint}:getEffectivePolicy`)).body['spec'] as JsonObject)['rules'];
  const here = `projects/${project}`;

  beforeEach(async () => {
    cloud = await openWorld({
      initial: {
        folders: [{ name: folder, displayName: 'A folder', parent: organization }],
        projects: [{ projectId: project, parent: folder, services: ['orgpolicy.googleapis.com'] }],
      },
    });
  });
  afterEach(() => cloud.close());

  it('has the policies of the world on the organization, and its customer in domain restriction', async () => {
    const { body } = await call(`GET /v2/${organization}/policies`);
    expect((body['policies'] as { name: string }[]).map(({ name }) => name)).to.include(
      `${organization}/policies/iam.disableServiceAccountKeyCreation`,
    );
    const found = (await cloud.call('cloudresourcemanager', `GET /v3/${organization}`)).body['directoryCustomerId'];
    expect(found).to.equal(customerOf(organization));
    expect(await effective(here, 'iam.allowedPolicyMemberDomains')).to.deep.equal([
      { values: { allowedValues: [found] } },
    ]);
  });

  it('creates, gets, patches and deletes, with etags; names carry the number of the project', async () => {
    const made = await set(here, osLogin, { rules: [{ enforce: true }] });
    passed(made);
    expect(made.body['name']).to.match(/^projects\/\d+\/policies\/compute\.requireOsLogin$/);
    refused(
      await set(here, osLogin, { rules: [{ enforce: true }] }),
      409,
      'ALREADY_EXISTS',
      'Requested entity already exists',
    );
    const name = `/v2/${here}/policies/${osLogin}`;
    expect((await call(`GET ${name}`)).body).to.deep.equal(made.body);
    const spec = { rules: [{ enforce: false }], etag: 'stale' };
    expect((await call(`PATCH ${name}`, { spec })).status).to.equal(409);
    const changed = await call(`PATCH ${name}`, { spec: { ...spec, etag: String(made.body['etag']) } });
    passed(changed);
    expect(changed.body['etag']).not.to.equal(made.body['etag']);
    expect(await effective(here, osLogin)).to.deep.equal([{ enforce: false }]);
    expect((await call(`DELETE ${name}?etag=${String(made.body['etag'])}`)).status).to.equal(409);
    passed(await call(`DELETE ${name}`));
    refused(await call(`GET ${name}`), 404, 'NOT_FOUND', 'Requested entity was not found.');
    expect((await call(`PATCH ${name}`, { spec })).status).to.equal(404);
  });

  it('a boolean policy: the nearest decides, and reset goes back to the default', async () => {
    passed(await set(organization, osLogin, { rules: [{ enforce: true }] }));
    expect(await effective(here, osLogin)).to.deep.equal([{ enforce: true }]);
    passed(await set(folder, osLogin, { rules: [{ enforce: false }] }));
    expect(await effective(here, osLogin)).to.deep.equal([{ enforce: false }]);
    passed(await call(`PATCH /v2/${folder}/policies/${osLogin}`, { spec: { reset: true } }));
    expect(await effective(here, osLogin)).to.deep.equal([{ enforce: false }]);
    passed(await call(`DELETE /v2/${folder}/policies/${osLogin}`));
    expect(await effective(here, osLogin)).to.deep.equal([{ enforce: true }]);
  });

  it('a list policy: replaces what is above it, or joins it; what is denied wins', async () => {
    passed(await set(organization, location, values('in:eu-locations')));
    passed(await set(folder, location, { ...values('us-central1'), inheritFromParent: true }));
    expect(await effective(here, location)).to.deep.equal(values('in:eu-locations', 'us-central1').rules);
    const denied = { rules: [{ values: { deniedValues: ['us-central1'] } }], inheritFromParent: true };
    passed(await set(here, location, denied));
    expect(await effective(here, location)).to.deep.equal([
      { values: { allowedValues: ['in:eu-locations', 'us-central1'], deniedValues: ['us-central1'] } },
    ]);
    passed(await call(`PATCH /v2/${here}/policies/${location}`, { spec: values('asia-east1') }));
    expect(await effective(here, location)).to.deep.equal(values('asia-east1').rules);
    passed(await call(`PATCH /v2/${here}/policies/${location}`, { spec: { reset: true } }));
    expect(await effective(here, location)).to.deep.equal([{ allowAll: true }]);
  });

  it('lists the constraints, with kind and default', async () => {
    const { body } = await call(`GET /v2/${organization}/constraints?pageSize=3`);
    expect(body['constraints']).to.have.lengthOf(3);
    const all = (await call(`GET /v2/${here}/constraints`)).body['constraints'] as JsonObject[];
    expect(all.find(({ name }) => String(name).endsWith(`/constraints/${location}`))).to.deep.include({
      constraintDefault: 'ALLOW',
      listConstraint: { supportsIn: true },
    });
  });

  it('tells the same by Resource Manager v1', async () => {
    const ask = (constraint: string) =>
      cloud.call('cloudresourcemanager', `POST /v1/${here}:getEffectiveOrgPolicy`, { constraint });
    const key = 'constraints/iam.disableServiceAccountKeyCreation';
    expect((await ask(key)).body).to.deep.equal({ constraint: key, booleanPolicy: { enforced: true } });
    expect((await ask(`constraints/${location}`)).body).to.deep.equal({
      constraint: `constraints/${location}`,
      listPolicy: { allValues: 'ALLOW' },
    });
  });

  const wrongs: readonly (readonly [string, string, object, RegExp])[] = [
    ['a constraint that there is not', 'compute.no', { rules: [{ enforce: true }] }, /invalid argument/],
    ['values for a boolean', osLogin, values('a'), /invalid argument/],
    ['enforce for a list', location, { rules: [{ enforce: true }] }, /invalid argument/],
    ['a boolean that inherits', osLogin, { inheritFromParent: true, rules: [{ enforce: true }] }, /invalid argument/],
    ['reset with rules', location, { reset: true, ...values('a') }, /invalid argument/],
    ['a prefix that it lacks', location, values('under:organizations/100'), /invalid argument/],
  ];
  for (const [name, constraint, spec, says] of wrongs) {
    it(`refuses ${name}`, async () => {
      const reply = await set(here, constraint, spec);
      expect(reply.status).to.equal(400);
      expect(reply.message).to.match(says);
    });
  }

  it('needs its API enabled in the project, and permissions', async () => {
    const bare = await call('GET /v2/projects/bare-project/policies');
    expect(bare.status).to.equal(403);
    for (const line of [`GET /v2/${organization}/policies`, `GET /v2/${here}/policies/${osLogin}:getEffectivePolicy`]) {
      expect((await call(line, undefined, stranger)).status).to.equal(403);
    }
  });

  it('is felt some time after it is set', async () => {
    await cloud.close();
    cloud = await openWorld({ timeFactor: 0.001 });
    const shown = async () => (await cloud.call('compute', `GET ${compute}`)).body['vmDnsSetting'];
    const constraint = 'compute.setNewProjectDefaultToZonalDNSOnly';
    expect(await shown()).to.equal('ZONAL_ONLY');
    passed(await set(here, constraint, { rules: [{ enforce: false }] }));
    expect(await effective(here, constraint)).to.deep.equal([{ enforce: false }]);
    expect(await shown()).to.equal('ZONAL_ONLY');
    await sleep(950);
    expect(await shown()).to.equal('ZONAL_DEFAULT');
  });
});
