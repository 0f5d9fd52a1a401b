/** What organization policies refuse, in Google's words: each constraint alone, over HTTP. */
import { expect } from 'chai';
import type { GoogleError, JsonObject } from '../../local/cloud/kernel/api.js';
import { checkOrganizationPolicies } from '../../local/cloud/org-policy/enforcement.js';
import { type ConstraintName, constraintNames, constraintOf } from '../../local/cloud/worlds/constraints.js';
import { vmAt } from '../../local/machines/vms.js';
import { project } from '../local-cloud/ready-cloud.js';
import { compute, done, type OpenWorld, openWorld, passed, refused, vmPath } from './open-world.js';

const domain = 'One or more users named in the policy do not belong to a permitted customer.';
const shielded = { enableSecureBoot: true, enableVtpm: true, enableIntegrityMonitoring: true };
const external = { networkInterfaces: [{ subnetwork: 'regions/europe-west4/subnetworks/sub', accessConfigs: [{}] }] };

describe('organization policies of the simulated cloud', () => {
  let cloud: OpenWorld;
  const under = async (policies: Partial<Record<ConstraintName, string>>): Promise<void> => {
    const settings = Object.entries(policies).map(([name, text]) => [`policy.${name}`, text]);
    cloud = await openWorld({ worldSettings: Object.fromEntries(settings) as Record<string, string> });
    await cloud.makeNetwork('europe-west4');
  };
  const number = async () =>
    String((await cloud.call('cloudresourcemanager', `GET /v3/projects/${project}`)).body['name']).slice(9);
  const setPolicy = (...members: string[]) =>
    cloud.call('cloudresourcemanager', `POST /v3/projects/${project}:setIamPolicy`, {
      policy: {
        bindings: [
          { role: 'roles/owner', members: ['user:alice@example.com'] },
          { role: 'roles/viewer', members },
        ],
      },
    });
  const createBucket = (more: object = {}) =>
    cloud.call('storage', `POST /storage/v1/b?project=${project}`, { name: 'a-bucket', location: 'EU', ...more });
  const uniform = { iamConfiguration: { uniformBucketLevelAccess: { enabled: true } } };
  afterEach(() => cloud?.close());

  it('have words for each method that they refuse', () => {
    for (const name of constraintNames) {
      const { methods, refusal, does } = constraintOf(name);
      expect(methods.length > 0, name).to.equal(refusal !== undefined);
      expect(methods.length > 0 || does !== undefined, name).to.equal(true);
    }
  });

  describe('of the baseline, in force in seasoned', () => {
    beforeEach(() => under({}));

    it('bind nobody from outside, and everybody from inside', async () => {
      for (const member of ['user:eve@elsewhere.org', 'group:all@elsewhere.org', 'domain:elsewhere.org']) {
        refused(await setPolicy(member), 400, 'FAILED_PRECONDITION', domain);
      }
      const { details } = (await setPolicy('user:eve@elsewhere.org')).body['error'] as unknown as {
        details: { violations: JsonObject[] }[];
      };
      expect(details[0]?.violations).to.deep.equal([
        {
          type: 'constraints/iam.allowedPolicyMemberDomains',
          subject: `orgpolicy:projects/${project}?configvalue=eve%40elsewhere.org`,
          description: 'User eve@elsewhere.org is not in permitted organization.',
        },
      ]);
      passed(await cloud.call('iam', `POST /v1/projects/${project}/serviceAccounts`, { accountId: 'a-robot' }));
      passed(
        await setPolicy(
          'user:bob@example.com',
          'domain:example.com',
          `serviceAccount:a-robot@${project}.iam.gserviceaccount.com`,
          `serviceAccount:${await number()}-compute@developer.gserviceaccount.com`,
        ),
      );
    });

    it('look at new members alone: those who are there may stay', async () => {
      await cloud.control('PUT world', { settings: { 'policy.iam.allowedPolicyMemberDomains': 'off' } });
      passed(await setPolicy('user:eve@elsewhere.org'));
      await cloud.control('PUT world', { settings: { 'policy.iam.allowedPolicyMemberDomains': 'allow:own' } });
      passed(await setPolicy('user:eve@elsewhere.org', 'user:bob@example.com'));
      refused(
        await setPolicy('user:eve@elsewhere.org', 'user:mallory@elsewhere.org'),
        400,
        'FAILED_PRECONDITION',
        domain,
      );
    });

    it('give no bucket to allUsers: 412 of Cloud Storage', async () => {
      passed(await createBucket(uniform));
      const reply = await cloud.call('storage', 'PUT /storage/v1/b/a-bucket/iam', {
        bindings: [{ role: 'roles/storage.objectViewer', members: ['allUsers'] }],
      });
      refused(reply, 412, 'conditionNotMet', domain);
    });

    it('say first that the name of a bucket is none', async () => {
      refused(await createBucket({ name: 'No_Bucket' }), 400, 'invalid', "Invalid bucket name: 'No_Bucket'");
    });

    it('make no bucket without uniform access', async () => {
      const text = "Request violates constraint 'constraints/storage.uniformBucketLevelAccess'";
      refused(await createBucket(), 412, 'conditionNotMet', text);
      passed(await createBucket(uniform));
    });

    it('show that DNS is zonal, and make no editor of the default service account', async () => {
      expect((await cloud.call('compute', `GET ${compute}`)).body['vmDnsSetting']).to.equal('ZONAL_ONLY');
      const policy = await cloud.call('cloudresourcemanager', `POST /v3/projects/${project}:getIamPolicy`, {});
      expect(JSON.stringify(policy.body)).not.to.include('roles/editor');
    });
  });

  it('where there are none, the default service account of Compute Engine is an editor', async () => {
    await under({ 'iam.automaticIamGrantsForDefaultServiceAccounts': 'off' });
    const policy = await cloud.call('cloudresourcemanager', `POST /v3/projects/${project}:getIamPolicy`, {});
    expect(policy.body['bindings']).to.deep.equal([
      { role: 'roles/editor', members: [`serviceAccount:${await number()}-compute@developer.gserviceaccount.com`] },
    ]);
  });

  it('compute.requireOsLogin: machines take no keys from metadata, and nobody turns OS Login off', async () => {
    await under({});
    const items = [{ key: 'ssh-keys', value: 'alice:ssh-ed25519 AAAA alice' }];
    done(await cloud.insertVm('vm', { metadata: { items } }));
    const keys = () => vmAt(cloud.world, vmPath('vm'))?.metadata('ssh-keys');
    expect(keys()).to.include('AAAA');
    await cloud.control('PUT world', { settings: { 'policy.compute.requireOsLogin': 'enforced' } });
    expect(keys()).to.equal(undefined);
    const off = await cloud.insertVm('other', { metadata: { items: [{ key: 'enable-oslogin', value: 'FALSE' }] } });
    const text = `Constraint constraints/compute.requireOsLogin violated for project ${await number()}. The metadata key enable-oslogin must not be FALSE.`;
    refused(off, 412, 'conditionNotMet', text);
  });

  it('compute.requireShieldedVm: secure boot, vTPM and integrity monitoring', async () => {
    await under({ 'compute.requireShieldedVm': 'enforced' });
    const said = async (config?: object) =>
      (await cloud.insertVm('vm', config === undefined ? {} : { shieldedInstanceConfig: config })).message;
    const text = (what: string) =>
      `Constraint constraints/compute.requireShieldedVm violated for project projects/${project}. ${what} is not enabled in the 'shielded_instance_config' field.`;
    expect(await said()).to.include(text('Secure Boot'));
    expect(await said({ ...shielded, enableVtpm: false })).to.include(text('Virtual Trusted Platform Module'));
    expect(await said({ ...shielded, enableIntegrityMonitoring: false })).to.include(text('Integrity Monitoring'));
    done(await cloud.insertVm('vm', { shieldedInstanceConfig: shielded }));
  });

  it('compute.vmExternalIpAccess: no address, but for the VMs that it names', async () => {
    await under({ 'compute.vmExternalIpAccess': `allow:${vmPath('gate')}` });
    const text = `Constraint constraints/compute.vmExternalIpAccess violated for project ${await number()}. Add instance ${vmPath('vm')} to the constraint to use external IP with it.`;
    refused(await cloud.insertVm('vm', external), 412, 'conditionNotMet', text);
    done(await cloud.insertVm('vm'));
    const line = `POST /compute/v1/${vmPath('vm')}/addAccessConfig?networkInterface=nic0`;
    refused(await cloud.call('compute', line, { name: 'External NAT' }), 412, 'conditionNotMet', text);
    done(await cloud.insertVm('gate', external));
  });

  it('tells every constraint that an insert violates', async () => {
    await under({ 'compute.requireShieldedVm': 'enforced', 'compute.vmExternalIpAccess': 'deny-all' });
    const { body } = await cloud.insertVm('vm', external);
    const { errors } = body['error'] as { errors: { message: string; reason: string }[] };
    expect(errors.map(({ message, reason }) => `${reason} ${message.split(' ')[1]}`)).to.deep.equal([
      'conditionNotMet constraints/compute.requireShieldedVm',
      'conditionNotMet constraints/compute.vmExternalIpAccess',
    ]);
  });

  it('compute.disableGuestAttributesAccess: nobody reads them', async () => {
    await under({ 'compute.disableGuestAttributesAccess': 'enforced' });
    done(await cloud.insertVm('vm'));
    const reply = await cloud.call('compute', `GET /compute/v1/${vmPath('vm')}/getGuestAttributes?queryPath=hostkeys/`);
    const text = `Constraint constraints/compute.disableGuestAttributesAccess violated for project ${await number()}.`;
    refused(reply, 412, 'conditionNotMet', text);
  });

  it('compute.disableSerialPortAccess: nobody reads what the console shows', async () => {
    await under({ 'compute.disableSerialPortAccess': 'enforced' });
    done(await cloud.insertVm('vm'));
    const console = `GET /compute/v1/${vmPath('vm')}/serialPort`;
    const text = `Constraint constraints/compute.disableSerialPortAccess violated for project ${await number()}.`;
    refused(await cloud.call('compute', console), 412, 'conditionNotMet', text);
  });

  it('compute.skipDefaultNetworkCreation: no network named default', async () => {
    await under({ 'compute.skipDefaultNetworkCreation': 'enforced' });
    const { body } = await cloud.call('compute', `GET ${compute}/global/networks`);
    expect((body['items'] as { name: string }[]).map(({ name }) => name)).to.deep.equal(['net']);
  });

  it('compute.trustedImageProjects: images of no other project', async () => {
    await under({ 'compute.trustedImageProjects': 'allow:projects/debian-cloud' });
    const text = `Constraint constraints/compute.trustedImageProjects violated for project ${project}. Use of images from project ubuntu-os-cloud is prohibited.`;
    refused(await cloud.insertVm('vm'), 412, 'conditionNotMet', text);
  });

  it('gcp.resourceLocations: nothing elsewhere', async () => {
    await under({ 'gcp.resourceLocations': 'allow:in:europe-locations' });
    done(await cloud.insertVm('vm'));
    const there = 'us-central1-a';
    const text = (location: string, at: string) =>
      `Location ${location} violates constraint constraints/gcp.resourceLocations on the resource ${at}.`;
    refused(await cloud.insertVm('vm', {}, there), 412, 'conditionNotMet', text(`ZONE:${there}`, vmPath('vm', there)));
    const bucket = await createBucket({ ...uniform, location: 'US' });
    refused(bucket, 412, 'conditionNotMet', text('us', 'projects/_/buckets/a-bucket'));
    const secret = await cloud.call('secretmanager', `POST /v1/projects/${project}/secrets?secretId=one`, {
      replication: { automatic: {} },
    });
    expect(secret.message).to.equal(text('global', `projects/${project}/secrets/one`));
    const keptIn = (secretId: string, ...locations: string[]) =>
      cloud.call('secretmanager', `POST /v1/projects/${project}/secrets?secretId=${secretId}`, {
        replication: { userManaged: { replicas: locations.map((location) => ({ location })) } },
      });
    const spread = await keptIn('two', 'europe-west1', 'us-central1');
    expect(spread.message).to.equal(text('us-central1', `projects/${project}/secrets/two`));
    passed(await keptIn('three', 'europe-west1', 'europe-west4'));
    passed(await createBucket(uniform));
  });

  it('gcp.restrictServiceUsage: no call of a service, but those that could lift it', async () => {
    await under({ 'gcp.restrictServiceUsage': 'deny:dns.googleapis.com' });
    const text = `Request is disallowed by organization's constraints/gcp.restrictServiceUsage constraint for 'projects/${await number()}' attempting to use service 'dns.googleapis.com'.`;
    const reply = await cloud.call('dns', `GET /dns/v1/projects/${project}/managedZones`);
    refused(reply, 403, 'forbidden', text);
    await cloud.control('PUT world', { settings: { 'policy.gcp.restrictServiceUsage': 'allow:dns.googleapis.com' } });
    passed(await cloud.call('dns', `GET /dns/v1/projects/${project}/managedZones`));
    expect((await cloud.call('compute', `GET ${compute}`)).status).to.equal(403);
    passed(await cloud.call('serviceusage', `GET /v1/projects/${project}/services/dns.googleapis.com`));
  });

  it('serviceuser.services: enables none of those that it denies, and leaves on what is on', async () => {
    await under({ 'serviceuser.services': 'deny:dns.googleapis.com' });
    const text = `Constraint constraints/serviceuser.services violated for projects/${await number()} attempting to enable dns.googleapis.com.`;
    const services = `/v1/projects/${project}/services`;
    refused(
      await cloud.call('serviceusage', `POST ${services}/dns.googleapis.com:enable`, {}),
      400,
      'FAILED_PRECONDITION',
      text,
    );
    const batch = { serviceIds: ['compute.googleapis.com', 'dns.googleapis.com'] };
    expect((await cloud.call('serviceusage', `POST ${services}:batchEnable`, batch)).message).to.equal(text);
    passed(
      await cloud.call('serviceusage', `POST ${services}:batchEnable`, { serviceIds: ['compute.googleapis.com'] }),
    );
    passed(await cloud.call('dns', `GET /dns/v1/projects/${project}/managedZones`));
  });

  it('iam.disableServiceAccountCreation: no account is made', async () => {
    await under({ 'iam.disableServiceAccountCreation': 'enforced' });
    const reply = await cloud.call('iam', `POST /v1/projects/${project}/serviceAccounts`, { accountId: 'a-robot' });
    refused(reply, 400, 'failedPrecondition', 'Service account creation is not allowed on this project.');
  });

  describe('of forwarding rules', () => {
    /** What the insert of a forwarding rule would be told. */
    const said = (body: Record<string, string>): string => {
      const params = { project, region: 'europe-west4' };
      const resource = `projects/${project}/regions/europe-west4/forwardingRules`;
      const caller = { email: 'alice@example.com', kind: 'user' } as const;
      const call = { method: 'compute.forwardingRules.insert', params, lists: {}, resource, body, caller };
      try {
        checkOrganizationPolicies(call, cloud.world);
        return 'nothing';
      } catch (error) {
        const { code, message } = error as GoogleError;
        return `${code} ${message}`;
      }
    };
    const rule = `projects/${project}/regions/europe-west4/forwardingRules/front`;
    const pool = { name: 'front', target: `projects/${project}/regions/europe-west4/targetPools/nodes` };
    const one = { name: 'front', target: `projects/${project}/zones/europe-west4-a/targetInstances/one` };

    it('compute.restrictLoadBalancerCreationForTypes: of the types and groups alone that it names', async () => {
      await under({ 'compute.restrictLoadBalancerCreationForTypes': 'allow:in:INTERNAL' });
      expect(said(pool)).to.equal(
        `412 Constraint constraints/compute.restrictLoadBalancerCreationForTypes violated for projects/${project}. Forwarding Rule ${rule} of type EXTERNAL_NETWORK_TCP_UDP is not allowed.`,
      );
      expect(said({ name: 'front', loadBalancingScheme: 'INTERNAL' })).to.equal('nothing');
      await cloud.control('PUT world', {
        settings: { 'policy.compute.restrictLoadBalancerCreationForTypes': 'allow:EXTERNAL_NETWORK_TCP_UDP' },
      });
      expect(said(pool)).to.equal('nothing');
    });

    it('the baseline forwards no protocol from outside to an instance', async () => {
      await under({});
      expect(said(one)).to.equal(
        `412 Constraint constraints/compute.restrictProtocolForwardingCreationForTypes violated for projects/${project}. Forwarding Rule ${rule} of type EXTERNAL is not allowed.`,
      );
      expect(said({ ...one, loadBalancingScheme: 'INTERNAL' })).to.equal('nothing');
      expect(said(pool)).to.equal('nothing');
    });
  });
});
