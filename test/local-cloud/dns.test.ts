import { expect } from 'chai';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import { project, type ReadyCloud, readyCloud, stranger } from './ready-cloud.js';
import { commonRefusals, itRefuses, refusalsOf } from './refusals.js';

const root = '/dns/v1/projects/P/managedZones';
const changes = `${root}/platform/changes`;
const zone = (more: object = {}) => ({ name: 'other', dnsName: 'other.example.com.', description: 'Other', ...more });
const a = (name: string, ...rrdatas: string[]) => ({
  name: `${name}.platform.example.com.`,
  type: 'A',
  ttl: 300,
  rrdatas,
});

describe('simulated Cloud DNS', () => {
  let cloud: ReadyCloud;
  const call = (line: string, body?: unknown, options?: { as?: string }) => cloud.call('dns', line, body, options);
  const furnish = async () => {
    await call(`POST ${root}`, zone({ name: 'platform', dnsName: 'platform.example.com.' }));
    await call(`POST ${changes}`, { additions: [a('cs', '203.0.113.1')] });
  };
  const names = async () =>
    ((await call(`GET ${root}/platform/rrsets`)).body['rrsets'] as JsonObject[]).map(
      ({ name, type }) => `${name} ${type}`,
    );

  describe('bad requests', () => {
    before(async () => {
      cloud = await readyCloud();
      await furnish();
    });
    after(() => cloud.close());
    const refused = refusalsOf('dns');
    const add = (...additions: object[]) => ({ additions });
    const remove = (...deletions: object[]) => ({ deletions });

    itRefuses(() => cloud, commonRefusals('dns', `POST ${root}`, zone()));
    itRefuses(
      () => cloud,
      [
        refused('a zone without a name', `POST ${root}`, zone({ name: undefined }), 400, 'required'),
        refused('a zone with capitals in its name', `POST ${root}`, zone({ name: 'Other' }), 400, 'invalid'),
        refused('a zone without a DNS name', `POST ${root}`, zone({ dnsName: undefined }), 400, 'required'),
        refused(
          'a DNS name without its last dot',
          `POST ${root}`,
          zone({ dnsName: 'other.example.com' }),
          400,
          'invalid',
          /'entity\.managedZone\.dnsName': 'other\.example\.com'/,
        ),
        refused('a top-level domain', `POST ${root}`, zone({ dnsName: 'com.' }), 400, 'invalid'),
        refused(
          'a zone without description',
          `POST ${root}`,
          zone({ description: undefined }),
          400,
          'required',
          /'entity\.managedZone\.description' parameter is required/,
        ),
        refused('a visibility that there is not', `POST ${root}`, zone({ visibility: 'hidden' }), 400, 'badRequest'),
        refused('a label in capitals', `POST ${root}`, zone({ labels: { A: 'b' } }), 400, 'invalid'),
        refused('a zone that exists', `POST ${root}`, zone({ name: 'platform' }), 409, 'alreadyExists'),
        refused(
          'a look at a zone that is not there',
          `GET ${root}/none`,
          undefined,
          404,
          'notFound',
          /^The 'parameters\.managedZone' resource named 'none' does not exist\.$/,
        ),
        refused(
          'removing a zone with records',
          `DELETE ${root}/platform`,
          undefined,
          400,
          'containerNotEmpty',
          /contains one or more 'resource records'/,
        ),
        refused('another DNS name later', `PATCH ${root}/platform`, { dnsName: 'x.example.com.' }, 400, 'invalid'),
        refused('an empty change', `POST ${changes}`, {}, 400, 'required'),
        refused(
          'an addition that exists',
          `POST ${changes}`,
          add(a('cs', '203.0.113.2')),
          409,
          'alreadyExists',
          /^The resource 'entity\.change\.additions\[0\]' named 'cs\.platform\.example\.com\. \(A\)' already exists$/,
        ),
        refused(
          'a deletion with another value',
          `POST ${changes}`,
          remove(a('cs', '203.0.113.2')),
          412,
          'conditionNotMet',
          /^Precondition not met for 'entity\.change\.deletions\[0\]'$/,
        ),
        refused(
          'a deletion with another TTL',
          `POST ${changes}`,
          remove({ ...a('cs', '203.0.113.1'), ttl: 60 }),
          412,
          'conditionNotMet',
        ),
        refused('a deletion of what is not there', `POST ${changes}`, remove(a('ws', '203.0.113.1')), 404, 'notFound'),
        refused(
          'a record of another domain',
          `POST ${changes}`,
          add({ ...a('x', '203.0.113.1'), name: 'x.example.org.' }),
          400,
          'invalid',
        ),
        refused(
          'a record name without its last dot',
          `POST ${changes}`,
          add({ ...a('x', '203.0.113.1'), name: 'x.platform.example.com' }),
          400,
          'invalid',
        ),
        refused('an address that is none', `POST ${changes}`, add(a('x', '203.0.113.256')), 400, 'invalid'),
        refused('a record of no data', `POST ${changes}`, add(a('x')), 400, 'required'),
        refused(
          'a record without TTL',
          `POST ${changes}`,
          add({ ...a('x', '203.0.113.1'), ttl: undefined }),
          400,
          'required',
        ),
        refused(
          'a type that there is not',
          `POST ${changes}`,
          add({ ...a('x', '203.0.113.1'), type: 'B' }),
          400,
          'invalid',
        ),
        refused(
          'a CNAME beside an address',
          `POST ${changes}`,
          add({ name: 'cs.platform.example.com.', type: 'CNAME', ttl: 300, rrdatas: ['x.example.com.'] }),
          400,
          'cnameResourceRecordSetConflict',
        ),
        refused('a change that never was', `GET ${changes}/99`, undefined, 404, 'notFound'),
        refused(
          'a record set that is not there',
          `GET ${root}/platform/rrsets/none.platform.example.com./A`,
          undefined,
          404,
          'notFound',
        ),
      ],
    );

    it('changes nothing by all of that', async () => {
      expect(await names()).to.deep.equal([
        'platform.example.com. NS',
        'platform.example.com. SOA',
        'cs.platform.example.com. A',
      ]);
    });
  });

  describe('behaviour', () => {
    afterEach(() => cloud.close());

    it('keeps a change pending for some seconds, then done', async () => {
      cloud = await readyCloud({ timeFactor: 0.01 });
      await furnish();
      const begun = (await call(`POST ${changes}`, { additions: [a('ws', '203.0.113.2')] })).body;
      expect(begun).to.include({ status: 'pending', kind: 'dns#change', id: '2' });
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect((await call(`GET ${changes}/2`)).body).to.include({ status: 'done' });
    });

    it('makes all of a change or nothing', async () => {
      cloud = await readyCloud();
      await furnish();
      const mixed = await call(`POST ${changes}`, { additions: [a('new', '203.0.113.3'), a('cs', '203.0.113.3')] });
      expect(mixed.status).to.equal(409);
      expect(await names()).not.to.include('new.platform.example.com. A');
      const replaced = await call(`POST ${changes}`, {
        deletions: [a('cs', '203.0.113.1')],
        additions: [a('cs', '203.0.113.3')],
      });
      expect(replaced.status).to.equal(200);
      expect((await call(`GET ${root}/platform/rrsets/cs.platform.example.com./A`)).body).to.deep.include({
        rrdatas: ['203.0.113.3'],
      });
    });

    it('gives zones of one DNS name different name servers', async () => {
      cloud = await readyCloud();
      const servers = new Set<string>();
      for (let n = 0; n < 5; n++) {
        const { body } = await call(`POST ${root}`, zone({ name: `zone-${n}` }));
        servers.add((body['nameServers'] as string[])[0] ?? '');
      }
      expect(servers.size).to.equal(5);
      const sixth = await call(`POST ${root}`, zone({ name: 'zone-6' }));
      expect(sixth.reason).to.equal('managedZoneDnsNameNotAvailable');
    });

    it('lets no project share name servers for a DNS name', async () => {
      const projects = ['first-project', 'second-project'].map((projectId) => ({
        projectId,
        parent: 'organizations/100' as const,
        billingAccountName: 'billingAccounts/000000-000000-000000' as const,
        services: ['dns.googleapis.com'],
      }));
      cloud = await readyCloud({ initial: { projects } });
      const make = (n: number) =>
        call(`POST /dns/v1/projects/${projects[n % 2]?.projectId}/managedZones`, zone({ name: `zone-${n}` }));
      const servers = new Set<string>();
      for (let n = 0; n < 5; n++) servers.add(((await make(n)).body['nameServers'] as string[])[0] ?? '');
      expect(servers.size).to.equal(5);
      const sixth = await make(5);
      expect([sixth.status, sixth.reason]).to.deep.equal([400, 'managedZoneDnsNameNotAvailable']);
    });

    it('asks for proof of a domain', async () => {
      cloud = await readyCloud({ initial: { unprovenDomains: ['example.com.'] } });
      const refused = await call(`POST ${root}`, zone());
      expect([refused.status, refused.reason]).to.deep.equal([400, 'verifyManagedZoneDnsNameOwnership']);
      expect((await call(`POST ${root}`, zone({ dnsName: 'other.example.org.' }))).status).to.equal(200);
    });

    it('shows no networks of public zones, and has no private ones', async () => {
      cloud = await readyCloud();
      const privateVisibilityConfig = { networks: [] };
      await call(`POST ${root}`, zone({ privateVisibilityConfig }));
      await call(`PATCH ${root}/other`, { privateVisibilityConfig });
      const { body } = await call(`GET ${root}/other`);
      expect(body).not.to.have.property('privateVisibilityConfig');
      expect(body).to.include({ visibility: 'public' });
      const inner = await call(`POST ${root}`, zone({ name: 'inner', visibility: 'private', privateVisibilityConfig }));
      expect(inner.status).to.equal(501);
    });

    it('lets go of a zone once only its own records are left', async () => {
      cloud = await readyCloud();
      await furnish();
      await call(`DELETE ${root}/platform/rrsets/cs.platform.example.com./A`);
      expect((await call(`DELETE ${root}/platform`)).status).to.be.oneOf([200, 204]);
      expect((await call(`GET ${root}/platform`)).status).to.equal(404);
    });

    it('is satisfied with a role on the zone alone', async () => {
      cloud = await readyCloud();
      await furnish();
      const addition = { additions: [a('by-bob', '203.0.113.4')] };
      expect((await call(`POST ${changes}`, addition, { as: stranger })).status).to.equal(403);
      const policy = (await call(`POST ${root}/platform:getIamPolicy`, {})).body;
      const bindings = [{ role: 'roles/dns.admin', members: [`user:${stranger}`] }];
      const set = await call(`POST ${root}/platform:setIamPolicy`, { policy: { ...policy, bindings } });
      expect(set.status, set.message).to.equal(200);
      expect((await call(`POST ${changes}`, addition, { as: stranger })).status).to.equal(200);
      expect((await call(`GET /dns/v1/projects/${project}/managedZones`, undefined, { as: stranger })).status).to.equal(
        403,
      );
      const stale = await call(`POST ${root}/platform:setIamPolicy`, { policy: { ...policy, bindings } });
      expect(stale.status).to.equal(409);
    });

    it('does not tell a zone that is missing from one that is not for whoever asks, unless the project is theirs', async () => {
      cloud = await readyCloud();
      await furnish();
      const { body: policy } = await call(`POST ${root}/platform:getIamPolicy`, {});
      const bindings = [{ role: 'roles/dns.admin', members: [`user:${stranger}`] }];
      await call(`POST ${root}/platform:setIamPolicy`, { policy: { ...policy, bindings } });
      expect((await call(`POST ${root}`, zone())).status).to.equal(200);
      const asStranger = (line: string, body?: object) => call(line, body, { as: stranger });
      expect((await asStranger(`GET ${root}/platform`)).status).to.equal(200);
      expect(await asStranger(`GET ${root}/other`)).to.include({ status: 403, reason: 'forbidden' });
      expect(await asStranger(`GET ${root}/missing`)).to.include({ status: 403, reason: 'forbidden' });
      expect((await asStranger(`POST ${root}`, zone({ name: 'missing' }))).status).to.equal(403);
      expect((await call(`GET ${root}/missing`)).status).to.equal(404);
    });
  });
});
