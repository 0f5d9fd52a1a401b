/** Organization Policy v2 over HTTP: what the policies that are set above a project come to. */
import { expect } from 'chai';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import { customerOf, setOrganizationPolicy } from '../../local/cloud/org-policy/policies.js';
import type { ConstraintName } from '../../local/cloud/worlds/constraints.js';
import { project, stranger } from '../local-cloud/ready-cloud.js';
import { denied, invalid, itRefuses, refusalsOf } from '../local-cloud/refusals.js';
import { type OpenWorld, openWorld } from './open-world.js';

const organization = 'organizations/100';
const folder = 'folders/200';
const location = 'gcp.resourceLocations';
const osLogin = 'compute.requireOsLogin';
const allowed = (...allowedValues: string[]) => ({ values: { allowedValues } });

describe('simulated Organization Policy', () => {
  let cloud: OpenWorld;
  const here = `projects/${project}`;
  const lineOf = (place: string, constraint: string) => `GET /v2/${place}/policies/${constraint}:getEffectivePolicy`;
  const effective = async (place: string, constraint: string): Promise<unknown> => {
    const { body, message } = await cloud.call('orgpolicy', lineOf(place, constraint));
    expect(message).to.equal('');
    return (body['spec'] as JsonObject)['rules'];
  };
  const set = (place: string, constraint: ConstraintName, rule?: JsonObject) =>
    setOrganizationPolicy(cloud.world, place, constraint, rule === undefined ? undefined : [rule]);

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
    const search = await cloud.call('cloudresourcemanager', 'GET /v3/organizations:search');
    const [found] = search.body['organizations'] as JsonObject[];
    expect(found?.['directoryCustomerId']).to.equal(customerOf(organization));
    for (const place of [organization, folder, here]) {
      expect(await effective(place, 'iam.allowedPolicyMemberDomains')).to.deep.equal([
        allowed(customerOf(organization)),
      ]);
    }
  });

  it('a boolean policy: the nearest decides; replies name the project by its number', async () => {
    set(organization, osLogin, { enforce: true });
    expect(await effective(here, osLogin)).to.deep.equal([{ enforce: true }]);
    set(folder, osLogin, { enforce: false });
    expect(await effective(here, osLogin)).to.deep.equal([{ enforce: false }]);
    set(folder, osLogin);
    const { body } = await cloud.call('orgpolicy', lineOf(here, osLogin));
    expect(body['name']).to.match(/^projects\/\d+\/policies\/compute\.requireOsLogin$/);
    expect(body['spec']).to.deep.equal({ rules: [{ enforce: true }] });
  });

  it('a list policy: the nearest replaces what is above it, and all is allowed where there is none', async () => {
    expect(await effective(here, location)).to.deep.equal([{ allowAll: true }]);
    set(organization, location, allowed('in:eu-locations'));
    expect(await effective(here, location)).to.deep.equal([allowed('in:eu-locations')]);
    const notThere = { values: { deniedValues: ['us-central1'] } };
    set(here, location, notThere);
    expect(await effective(here, location)).to.deep.equal([notThere]);
  });

  const refused = refusalsOf('orgpolicy');
  itRefuses(
    () => cloud,
    [
      refused("somebody else's organization", lineOf(organization, osLogin), undefined, ...denied, { as: stranger }),
      refused("somebody else's project", lineOf(here, osLogin), undefined, ...denied, { as: stranger }),
      refused('a folder that does not exist', lineOf('folders/9', osLogin), undefined, ...denied),
      refused('an unknown constraint', lineOf(here, 'compute.no'), undefined, ...invalid),
    ],
  );
});
