/** What single steps do with what they find in the cloud: adopt, adjust, refuse, fall back. Over the simulated cloud's own wire. */
import { expect } from 'chai';
import { VmUnfinished } from '../../functions/steps/cloud/outputs.js';
import type { VmCall } from '../../functions/steps/cloud/vm.js';
import { wantedInstance } from '../../functions/steps/cloud/vm-wanted.js';
import { zones } from '../../local/cloud/dns/zone.js';
import { serverSets, unprovenDomains } from '../../local/cloud/dns/zones.js';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import { changeSettings } from '../../local/cloud/worlds/settings.js';
import { local } from '../../local/stack/deployment.js';
import type { BootstrapOptions } from '../../shared/bootstrap/options.js';
import { Problem } from '../../shared/problems.js';
import { keysAtHand } from '../install-config/made-bootstrap.js';
import { makeOptions } from '../install-config/make-options.js';
import { createLab, type Lab, type Saved } from '../laws/lab.js';

const admin = 'admin@example.com';

const optionsOf = (given: Partial<BootstrapOptions> = {}) =>
  makeOptions({ billingAccount: local.billingAccount, ...given });

/** Runs `work` in a lab of its own. */
async function inLab(given: Partial<BootstrapOptions>, work: (lab: Lab) => Promise<void>): Promise<void> {
  const lab = await createLab(optionsOf(given));
  try {
    await work(lab);
  } finally {
    await lab.close();
  }
}

async function refusal(work: Promise<unknown>): Promise<Problem> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Problem)) throw new Error(`no Problem came: ${String(error)}`);
  return error;
}

