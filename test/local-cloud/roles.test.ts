/** Predefined roles are Google's own, permission by permission: what `google-roles.json` holds, and what HTTP tells of it. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { permissionsOfPredefined, predefinedRoles } from '../../local/cloud/iam/predefined-roles.js';
import { owner, project, type ReadyCloud, readyCloud } from './ready-cloud.js';
import { invalid, itRefuses, refusalsOf } from './refusals.js';

/** Facts of the source, which `tools/roles/distil.ts` writes down. */
const { permissionsSha256 } = JSON.parse(readFileSync('local/cloud/iam/google-roles.json', 'utf8')) as {
  permissionsSha256: string;
};

describe('predefined roles of the simulated cloud', function () {
  this.timeout(60_000);
  let cloud: ReadyCloud;
  before(async () => {
    cloud = await readyCloud();
  });
  after(() => cloud.close());

  const get = (line: string) => cloud.call('iam', `GET /v1/${line}`);
  const grant = (role: string) =>
    cloud.call('cloudresourcemanager', `POST /v3/projects/${project}:setIamPolicy`, {
      policy: { bindings: [{ role, members: [`user:${owner}`] }] },
    });

  it('have all their permissions and no other', async () => {
    const known = predefinedRoles();
    expect(known).to.have.length(289);
    const lines = known.flatMap((name) =>
      [...(permissionsOfPredefined(name) ?? [])].map((permission) => `${name} ${permission}\n`),
    );
    expect(lines).to.have.length(22_909);
    expect(createHash('sha256').update(lines.join('')).digest('hex')).to.equal(permissionsSha256);
    // What HTTP tells of a role is this table.
    for (const name of known.filter((_, at) => at % 50 === 0)) {
      const { status, body } = await get(name);
      expect([status, body['includedPermissions'] ?? []], name).to.deep.equal([
        200,
        [...(permissionsOfPredefined(name) ?? [])],
      ]);
    }
  });

  it('show Google’s facts: who may write a policy of a zone, and who makes firewall rules', async () => {
    const permissionsOf = async (role: string) => (await get(`roles/${role}`)).body['includedPermissions'] as string[];
    expect(await permissionsOf('dns.admin'))
      .to.include('dns.managedZones.getIamPolicy')
      .and.not.include('dns.managedZones.setIamPolicy');
    expect((await permissionsOf('compute.loadBalancerAdmin')).filter((each) => /firewalls/.test(each))).to.be.empty;
    expect(await permissionsOf('owner'))
      .to.include('dns.managedZones.setIamPolicy')
      .and.not.include('billing.accounts.get');
  });

  for (const role of ['roles/logging.viewer', 'roles/telemetry.tracesWriter']) {
    it(`${role} can be bound on a project`, async () => {
      expect(await grant(role)).to.deep.include({ status: 200 });
    });
  }

  it('tell nothing where their permissions are not known', async () => {
    expect(await get('roles/telemetry.tracesWriter')).to.deep.include({ status: 501 });
    expect(await get('roles/container.admin')).to.deep.include({ status: 501 });
  });

  const refused = refusalsOf('cloudresourcemanager');
  itRefuses(
    () => cloud,
    [
      refused(
        'a role that Google does not have, on a project',
        'POST /v3/projects/ready-project:setIamPolicy',
        { policy: { bindings: [{ role: 'roles/logging.onlooker', members: [`user:${owner}`] }] } },
        ...invalid,
        /^Role roles\/logging\.onlooker is not supported for this resource\.$/,
      ),
      refused(
        'a role of a service that the simulated cloud does not know, on a project',
        'POST /v3/projects/ready-project:setIamPolicy',
        { policy: { bindings: [{ role: 'roles/container.admin', members: [`user:${owner}`] }] } },
        501,
        'UNIMPLEMENTED',
      ),
      refused(
        'a role of organizations on a project',
        'POST /v3/projects/ready-project:setIamPolicy',
        {
          policy: { bindings: [{ role: 'roles/resourcemanager.organizationAdmin', members: [`user:${owner}`] }] },
        },
        ...invalid,
      ),
    ],
  );
});
