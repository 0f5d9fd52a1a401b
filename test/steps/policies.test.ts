/** What organization policies in force mean for a bootstrap: each row of the table, with answers of Google as literals. */
import { expect } from 'chai';
import {
  allows,
  type Fits,
  inForce,
  isConditional,
  isLocation,
  isSame,
} from '../../functions/steps/cloud/policy-judge.js';
import { type Intent, policyTable } from '../../functions/steps/cloud/policy-table.js';
import { refusal } from '../../functions/steps/cloud/policy-words.js';
import { constraintNames, constraintOf } from '../../local/cloud/worlds/constraints.js';
import type { LoadBalancers } from '../../shared/bootstrap/bootstrap.js';
import type { BootstrapOptions } from '../../shared/bootstrap/options.js';
import { makeOptions } from '../install-config/make-options.js';

type Policy = Parameters<typeof allows>[0];
const rules = (...all: NonNullable<NonNullable<Policy['spec']>['rules']>[number][]): Policy => ({
  spec: { rules: all },
});
const allow = (...allowedValues: string[]) => rules({ values: { allowedValues } });
const deny = (...deniedValues: string[]) => rules({ values: { deniedValues } });

const intent = (
  options: Partial<BootstrapOptions> = {},
  hosts = true,
  loadBalancers: LoadBalancers = 'external',
): Intent => ({
  options: makeOptions(options),
  machineAccess: 'direct',
  projectId: 'a-1',
  ownerMember: 'user:alice@example.com',
  loadBalancers,
  hosts,
  requiresOsLogin: false,
  vmImage: 'projects/ubuntu-os-cloud/global/images/family/ubuntu-2204-lts',
});
const row = (constraint: string) => {
  const found = policyTable.find((each) => each.constraint === constraint);
  if (found === undefined) throw new Error(`${constraint} is not in the table`);
  return found;
};
/** What each wanted value is told. */
function told(
  constraint: string,
  policy: Policy,
  options: Partial<BootstrapOptions> = {},
  loadBalancers: LoadBalancers = 'external',
) {
  const found = row(constraint);
  if (found.kind !== 'list') throw new Error(`${constraint} is no list`);
  return found.wanted(intent(options, true, loadBalancers)).map(({ fits }) => allows(policy, fits));
}