/** As somebody else in the organization. */
async function asAdmin(
  lab: Lab,
  api: keyof Lab['cloud']['endpoints'],
  line: string,
  body?: object,
): Promise<JsonObject> {
  const [method = 'GET', path = ''] = line.split(' ');
  const reply = await fetch(lab.cloud.endpoints[api] + path, {
    method,
    headers: {
      authorization: `Bearer ${lab.cloud.identity.accessToken(admin)}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${line}: ${reply.status} ${text}`);
  return JSON.parse(text === '' ? '{}' : text) as JsonObject;
}

const projectPath = ({ bootstrap }: Lab) => `/v3/projects/${bootstrap.projectId}`;
const labelsIn = async (lab: Lab) =>
  (await asAdmin(lab, 'cloudresourcemanager', `GET ${projectPath(lab)}`))['labels'] as Record<string, string>;

describe('step project', () => {
  it('labels what it makes, with a proof that only the key can make', () =>
    inLab({ installVersion: '1.2.3' }, async (lab) => {
      lab.resume({
        package: { version: '1.2.3', hash: 'ABC', object: 'packages/1.2.3/ABC/installer.tar.gz', sha256: '' },
      });
      await lab.make('project');
      const labels = await labelsIn(lab);
      expect(labels).to.include({
        'plinth-managed': 'true',
        'plinth-bootstrap': 'b-laws',
        'plinth-deployment': 'local',
        'install-version': 'v1_2_3',
        'install-hash': 'habc',
        'delete-after': `t${Math.floor(lab.bootstrap.deadlineAt.getTime() / 1000)}`,
      });
      expect(labels['plinth-proof']).to.match(/^p[0-9a-f]{60}$/);
    }));

  it('keeps labels of others, and moves the deadline with its proof', () =>
    inLab({}, async (lab) => {
      await lab.make('project');
      const first = await labelsIn(lab);
      await asAdmin(lab, 'cloudresourcemanager', `PATCH ${projectPath(lab)}?updateMask=labels`, {
        labels: { ...first, team: 'blue' },
      });
      lab.resume({ deadlineAt: new Date(lab.bootstrap.deadlineAt.getTime() + 3_600_000) });
      await lab.make('project');
      const second = await labelsIn(lab);
      expect(second).to.include({ team: 'blue' });
      expect(second['delete-after']).to.not.equal(first['delete-after']);
      expect(second['plinth-proof']).to.not.equal(first['plinth-proof']);
    }));

  it('refuses a project that nothing proves to be ours', () =>
    inLab({}, async (lab) => {
      await lab.make('project');
      await asAdmin(lab, 'cloudresourcemanager', `PATCH ${projectPath(lab)}?updateMask=labels`, {
        labels: { team: 'blue' },
      });
      const problem = await refusal(lab.make('project'));
      expect(problem.code).to.equal('cloud-conflict');
      expect(problem.advice).to.contain('plinth-bootstrap=b-laws');
      expect(await labelsIn(lab)).to.deep.equal({ team: 'blue' });
    }));

  it('knows its project by the proof alone', () =>
    inLab({}, async (lab) => {
      await lab.make('project');
      const { 'plinth-bootstrap': _id, ...rest } = await labelsIn(lab);
      await asAdmin(lab, 'cloudresourcemanager', `PATCH ${projectPath(lab)}?updateMask=labels`, { labels: rest });
      await lab.make('project');
      expect(await labelsIn(lab)).to.include({ 'plinth-bootstrap': 'b-laws' });
    }));

  it('says that a project is being deleted', () =>
    inLab({}, async (lab) => {
      await lab.make('project');
      await asAdmin(lab, 'cloudresourcemanager', `DELETE ${projectPath(lab)}`);
      const problem = await refusal(lab.make('project'));
      expect(problem.code).to.equal('cloud-conflict');
      expect(problem.detail).to.contain('being deleted');
    }));

  it('names the role that is missing on the parent, at once', () =>
    inLab({ folderId: '999' }, async (lab) => {
      const problem = await refusal(lab.make('project'));
      expect(problem.code).to.equal('cloud-permission');
      expect(problem.advice).to.contain('roles/resourcemanager.projectCreator on folders/999');
    }));

  it('tells a full project quota, which comes late', () =>
    inLab({}, async (lab) => {
      lab.cloud.faults.quota({ metric: 'projects', limit: 0 });
      const problem = await refusal(lab.make('project'));
      expect(problem.code).to.equal('cloud-quota');
      lab.cloud.faults.clear();
      await lab.make('project');
    }));
});

describe('step billing', () => {
  it('names the role that is missing on the billing account, at once', () =>
    inLab({ billingAccount: '012345-6789AB-CDEF01' }, async (lab) => {
      const problem = await refusal(lab.make('billing'));
      expect(problem.code).to.equal('cloud-permission');
      expect(problem.advice).to.contain('roles/billing.user on billingAccounts/012345-6789AB-CDEF01');
    }));

  it('says what a full billing account means', () =>
    inLab({}, async (lab) => {
      lab.cloud.faults.quota({ metric: 'billing-projects', limit: 0 });
      const problem = await refusal(lab.make('billing'));
      expect(problem.code).to.equal('cloud-quota');
      expect(problem.detail).to.contain('as many projects linked as its quota allows');
    }));

  it('follows a change of account', () =>
    inLab({}, async (lab) => {
      await lab.make('billing');
      lab.resume({ options: optionsOf({ billingAccount: local.otherBillingAccount }) });
      expect(await lab.make('billing')).to.deep.equal({ account: `billingAccounts/${local.otherBillingAccount}` });
    }));
});

describe('step quota', () => {
  it('names every metric that is too low, with limit and need, and makes nothing', () =>
    inLab({}, async (lab) => {
      lab.cloud.faults.quota({ metric: 'CPUS', limit: 24 });
      lab.cloud.faults.quota({ metric: 'STATIC_ADDRESSES', limit: 2 });
      const problem = await refusal(lab.make('quota'));
      expect(problem.code).to.equal('cloud-quota');
      expect(problem.detail)
        .to.contain('CPUS: limit 24, needed 52')
        .and.to.contain('STATIC_ADDRESSES: limit 2, needed 3');
    }));

  it('refuses a region and a zone that there are not', () =>
    inLab({}, async (lab) => {
      await lab.make('apis');
      lab.resume({ options: { ...optionsOf(), region: 'europe-west99', zone: 'europe-west99-a' } });
      const region = await refusal(lab.make('quota'));
      expect([region.code, region.errors?.[0]?.path]).to.deep.equal(['cloud-input', '--region']);
      lab.resume({ options: { ...optionsOf(), zone: 'europe-west4-z' } });
      const zone = await refusal(lab.make('quota'));
      expect([zone.code, zone.errors?.[0]?.path]).to.deep.equal(['cloud-input', '--zone']);
    }));
});

describe('steps in a project that is set up', function () {
  this.timeout(60_000);
  let lab: Lab;
  let ready: Saved;
  const zone = () => `/dns/v1/projects/${lab.bootstrap.projectId}/managedZones/tool-testing`;
  const vmPath = (name: string) =>
    `/compute/v1/projects/${lab.bootstrap.projectId}/zones/europe-west4-a/instances/${name}`;
  const read = (name: string) => asAdmin(lab, 'compute', `GET ${vmPath(name)}`);

  before(async function () {
    await keysAtHand.call(this);
    lab = await createLab(optionsOf());
    for (const id of [
      'subnet',
      'machine-key',
      'project-roles',
      'firewall',
      'address:gateway',
      'address:public-gateway',
    ])
      await lab.make(id);
    await lab.make('address:ssh-proxy');
    ready = lab.save();
  });
  beforeEach(() => {
    lab.restore(ready);
    lab.resume({ options: optionsOf() });
  });
  after(() => lab.close());

  describe('project-roles', () => {
    const policyPath = () => `/v3/projects/${lab.bootstrap.projectId}`;
    const rolePath = () => `/v1/projects/${lab.bootstrap.projectId}/roles/plinthCloudController`;
    const controller = () => `serviceAccount:cloud-controller@${lab.bootstrap.projectId}.iam.gserviceaccount.com`;
    const readPolicy = async () => {
      const options = { requestedPolicyVersion: 3 };
      return asAdmin(lab, 'cloudresourcemanager', `POST ${policyPath()}:getIamPolicy`, { options });
    };
    const bindingsNow = async () => (await readPolicy())['bindings'] as JsonObject[];
    const write = async (policy: JsonObject) =>
      asAdmin(lab, 'cloudresourcemanager', `POST ${policyPath()}:setIamPolicy`, { policy });
    const permissions = async () => (await asAdmin(lab, 'iam', `GET ${rolePath()}`))['includedPermissions'] as string[];

    it('keeps conditions in the policy', async () => {
      const condition = { title: 'short', expression: 'request.time < timestamp("2030-01-01T00:00:00Z")' };
      const policy = await readPolicy();
      const without = (policy['bindings'] as JsonObject[]).filter(
        ({ members }) => !(members as string[]).includes(controller()),
      );
      const conditional = { role: 'roles/compute.viewer', members: [`user:${admin}`, controller()], condition };
      await write({ ...policy, version: 3, bindings: [...without, conditional] });
      await lab.make('project-roles');
      const after = await bindingsNow();
      expect(after).to.deep.include({ ...conditional, members: [controller(), `user:${admin}`] });
      expect(after.filter(({ members }) => (members as string[]).includes(controller()))).to.have.length(2);
    });

    it('puts the role of the nodes right that somebody widened, disabled or deleted', async () => {
      const wanted = await permissions();
      const widened = { includedPermissions: [...wanted, 'compute.instances.delete'], stage: 'DISABLED' };
      await asAdmin(lab, 'iam', `PATCH ${rolePath()}`, widened);
      await lab.make('project-roles');
      expect(await permissions()).to.deep.equal(wanted);
      expect(await asAdmin(lab, 'iam', `GET ${rolePath()}`)).to.include({ stage: 'GA' });
      await asAdmin(lab, 'iam', `DELETE ${rolePath()}`);
      await lab.make('project-roles');
      expect(await asAdmin(lab, 'iam', `GET ${rolePath()}`)).not.to.have.property('deleted');
    });
  });

  it('where load balancers are internal, reserves addresses of the subnet, and refuses one that is public', async () => {
    const addresses = `/compute/v1/projects/${lab.bootstrap.projectId}/regions/${lab.bootstrap.options.region}/addresses`;
    expect(await asAdmin(lab, 'compute', `GET ${addresses}/gateway`)).to.include({ addressType: 'EXTERNAL' });
    lab.resume({ loadBalancers: 'internal' });
    const refused = await refusal(lab.make('address:gateway'));
    expect(refused.code).to.equal('cloud-conflict');
    expect(refused.detail).to.include('gateway').and.to.include('internal');
    await asAdmin(lab, 'compute', `DELETE ${addresses}/gateway`);
    await lab.make('address:gateway');
    const made = await asAdmin(lab, 'compute', `GET ${addresses}/gateway`);
    expect(made).to.include({ addressType: 'INTERNAL', status: 'RESERVED' });
    expect(made['subnetwork']).to.match(/-subnet$/);
    lab.resume({ loadBalancers: 'external' });
  });

  it('puts a firewall rule right that somebody opened', async () => {
    const rule = `/compute/v1/projects/${lab.bootstrap.projectId}/global/firewalls/allow-internal`;
    await asAdmin(lab, 'compute', `PATCH ${rule}`, { name: 'allow-internal', sourceRanges: ['0.0.0.0/0'] });
    await lab.make('firewall');
    expect((await asAdmin(lab, 'compute', `GET ${rule}`))['sourceRanges']).to.deep.equal(['10.10.0.0/20']);
  });

  describe('firewall, for SSH from outside', () => {
    const rules = async () => {
      const path = `/compute/v1/projects/${lab.bootstrap.projectId}/global/firewalls`;
      const { items } = await asAdmin(lab, 'compute', `GET ${path}`);
      return (items as JsonObject[])
        .filter(({ name }) => (name as string).startsWith('allow-ssh-ext'))
        .map(({ name, sourceRanges, disabled }) => [name, (sourceRanges as string[]).join(' '), disabled]);
    };
    const make = async (sshSourceRanges: readonly string[]) => {
      lab.resume({ sshSourceRanges });
      await lab.make('firewall');
      return rules();
    };

    it('admits the ranges of the deployment, those of each family by a rule of its own', async () => {
      expect(await make(['203.0.113.7/32', '2001:db8::/32', '198.51.100.0/24'])).to.deep.equal([
        ['allow-ssh-ext', '203.0.113.7/32 198.51.100.0/24', false],
        ['allow-ssh-ext-ipv6', '2001:db8::/32', false],
      ]);
    });

    it('closes the rule of IPv6 that nobody wants any more, and opens it again', async () => {
      const ipv6 = async (sshSourceRanges: readonly string[]) => (await make(sshSourceRanges)).at(1);
      expect(await ipv6(['203.0.113.7/32', '2001:db8::/32'])).to.deep.equal([
        'allow-ssh-ext-ipv6',
        '2001:db8::/32',
        false,
      ]);
      expect(await ipv6(['203.0.113.7/32'])).to.deep.equal(['allow-ssh-ext-ipv6', '2001:db8::/32', true]);
      expect(await ipv6(['203.0.113.7/32', '2001:db8::/48'])).to.deep.equal([
        'allow-ssh-ext-ipv6',
        '2001:db8::/48',
        false,
      ]);
    });

    it('leaves it as it is where nobody says who, and never opens it', async () => {
      const before = await rules();
      expect(await make([])).to.deep.equal(before);
    });
  });

  it('puts the NAT back, and leaves those of others', async () => {
    await lab.make('router');
    const router = `/compute/v1/projects/${lab.bootstrap.projectId}/regions/europe-west4/routers/${lab.bootstrap.projectId}-router`;
    const other = {
      name: 'other',
      natIpAllocateOption: 'AUTO_ONLY',
      sourceSubnetworkIpRangesToNat: 'ALL_SUBNETWORKS_ALL_PRIMARY_IP_RANGES',
    };
    await asAdmin(lab, 'compute', `PATCH ${router}`, { nats: [other] });
    await lab.make('router');
    const { nats } = await asAdmin(lab, 'compute', `GET ${router}`);
    expect((nats as JsonObject[]).map(({ name }) => name)).to.deep.equal([
      'other',
      `${lab.bootstrap.projectId}-nat-gateway`,
    ]);
  });

  describe('zone', () => {
    const create = (dnsName: string) =>
      asAdmin(lab, 'dns', `POST /dns/v1/projects/${lab.bootstrap.projectId}/managedZones`, {
        name: 'tool-testing',
        dnsName,
        description: '',
      });

    it('takes one of a parent domain', async () => {
      lab.resume({ options: optionsOf({ baseDomain: 'x.example.com' }) });
      await create('example.com.');
      expect(await lab.make('zone')).to.include({ dnsName: 'example.com.' });
    });

    it('refuses one that merely ends alike', async () => {
      lab.resume({ options: optionsOf({ baseDomain: 'other-example.com' }) });
      await create('example.com.');
      const problem = await refusal(lab.make('zone'));
      expect(problem.code).to.equal('cloud-conflict');
      expect(problem.detail).to.contain('other-example.com').and.to.contain('example.com.');
    });

    it('that Google wants proof of: says where to prove it, and for whom, and is made once it is proven', async () => {
      lab.resume({ options: optionsOf({ baseDomain: 'unproven.example.com' }) });
      const domains = unprovenDomains(lab.cloud.world);
      domains['unproven.example.com.'] = true;
      const { detail, advice } = await refusal(lab.make('zone'));
      for (const word of ['verify ownership', 'Search Console', 'run-cloud-step', '--base-domain', 'same command']) {
        expect(`${detail} ${advice}`).to.include(word);
      }
      delete domains['unproven.example.com.'];
      expect(await lab.make('zone')).to.include({ dnsName: 'unproven.example.com.' });
    });

    it('of a name of which all name servers have a zone: says what takes them, and is made once one is free', async () => {
      lab.resume({ options: optionsOf({ baseDomain: 'crowded.example.com' }) });
      const table = zones(lab.cloud.world);
      const others = serverSets.map((nameServers, n) => {
        const name = `projects/${local.dnsProject}/managedZones/other-${n}`;
        const resource = { name: `other-${n}`, dnsName: 'crowded.example.com.', nameServers: [...nameServers] };
        table[name] = { resource, records: {}, changes: {}, nextChange: 1 };
        return name;
      });
      const { detail, advice } = await refusal(lab.make('zone'));
      for (const word of ['zone of that name', 'Remove', '--base-domain', 'same command']) {
        expect(`${detail} ${advice}`).to.include(word);
      }
      for (const name of others) delete table[name];
      expect(await lab.make('zone')).to.include({ dnsName: 'crowded.example.com.' });
    });

    it('leaves word in the metadata of where the records are', async () => {
      const path = `/compute/v1/projects/${lab.bootstrap.projectId}`;
      await asAdmin(lab, 'compute', `POST ${path}/setCommonInstanceMetadata`, { items: [{ key: 'mine', value: '1' }] });
      await lab.make('zone');
      const { commonInstanceMetadata } = await asAdmin(lab, 'compute', `GET ${path}`);
      expect((commonInstanceMetadata as JsonObject)['items']).to.have.deep.members([
        { key: 'mine', value: '1' },
        { key: 'plinth-dns-project', value: lab.bootstrap.projectId },
        { key: 'plinth-dns-zone', value: 'tool-testing' },
        { key: 'plinth-base-domain', value: 'example.com' },
      ]);
    });

    it('says at once that the API is off in a DNS project', async () => {
      lab.resume({ options: optionsOf({ dnsProjectId: 'dns-without-api' }) });
      const parent = local.organization;
      await asAdmin(lab, 'cloudresourcemanager', 'POST /v3/projects', { projectId: 'dns-without-api', parent });
      const resource = '/v3/projects/dns-without-api';
      const role = 'roles/dns.admin';
      const members = [`serviceAccount:${lab.cloudStepAccount}`];
      await asAdmin(lab, 'cloudresourcemanager', `POST ${resource}:setIamPolicy`, {
        policy: { bindings: [{ role, members }] },
      });
      const problem = await refusal(lab.make('zone'));
      expect(problem.code).to.equal('cloud-permission');
      expect(problem.advice).to.contain('enable dns.googleapis.com in dns-without-api');
    });

    it('names the role that is missing in a DNS project, at once', async () => {
      lab.resume({ options: optionsOf({ dnsProjectId: local.project }) });
      const problem = await refusal(lab.make('zone'));
      expect(problem.code).to.equal('cloud-permission');
      expect(problem.advice).to.contain('roles/dns.admin').and.to.contain(local.project);
    });

    it('takes a zone for missing or closed to it, where it has a role on another zone alone', async () => {
      lab.resume({ options: optionsOf({ dnsProjectId: local.standingZone.project, dnsZoneName: 'missing' }) });
      const since = lab.cloud.calls.last();
      const problem = await refusal(lab.make('zone'));
      expect(problem.code).to.equal('cloud-permission');
      expect(problem.detail).to.contain(
        `Either ${local.standingZone.project} has no zone missing, or plinth has no role`,
      );
      expect(problem.advice).to.contain('make the zone missing').and.to.contain('roles/dns.admin on that zone');
      const asked = lab.cloud.calls.list({ since }).filter(({ method }) => method.startsWith('dns.'));
      expect(asked.map(({ method, status }) => [method, status])).to.deep.equal([['dns.managedZones.get', 403]]);
    });
  });

  describe('records', () => {
    const change = (body: object) => asAdmin(lab, 'dns', `POST ${zone()}/changes`, body);
    const a = (name: string, address: string, ttl = 300) => ({ name, type: 'A', ttl, rrdatas: [address] });
    const standing = async () =>
      ((await asAdmin(lab, 'dns', `GET ${zone()}/rrsets`))['rrsets'] as JsonObject[])
        .filter(({ type }) => type === 'A')
        .map(({ name, rrdatas }) => `${name} ${String(rrdatas)}`);

    it('never change what somebody else wrote, and name it', async () => {
      await lab.make('zone');
      await change({ additions: [a('ws.example.com.', '192.0.2.9')] });
      const problem = await refusal(lab.make('records'));
      expect(problem.code).to.equal('cloud-conflict');
      expect(problem.detail).to.contain('ws.example.com. A 192.0.2.9');
      expect(await standing()).to.deep.equal(['ws.example.com. 192.0.2.9']);
    });

    it('are written in one change, and only those that differ', async () => {
      await lab.make('zone');
      const since = lab.cloud.calls.last();
      await lab.make('records');
      expect(lab.cloud.calls.list({ since, method: 'dns.changes.create' })).to.have.length(1);
      const changes = (await asAdmin(lab, 'dns', `GET ${zone()}/changes`))['changes'] as JsonObject[];
      expect(changes.find(({ id }) => id === '1')?.['additions']).to.have.length(5);
    });

    it('follow an address that was reserved anew, as they are ours', async () => {
      await lab.make('zone');
      await lab.make('records');
      await asAdmin(
        lab,
        'compute',
        `DELETE /compute/v1/projects/${lab.bootstrap.projectId}/regions/europe-west4/addresses/gateway`,
      );
      lab.resume();
      const { address } = (await lab.make('address:gateway')) as { address: string };
      await lab.make('records');
      expect(await standing()).to.include(`cs.example.com. ${address}`);
      expect(await standing()).to.have.length(5);
    });

    it('leave a record alone on the way out that is no longer ours', async () => {
      await lab.make('zone');
      await lab.make('records');
      const found = (await standing()).find((line) => line.startsWith('ws.'))?.split(' ')[1] ?? '';
      await change({ deletions: [a('ws.example.com.', found)], additions: [a('ws.example.com.', '192.0.2.9')] });
      await lab.undo(lab.instance('records'));
      expect(await standing()).to.deep.equal(['ws.example.com. 192.0.2.9']);
    });
  });

  describe('VMs', () => {
    it('are as the page of infrastructure says', async () => {
      await lab.make('vm:ceph-1');
      await lab.make('vm:k0s-1');
      await lab.make('vm:jumpbox');
      const ceph = await read('ceph-1');
      expect(
        (ceph['disks'] as JsonObject[]).map(({ diskSizeGb, autoDelete }) => `${diskSizeGb} ${autoDelete}`),
      ).to.deep.equal(['50 true', '10 true', '100 true']);
      expect(String(ceph['machineType'])).to.match(/e2-standard-8$/);
      expect(ceph['serviceAccounts'] ?? []).to.deep.equal([]);
      const k0s = await read('k0s-1');
      expect((k0s['serviceAccounts'] as JsonObject[])[0]?.['email']).to.match(/^cloud-controller@/);
      expect((k0s['tags'] as JsonObject)['items']).to.deep.equal(['k0s']);
      const jumpbox = await read('jumpbox');
      const items = (jumpbox['metadata'] as { items: { key: string; value: string }[] }).items;
      const value = (key: string) => items.find((item) => item.key === key)?.value ?? '';
      expect(value('enable-guest-attributes')).to.equal('TRUE');
      expect(value('ssh-keys')).to.contain('ubuntu:ssh-ed25519 AAAA alice').and.not.contain('root:');
      expect(value('startup-script')).to.contain('MaxStartups 100').and.contain('MaxSessions 64');
      expect(value('startup-script')).to.contain('vm.max_map_count=262144');
    });

    it('take keys of a team away that its members no longer have', async () => {
      await lab.make('vm:postgres');
      const keys = async () =>
        ((await read('postgres'))['metadata'] as { items: { key: string; value: string }[] }).items.find(
          ({ key }) => key === 'ssh-keys',
        )?.value;
      const path = vmPath('postgres');
      const { metadata } = await read('postgres');
      const { items, fingerprint } = metadata as { items: { key: string; value: string }[]; fingerprint: string };
      await asAdmin(lab, 'compute', `POST ${path}/setMetadata`, {
        fingerprint,
        items: [
          { key: 'mine', value: '1' },
          ...items.map((item) =>
            item.key === 'ssh-keys' ? { key: item.key, value: `${item.value}\nroot:ssh-ed25519 BBBB bob` } : item,
          ),
        ],
      });
      expect(await keys()).to.contain('BBBB');
      lab.resume();
      await lab.make('vm:postgres');
      expect(await keys()).to.not.contain('BBBB');
      expect(await keys()).to.contain('root:ssh-ed25519 AAAA alice');
      expect((await read('postgres'))['metadata']).to.nested.include({ 'items[0].key': 'mine' });
    });

    it('fall back from spot to standard, each by itself, when there is no capacity', async () => {
      lab.resume({ options: optionsOf({ spotVms: true }) });
      lab.cloud.faults.stockout({ name: 'ceph-2', provisioning: 'SPOT' });
      expect(await lab.make('vm:ceph-1')).to.include({ provisioning: 'spot' });
      expect(await lab.make('vm:ceph-2')).to.include({ provisioning: 'fallback' });
      expect((await read('ceph-1'))['scheduling']).to.include({
        provisioningModel: 'SPOT',
        instanceTerminationAction: 'STOP',
        onHostMaintenance: 'TERMINATE',
        automaticRestart: false,
      });
      expect((await read('ceph-2'))['scheduling']).to.include({ provisioningModel: 'STANDARD' });
    });

    it('say that there is no capacity at all, and where to go', async () => {
      lab.resume({ options: optionsOf({ spotVms: true }) });
      lab.cloud.faults.stockout({ name: 'ceph-2' });
      const problem = await refusal(lab.make('vm:ceph-2'));
      expect(problem.code).to.equal('cloud-capacity');
      expect(problem.advice).to.contain('another zone');
    });

    describe('where a stockout leaves the boot disk', () => {
      const disks = () =>
        Object.keys(lab.cloud.world.table('compute.disks')).map((path) => path.slice(path.lastIndexOf('/') + 1));
      beforeEach(() => {
        lab.resume({ options: optionsOf({ spotVms: true }) });
        changeSettings(lab.cloud.world, { 'chance.stockoutDisk': 1 });
      });
      const deleted = () =>
        lab.cloud.calls.list({ method: 'compute.disks.delete' }).map(({ params }) => params['disk']);

      it('delete that disk, and fall back to standard', async () => {
        lab.cloud.faults.stockout({ name: 'ceph-2', provisioning: 'SPOT' });
        expect(await lab.make('vm:ceph-2')).to.include({ provisioning: 'fallback' });
        expect(deleted()).to.deep.equal(['ceph-2']);
        expect(disks()).to.include.members(['ceph-2', 'ceph-2-data-1']);
      });

      it('delete it before they say that there is no capacity at all, and are made by the same command', async () => {
        const stockout = lab.cloud.faults.stockout({ name: 'ceph-2' });
        expect(await refusal(lab.make('vm:ceph-2'))).to.include({ code: 'cloud-capacity' });
        expect(disks()).not.to.include('ceph-2');
        lab.cloud.faults.remove(stockout);
        lab.resume();
        expect(await lab.make('vm:ceph-2')).to.include({ provisioning: 'spot' });
      });

      it('tell what it costs when they are cancelled before they have seen the stockout', async () => {
        const instance = lab.instance('vm:ceph-2');
        for (const id of instance.needs) await lab.make(id);
        lab.cloud.faults.stockout({ name: 'ceph-2' });
        const call = lab.call(instance);
        const { projectId, options } = lab.bootstrap;
        const body = wantedInstance(call as VmCall, 'spot');
        await call.context.cloud.compute.createInstance(projectId, options.zone, body, call.requestId('insert spot'));
        const unfinished = VmUnfinished.parse(await instance.step.unfinished?.(call));
        expect(unfinished).to.include({ diskGb: options.rootDiskSize });
        expect(Date.parse(unfinished.createdAt ?? '')).to.be.closeTo(Date.now(), 60_000);
      });
    });

    it('are started when they were stopped', async () => {
      await lab.make('vm:postgres');
      await asAdmin(lab, 'compute', `POST ${vmPath('postgres')}/stop`);
      lab.resume();
      await lab.make('vm:postgres');
      expect((await read('postgres'))['status']).to.equal('RUNNING');
    });

    it('are made again when somebody deleted them', async () => {
      await lab.make('vm:postgres');
      await asAdmin(lab, 'compute', `DELETE ${vmPath('postgres')}`);
      lab.resume();
      await lab.make('vm:postgres');
      expect((await read('postgres'))['status']).to.equal('RUNNING');
    });

    it('are an error that says so when they are suspended', async () => {
      await lab.make('vm:postgres');
      await asAdmin(lab, 'compute', `POST ${vmPath('postgres')}/suspend`);
      const problem = await refusal(lab.make('vm:postgres'));
      expect(problem.code).to.equal('cloud-conflict');
      expect(problem.detail).to.contain('suspended');
    });
  });
});
