/** What Cloud DNS answers: records, delegations, dangling ones. Asked with Node's own resolver, and message by message. */
import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import packet, { type DecodedPacket } from 'dns-packet';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import type { NameServers } from '../../local/cloud/name-servers/name-servers.js';
import { plainReply } from '../../local/cloud/name-servers/reply.js';
import { type ReadyCloud, readyCloud } from './ready-cloud.js';

const root = '/dns/v1/projects/P/managedZones';
const record = (name: string, type: string, ...rrdatas: string[]) => ({ name, type, ttl: 300, rrdatas });

const errorOf = (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => 'no error',
    (error: NodeJS.ErrnoException) => String(error.code),
  );

describe('name servers of the simulated Cloud DNS', () => {
  let cloud: ReadyCloud;
  let names: NameServers;
  const call = async (line: string, body?: unknown): Promise<JsonObject> => {
    const reply = await cloud.call('dns', line, body);
    expect(reply.status, `${line}: ${reply.message}`).to.be.oneOf([200, 204]);
    return reply.body;
  };
  /** Makes a zone and tells its name servers. */
  const zone = async (name: string, dnsName: string, project = 'P'): Promise<string[]> => {
    const made = await call(`POST ${root.replace('/P/', `/${project}/`)}`, { name, dnsName, description: name });
    return made['nameServers'] as string[];
  };
  const add = (name: string, ...additions: object[]) => call(`POST ${root}/${name}/changes`, { additions });
  const asking = (...addresses: string[]): Resolver => {
    const resolver = new Resolver({ timeout: 1000, tries: 1 });
    resolver.setServers(addresses.map((address) => `${address}:${names.port}`));
    return resolver;
  };
  const resolver = () => asking('127.0.0.1');
  const server = (name: string | undefined) => asking(names.addresses[name ?? ''] ?? expect.fail(`no server ${name}`));
  const dig = async (name: string, type: string, address = '127.0.0.1') => {
    const socket = createSocket('udp4');
    const query = { type: 'query' as const, id: 7, questions: [{ type: type as 'A', name }] };
    socket.send(packet.encode(query), names.port, address);
    const [reply] = (await once(socket, 'message')) as [Buffer];
    socket.close();
    return packet.decode(reply) as DecodedPacket & { readonly rcode: string };
  };

  beforeEach(async () => {
    cloud = await readyCloud({ dnsPort: 0 });
    names = cloud.nameServers ?? expect.fail('no name servers');
  });
  afterEach(() => cloud.close());

  it('answer with the records of their zones, and say so with authority', async () => {
    const [first] = await zone('plain', 'plain.example.com.');
    await add(
      'plain',
      record('plain.example.com.', 'A', '203.0.113.1', '203.0.113.2'),
      record('www.plain.example.com.', 'CNAME', 'plain.example.com.'),
      record('six.plain.example.com.', 'AAAA', '2001:db8::1'),
    );
    for (const asked of [server(first), resolver()]) {
      expect(await asked.resolve4('www.plain.example.com')).to.have.members(['203.0.113.1', '203.0.113.2']);
      expect(await asked.resolve6('six.plain.example.com')).to.deep.equal(['2001:db8::1']);
      expect((await asked.resolveSoa('plain.example.com')).nsname).to.equal(first?.slice(0, -1));
      expect(await asked.resolveNs('plain.example.com')).to.have.length(4);
    }
    const direct = await dig('plain.example.com', 'A', names.addresses[first ?? '']);
    expect(direct.flag_aa).to.equal(true);
    expect((await dig('plain.example.com', 'A')).flag_aa).to.equal(false);
  });

  it('tell a name that is not there from a type that it has not', async () => {
    const [first] = await zone('plain', 'plain.example.com.');
    await add('plain', record('a.b.plain.example.com.', 'A', '203.0.113.1'));
    for (const asked of [server(first), resolver()]) {
      expect(await errorOf(asked.resolve4('none.plain.example.com'))).to.equal('ENOTFOUND');
      expect(await errorOf(asked.resolve6('a.b.plain.example.com'))).to.equal('ENODATA');
      expect(await errorOf(asked.resolve4('b.plain.example.com'))).to.equal('ENODATA');
    }
    const missing = await dig('none.plain.example.com', 'A');
    expect(missing.authorities?.[0]).to.deep.include({ type: 'SOA', ttl: 300 });
    expect(await errorOf(resolver().resolve4('nowhere.example.org'))).to.equal('ENOTFOUND');
  });

  it('know wildcards', async () => {
    await zone('plain', 'plain.example.com.');
    await add(
      'plain',
      record('*.apps.plain.example.com.', 'A', '203.0.113.1'),
      record('own.apps.plain.example.com.', 'AAAA', '2001:db8::1'),
    );
    expect(await resolver().resolve4('any.apps.plain.example.com')).to.deep.equal(['203.0.113.1']);
    expect(await resolver().resolve4('a.b.apps.plain.example.com')).to.deep.equal(['203.0.113.1']);
    expect(await errorOf(resolver().resolve4('own.apps.plain.example.com'))).to.equal('ENODATA');
  });

  it('refer to a delegated zone, and refuse what they do not hold', async () => {
    const [parent] = await zone('parent', 'example.com.');
    const servers = await zone('child', 'child.example.com.');
    await add('child', record('www.child.example.com.', 'A', '203.0.113.1'));
    const isShared = servers.includes(parent ?? '');
    // Who serves both zones knows the one beneath by itself.
    if (!isShared) {
      expect(await errorOf(resolver().resolve4('www.child.example.com')), 'not delegated yet').to.equal('ENOTFOUND');
    }
    await add('parent', record('child.example.com.', 'NS', ...servers));
    expect(await resolver().resolve4('www.child.example.com')).to.deep.equal(['203.0.113.1']);
    const referral = await dig('www.child.example.com', 'A', names.addresses[parent ?? '']);
    if (!isShared) {
      expect([referral.flag_aa, referral.answers?.length]).to.deep.equal([false, 0]);
      expect(referral.authorities?.map(({ type, name }) => [type, name])).to.deep.equal(
        Array(4).fill(['NS', 'child.example.com']),
      );
    }
    expect((await dig('example.net', 'A', names.addresses[parent ?? ''])).rcode).to.equal('REFUSED');
  });

  it('show a dangling delegation: the zone is gone, its NS records are not', async () => {
    await zone('parent', 'example.com.');
    const servers = await zone('child', 'child.example.com.');
    await add('parent', record('child.example.com.', 'NS', ...servers));
    await add('child', record('www.child.example.com.', 'A', '203.0.113.1'));
    const rrset = `${root}/child/rrsets/www.child.example.com./A`;
    await call(`DELETE ${rrset}`);
    await call(`DELETE ${root}/child`);
    expect(await errorOf(resolver().resolve4('www.child.example.com'))).to.equal('ESERVFAIL');
    await add('parent', record('other.example.com.', 'NS', 'ns1.elsewhere.example.'));
    expect(await errorOf(resolver().resolve4('x.other.example.com'))).to.equal('ESERVFAIL');
  });

  it('leave a delegation dangling when the project of the zone is shut down', async () => {
    await cloud.call('serviceusage', 'POST /v1/projects/bare-project/services/dns.googleapis.com:enable', {});
    await zone('parent', 'example.com.');
    await add(
      'parent',
      record('child.example.com.', 'NS', ...(await zone('child', 'child.example.com.', 'bare-project'))),
    );
    expect(await resolver().resolveSoa('child.example.com')).to.have.property('serial', 1);
    const shutDown = await cloud.call('cloudresourcemanager', 'DELETE /v3/projects/bare-project');
    expect(shutDown.status, shutDown.message).to.equal(200);
    expect(await errorOf(resolver().resolveSoa('child.example.com'))).to.equal('ESERVFAIL');
  });

  it('serve a change once it is done', async () => {
    await cloud.close();
    cloud = await readyCloud({ dnsPort: 0, timeFactor: 0.03 });
    names = cloud.nameServers ?? expect.fail('no name servers');
    await zone('plain', 'plain.example.com.');
    await add('plain', record('plain.example.com.', 'A', '203.0.113.1'));
    expect(await errorOf(resolver().resolve4('plain.example.com'))).to.equal('ENODATA');
    await new Promise((done) => setTimeout(done, 250));
    expect(await resolver().resolve4('plain.example.com')).to.deep.equal(['203.0.113.1']);
  });

  it('are silent, slow or wrong where a test has them so', async () => {
    const [first] = await zone('plain', 'plain.example.com.');
    await add('plain', record('plain.example.com.', 'A', '203.0.113.1'));
    const hasty = new Resolver({ timeout: 100, tries: 1 });
    hasty.setServers([names.resolver]);
    names.disturb = (at, reply) => (at === '' ? undefined : reply);
    expect(await errorOf(hasty.resolve4('plain.example.com'))).to.equal('ETIMEOUT');
    expect(await server(first).resolve4('plain.example.com')).to.deep.equal(['203.0.113.1']);
    names.disturb = (_at, reply) => sleep(50, reply);
    expect(await resolver().resolve4('plain.example.com')).to.deep.equal(['203.0.113.1']);
    names.disturb = () => plainReply('NXDOMAIN');
    expect(await errorOf(resolver().resolve4('plain.example.com'))).to.equal('ENOTFOUND');
    names.disturb = undefined;
    expect(await resolver().resolve4('plain.example.com')).to.deep.equal(['203.0.113.1']);
  });

  it('give two zones of one name different servers, and the older one the name', async () => {
    const mine = await zone('one', 'same.example.com.');
    const others = await zone('two', 'same.example.com.');
    expect(mine).not.to.deep.equal(others);
    await add('one', record('same.example.com.', 'A', '203.0.113.1'));
    await add('two', record('same.example.com.', 'A', '203.0.113.2'));
    expect(await server(others[0]).resolve4('same.example.com')).to.deep.equal(['203.0.113.2']);
    expect(await resolver().resolve4('same.example.com')).to.deep.equal(['203.0.113.1']);
  });

  it('say where they are', async () => {
    const { resolver: at, addresses } = names;
    expect(Object.keys(addresses)).to.have.length(20);
    expect(new Set(Object.values(addresses)).size).to.equal(20);
    const told = (await (await fetch(`${cloud.frontUrl}/_local/name-servers`)).json()) as unknown;
    expect(told).to.deep.equal({ resolver: at, addresses });
    expect(await resolver().resolve4('ns-cloud-b3.googledomains.com')).to.deep.equal([
      addresses['ns-cloud-b3.googledomains.com.'],
    ]);
    expect(await errorOf(resolver().resolve6('ns-cloud-b3.googledomains.com'))).to.equal('ENODATA');
  });
});