describe('organization policies, judged', () => {
  it('are rows that Google has: each by name and kind', () => {
    for (const { constraint, kind } of policyTable) {
      expect(constraintNames).to.include(constraint);
      const known = constraintOf(constraint as (typeof constraintNames)[number]);
      expect([constraint, known.kind, known.default]).to.deep.equal([constraint, kind, 'ALLOW']);
    }
  });

  it('that nobody has set allow all', () => {
    const wanted = isSame('x');
    for (const policy of [{}, rules(), rules({ allowAll: true })]) expect(allows(policy, wanted)).to.equal(true);
    expect(inForce({}, 'list')).to.equal('allow all');
    expect(inForce({}, 'boolean')).to.equal('not enforced');
  });

  it('deny before they allow', () => {
    expect(allows(rules({ allowAll: true }, { values: { deniedValues: ['x'] } }), isSame('x'))).to.equal(false);
    expect(allows(rules({ values: { allowedValues: ['x'], deniedValues: ['is:x'] } }), isSame('x'))).to.equal(false);
    expect(allows(rules({ denyAll: true }), isSame('x'))).to.equal(false);
    expect(allows(allow('y'), isSame('x'))).to.equal(false);
  });

  it('with a group that is not known decide nothing, unless another value does', () => {
    expect(allows(allow('under:folders/1'), isSame('x'))).to.equal(undefined);
    expect(allows(allow('under:folders/1', 'x'), isSame('x'))).to.equal(true);
    expect(allows(deny('under:folders/1'), isSame('x'))).to.equal(undefined);
    expect(allows(deny('under:folders/1', 'x'), isSame('x'))).to.equal(false);
  });

  it('with a condition or parameters are not judged', () => {
    expect(
      isConditional(rules({ enforce: true, condition: { expression: "resource.matchTag('1/env', 'x')" } })),
    ).to.equal(true);
    expect(isConditional(rules({ enforce: true, parameters: { a: 1 } }))).to.equal(true);
    expect(isConditional(rules({ enforce: true }))).to.equal(false);
  });

  const places: readonly (readonly [place: string, pattern: string, fits: ReturnType<Fits>])[] = [
    ['europe-west4', 'europe-west4', true],
    ['europe-west4', 'in:europe-west4-locations', true],
    ['europe-west4-a', 'in:europe-west4-locations', true],
    ['europe-west4-a', 'is:europe-west4-a', true],
    // Subnet and router are in the region, not in the zone.
    ['europe-west4', 'europe-west4-a', false],
    ['europe-west4', 'in:eu-locations', true],
    ['europe-west2', 'in:eu-locations', false],
    ['europe-west6-a', 'in:eu-locations', false],
    ['europe-west2', 'in:europe-locations', true],
    ['europe-west12', 'in:eu-locations', true],
    ['us-central1', 'in:us-locations', true],
    ['us-central1', 'in:northamerica-locations', true],
    ['northamerica-northeast1', 'in:us-locations', false],
    ['asia-east1', 'in:europe-locations', false],
    ['europe-west4', 'us', false],
    ['europe-west4', 'eur4', false],
    ['europe-west4', 'global', false],
    ['europe-west4', 'in:us-west1-locations', false],
    ['europe-west4', 'in:low-carbon-locations', undefined],
    ['europe-west4', 'in:eu-low-carbon-locations', undefined],
  ];
  for (const [place, pattern, fits] of places) {
    it(`${place} ${fits === true ? 'is in' : fits === false ? 'is not in' : 'may be in'} ${pattern}`, () => {
      expect(isLocation(place)(pattern)).to.equal(fits);
    });
  }

  it('the jumpbox may have its address where it is named itself', () => {
    const [zone] = [makeOptions({}).zone];
    const name = `projects/a-1/zones/${zone}/instances/jumpbox`;
    expect(told('compute.vmExternalIpAccess', allow(name))).to.deep.equal([true]);
    expect(told('compute.vmExternalIpAccess', allow(`${name}-2`))).to.deep.equal([false]);
    expect(told('compute.vmExternalIpAccess', allow('under:projects/a-1'))).to.deep.equal([undefined]);
  });

  it('load balancers are of concern where something is installed on machines, by type and group', () => {
    const constraint = 'compute.restrictLoadBalancerCreationForTypes';
    const { hits } = row(constraint);
    expect(hits(intent())).to.equal(undefined);
    expect(hits(intent({ installVersion: '1.0.0' }, false))).to.equal(undefined);
    expect(hits(intent({ installVersion: '1.0.0' }))).to.equal('the load balancers of the platform');
    expect(told(constraint, allow('in:INTERNAL'))).to.deep.equal([false]);
    expect(told(constraint, allow('in:EXTERNAL'))).to.deep.equal([true]);
    expect(told(constraint, allow('is:EXTERNAL_NETWORK_TCP_UDP'))).to.deep.equal([true]);
    expect(told(constraint, deny('EXTERNAL_HTTP_HTTPS'))).to.deep.equal([true]);
    expect(told(constraint, deny('in:EXTERNAL'))).to.deep.equal([false]);
  });

  it('internal load balancers pass where external ones do not, and the refusal of others names the setting', () => {
    const constraint = 'compute.restrictLoadBalancerCreationForTypes';
    expect(told(constraint, allow('in:INTERNAL'), {}, 'internal')).to.deep.equal([true]);
    expect(told(constraint, allow('is:INTERNAL_TCP_UDP'), {}, 'internal')).to.deep.equal([true]);
    expect(told(constraint, allow('INTERNAL_HTTP_HTTPS'), {}, 'internal')).to.deep.equal([false]);
    expect(told(constraint, deny('in:INTERNAL'), {}, 'internal')).to.deep.equal([false]);
    const found = row(constraint);
    expect(found.kind === 'list' && found.unmet('EXTERNAL_NETWORK_TCP_UDP')).to.include('PLINTH_LOAD_BALANCERS');
  });

  it('images of the company’s own pass where its project is trusted, and the usual ones do not', () => {
    const found = row('compute.trustedImageProjects');
    const own = { ...intent(), vmImage: 'projects/acme-images/global/images/family/hardened-2204' };
    const judged = (policy: Policy, of: Intent) =>
      found.kind === 'list' ? found.wanted(of).map(({ fits }) => allows(policy, fits)) : [];
    expect(judged(allow('projects/acme-images'), own)).to.deep.equal([true]);
    expect(judged(allow('projects/acme-images'), intent())).to.deep.equal([false]);
    expect(judged(deny('projects/ubuntu-os-cloud'), own)).to.deep.equal([true]);
  });

  it('services are of concern where the flags use them', () => {
    const none = deny('artifactregistry.googleapis.com', 'publicca.googleapis.com');
    expect(told('gcp.restrictServiceUsage', none)).to.not.include(false);
    const flags = { registryType: 'artifact-registry', cloudAcmeIssuer: true } as const;
    expect(told('gcp.restrictServiceUsage', none, flags).filter((each) => each === false)).to.have.lengthOf(2);
    const shared = { dnsProjectId: 'shared-dns', dnsZoneName: 'shared' };
    expect(told('gcp.restrictServiceUsage', deny('dns.googleapis.com'))).to.include(false);
    expect(told('gcp.restrictServiceUsage', deny('dns.googleapis.com'), shared)).to.not.include(false);
  });

  it('the API of IAP is of concern where machines are reached through it', () => {
    for (const constraint of ['gcp.restrictServiceUsage', 'serviceuser.services']) {
      const found = row(constraint);
      const refusedTo = (machineAccess: Intent['machineAccess']) =>
        found.kind !== 'list'
          ? []
          : found
              .wanted({ ...intent(), machineAccess })
              .filter(({ fits }) => allows(deny('iap.googleapis.com'), fits) === false)
              .map(({ value }) => found.unmet(value));
      expect(refusedTo('direct'), constraint).to.deep.equal([]);
      expect(refusedTo('iap').join(), constraint).to.include('iap.googleapis.com');
    }
  });

  it('a region that is not allowed is refused by its name', () => {
    const there = { region: 'us-central1', zone: 'us-central1-a' };
    expect(told('gcp.resourceLocations', allow('in:europe-locations'), there)).to.include(false);
    expect(told('gcp.resourceLocations', allow('in:europe-locations'))).to.not.include(false);
  });

  it('of domains name customers, which nobody here can compare', () => {
    expect(told('iam.allowedPolicyMemberDomains', allow('C0abcdefg'))).to.deep.equal([undefined]);
    expect(row('iam.allowedPolicyMemberDomains')).to.have.property('later');
  });

  it('are refused with a command for folder and organization alike', () => {
    const finding = {
      constraint: 'compute.requireOsLogin',
      state: 'unmet',
      hits: 'all VMs',
      value: 'enforced',
    } as const;
    const commandAt = (place: string) => refusal({ place, findings: [{ ...finding, why: 'w' }] }).advice ?? '';
    const command = 'gcloud org-policies describe compute.requireOsLogin --effective';
    expect(commandAt('folders/12')).to.include(`${command} --folder=12`);
    expect(commandAt('organizations/34')).to.include(`${command} --organization=34`);
  });
});
