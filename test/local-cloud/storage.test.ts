import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import { owner, project, type ReadyCloud, readyCloud } from './ready-cloud.js';

const root = '/storage/v1/b';

describe('simulated Cloud Storage', () => {
  let cloud: ReadyCloud;
  const call = (line: string, body?: unknown) => cloud.call('storage', line, body);
  const make = async (body: object): Promise<JsonObject> => {
    const iamConfiguration = { uniformBucketLevelAccess: { enabled: true } };
    const reply = await call(`POST ${root}?project=${project}`, { iamConfiguration, ...body });
    expect(reply.status, reply.message).to.equal(200);
    return reply.body;
  };
  const send = (url: string, method: string, headers: Record<string, string>, body?: string) =>
    fetch(url.startsWith('http') ? url : cloud.endpoints.storage + url, {
      method,
      headers: { authorization: `Bearer ${cloud.identity.accessToken(owner)}`, ...headers },
      ...(body === undefined ? {} : { body }),
    });
  const put = (name: string) =>
    send(`/upload${root}/plain/o?uploadType=media&name=${encodeURIComponent(name)}`, 'POST', {}, 'x');

  beforeEach(async () => {
    cloud = await readyCloud();
  });
  afterEach(() => cloud.close());

  describe('buckets', () => {
    it('show what the server fills in', async () => {
      const body = await make({ name: 'plain', location: 'europe-west4' });
      expect(body).to.deep.include({
        location: 'EUROPE-WEST4',
        locationType: 'region',
        storageClass: 'STANDARD',
        metageneration: '1',
      });
      expect(body).not.to.have.property('rpo');
      expect(body['generation']).to.match(/^\d{16,}$/);
      expect(body['iamConfiguration']).to.deep.include({ publicAccessPrevention: 'inherited' });
      expect(body['softDeletePolicy']).to.include({ retentionDurationSeconds: '604800' });
      expect((await call(`GET ${root}/plain`)).body).to.deep.equal(body);
      expect((await call(`GET ${root}/plain/storageLayout`)).body).to.include({ location: 'EUROPE-WEST4' });
    });

    it('lie in more than one region, if they are told to, or told nothing', async () => {
      expect(await make({ name: 'wide' })).to.include({ location: 'US', locationType: 'multi-region', rpo: 'DEFAULT' });
      expect(await make({ name: 'two', location: 'eur4' })).to.include({
        location: 'EUR4',
        locationType: 'dual-region',
        rpo: 'DEFAULT',
      });
      const odd = await call(`POST ${root}?project=${project}`, {
        name: 'odd',
        location: 'mars-north1',
        iamConfiguration: { uniformBucketLevelAccess: { enabled: true } },
      });
      expect([odd.status, odd.reason]).to.deep.equal([400, 'invalid']);
    });

    it('keep what their maker says of public access', async () => {
      const iamConfiguration = { uniformBucketLevelAccess: { enabled: true }, publicAccessPrevention: 'enforced' };
      const body = await make({ name: 'closed', iamConfiguration });
      expect(body['iamConfiguration']).to.deep.include({ publicAccessPrevention: 'enforced' });
    });

    it('begin with the bindings of their project', async () => {
      await make({ name: 'plain' });
      const { bindings } = (await call(`GET ${root}/plain/iam`)).body;
      const people = [`projectEditor:${project}`, `projectOwner:${project}`];
      expect(bindings).to.deep.include.members([
        { role: 'roles/storage.legacyBucketOwner', members: people },
        { role: 'roles/storage.legacyBucketReader', members: [`projectViewer:${project}`] },
      ]);
    });

    it('answer a policy with the conditions that it was given', async () => {
      await make({ name: 'plain' });
      const policy = {
        version: 3,
        bindings: [
          {
            role: 'roles/storage.objectViewer',
            members: [`user:${owner}`],
            condition: { title: 'for now', expression: "request.time < timestamp('2099-01-01T00:00:00Z')" },
          },
        ],
      };
      const { status, body } = await call(`PUT ${root}/plain/iam`, policy);
      expect([status, body['version'], body['bindings']]).to.deep.equal([200, 3, policy.bindings]);
    });

    it('change by patch, which counts', async () => {
      await make({ name: 'plain', labels: { team: 'a' } });
      const versioning = { enabled: true };
      const patched = await call(`PATCH ${root}/plain?ifMetagenerationMatch=1`, { versioning, labels: { tier: 'b' } });
      expect(patched.status, patched.message).to.equal(200);
      expect(patched.body).to.deep.include({ versioning, labels: { team: 'a', tier: 'b' }, metageneration: '2' });
      const stale = await call(`PATCH ${root}/plain?ifMetagenerationMatch=1`, { versioning });
      expect([stale.status, stale.reason]).to.deep.equal([412, 'conditionNotMet']);
      // gcloud sends back all that it has read, with times of another form.
      const whole = { ...patched.body, timeCreated: '2026-11-23T12:00:00+00:00', labels: { tier: 'c' } };
      const again = await call(`PATCH ${root}/plain`, whole);
      expect(again.body).to.deep.include({ labels: { team: 'a', tier: 'c' }, metageneration: '3' });
      expect(again.body['timeCreated']).to.equal(patched.body['timeCreated']);
      const moved = await call(`PATCH ${root}/plain`, { location: 'EU' });
      expect([moved.status, moved.reason]).to.deep.equal([400, 'invalid']);
    });
  });

  describe('objects', () => {
    beforeEach(async () => {
      await make({ name: 'plain' });
      for (const name of ['a.txt', 'b.log', 'c.txt', 'dir/d.txt', 'dir/deep/e.txt']) {
        expect((await put(name)).status).to.equal(200);
      }
    });
    const names = async (query: string) =>
      (((await call(`GET ${root}/plain/o?${query}`)).body['items'] ?? []) as JsonObject[]).map(({ name }) => name);

    for (const [query, found] of [
      ['startOffset=b', ['b.log', 'c.txt', 'dir/d.txt', 'dir/deep/e.txt']],
      ['endOffset=c.txt', ['a.txt', 'b.log']],
      ['startOffset=b.log&endOffset=dir/', ['b.log', 'c.txt']],
    ] as const) {
      it(`are listed by ${query}`, async () => {
        expect(await names(encodeURI(query))).to.deep.equal(found);
      });
    }
  });

  describe('resumable uploads', () => {
    let session: string;
    beforeEach(async () => {
      await make({ name: 'plain' });
      const begun = await send(`/upload${root}/plain/o?uploadType=resumable&name=big`, 'POST', {}, '{}');
      session = begun.headers.get('location') ?? expect.fail('no session');
    });
    const chunk = (range: string, body = '') => send(session, 'PUT', { 'content-range': range }, body);
    const stored = async () => (await call(`GET ${root}/plain/o/big`)).body['size'];

    it('of unknown length end with their request', async () => {
      expect((await chunk('bytes 0-*/*', 'all of it')).status).to.equal(200);
      expect(await stored()).to.equal('9');
    });

    const unit = 256 * 1024;
    const part = (units: number, letter = 'a') => letter.repeat(units * unit);

    it('of unknown length go on where they were', async () => {
      const first = await chunk(`bytes 0-${unit - 1}/*`, part(1));
      expect([first.status, first.headers.get('range')]).to.deep.equal([308, `bytes=0-${unit - 1}`]);
      expect((await chunk(`bytes ${unit}-*/*`, 'more')).status).to.equal(200);
      expect(await stored()).to.equal(String(unit + 4));
    });

    it('take no chunk of less than 256 KiB but the last one', async () => {
      const small = await chunk('bytes 0-3/8', 'four');
      expect(small.status).to.equal(400);
      expect(await small.text()).to.match(/equal or greater than 262144.*contained 4 bytes/);
      expect((await chunk('bytes */8')).headers.get('range')).to.equal(null);
      expect((await chunk('bytes 0-7/8', 'all of i')).status).to.equal(200);
    });

    it('keep of a chunk whole multiples of 256 KiB, and of what they have nothing else', async () => {
      const all = `${part(1, 'a')}${part(1, 'b')}tail`;
      const first = await chunk(`bytes 0-${unit + 9}/${all.length}`, all.slice(0, unit + 10));
      expect([first.status, first.headers.get('range')]).to.deep.equal([308, `bytes=0-${unit - 1}`]);
      // Bytes that are there are not written anew.
      const other = part(2, 'x').slice(0, unit) + all.slice(unit);
      expect((await chunk(`bytes 0-${all.length - 1}/${all.length}`, other)).status).to.equal(200);
      const reply = await send(`${root}/plain/o/big?alt=media`, 'GET', {});
      expect(await reply.text()).to.equal(all);
    });

    it('refuse a chunk that is longer or shorter than its range', async () => {
      expect((await chunk(`bytes 0-${unit - 1}/${2 * unit}`, part(2))).status).to.equal(400);
      expect((await chunk(`bytes 0-${2 * unit - 1}/${2 * unit}`, part(1))).status).to.equal(400);
    });

    it('keep what came before the connection broke, in multiples of 256 KiB', async () => {
      const { hostname, port, pathname, search } = new URL(session);
      const broken = request({
        ...{ hostname, port, path: pathname + search, method: 'PUT' },
        headers: { 'content-range': `bytes 0-${4 * unit - 1}/${4 * unit}`, 'content-length': 4 * unit },
      });
      broken.on('error', () => undefined);
      await new Promise((resolve) => broken.write(part(2) + 'b'.repeat(100), resolve));
      const length = async () => (await chunk(`bytes */${4 * unit}`)).headers.get('range');
      // What is on its way may be lost with the connection.
      await sleep(50);
      broken.destroy();
      for (let tries = 0; (await length()) === null && tries < 100; tries++) await sleep(20);
      expect(await length()).to.be.oneOf([`bytes=0-${unit - 1}`, `bytes=0-${2 * unit - 1}`]);
    });

    it('are sent by whoever has the URI, without a token', async () => {
      const reply = await fetch(session, { method: 'PUT', headers: { 'content-range': 'bytes 0-3/4' }, body: 'four' });
      expect(reply.status).to.equal(200);
      expect(await stored()).to.equal('4');
    });

    it('have the size that they were begun for', async () => {
      const headers = { 'x-upload-content-length': '4' };
      const begun = await send(`/upload${root}/plain/o?uploadType=resumable&name=big`, 'POST', headers, '{}');
      session = begun.headers.get('location') ?? expect.fail('no session');
      const longer = await chunk('bytes 0-4/5', 'fives');
      expect([longer.status, ((await longer.json()) as JsonObject)['error']]).to.deep.include(400);
      expect((await chunk('bytes 0-3/4', 'four')).status).to.equal(200);
    });

    it('are over a week after they began', async () => {
      await chunk(`bytes 0-${unit - 1}/${2 * unit}`, part(1));
      const sessions = cloud.world.table<{ begunAt: number }>('storage.uploads');
      for (const each of Object.values(sessions)) each.begunAt -= 8 * 86_400_000;
      expect((await chunk(`bytes */${2 * unit}`)).status).to.equal(410);
    });

    it('are begun by nobody who may not make the object, or where one stands that must not', async () => {
      const path = `/upload${root}/plain/o?uploadType=resumable&name=big`;
      const stranger = { authorization: `Bearer ${cloud.identity.accessToken('mallory@example.org')}` };
      expect((await send(path, 'POST', stranger, '{}')).status).to.equal(403);
      await chunk('bytes 0-3/4', 'four');
      expect((await send(`${path}&ifGenerationMatch=0`, 'POST', {}, '{}')).status).to.equal(412);
    });

    it('say how far they are, and what they became', async () => {
      const none = await chunk('bytes */*');
      expect([none.status, none.headers.get('range')]).to.deep.equal([308, null]);
      await chunk(`bytes 0-${unit - 1}/*`, part(1));
      const some = await chunk('bytes */*');
      expect([some.status, some.headers.get('range')]).to.deep.equal([308, `bytes=0-${unit - 1}`]);
      expect((await chunk(`bytes */${unit}`)).status).to.equal(200);
      const ended = await chunk('bytes */*');
      expect([ended.status, ((await ended.json()) as JsonObject)['name']]).to.deep.equal([200, 'big']);
    });
  });
});
