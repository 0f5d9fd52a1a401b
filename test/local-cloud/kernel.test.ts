import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createSimulatedCloud } from '../../local/cloud/index.js';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import { owner, type ReadyCloud, readyCloud, stranger } from './ready-cloud.js';

const look = 'GET /v3/projects/ready-project';

describe('the simulated cloud', () => {
  let cloud: ReadyCloud;
  const call = (line: string, body?: unknown) => cloud.call('cloudresourcemanager', line, body);
  const local = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${cloud.frontUrl}/_local/${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await response.json()) as JsonObject;
  };

  beforeEach(async () => {
    cloud = await readyCloud();
  });
  afterEach(() => cloud.close());

  describe('calls', () => {
    it('are all recorded: method, parameters, caller, status', async () => {
      await call(look);
      await cloud.call('cloudresourcemanager', look, undefined, { as: stranger });
      expect(cloud.calls.list()).to.have.length(2);
      expect(cloud.calls.list()[0]).to.include({
        n: 1,
        api: 'cloudresourcemanager.v3',
        method: 'cloudresourcemanager.projects.get',
        caller: owner,
        status: 200,
      });
      expect(cloud.calls.list()[1]).to.include({ caller: stranger, status: 403 });
      expect((await local('GET', 'calls?since=1')) as unknown).to.have.length(1);
    });

    it('hold no payload of a secret, not even of one that was refused', async () => {
      const planted = 'planted-secret-value';
      const payload = Buffer.from(planted).toString('base64');
      await cloud.call('secretmanager', 'POST /v1/projects/ready-project/secrets?secretId=s', {
        replication: { automatic: {} },
      });
      const add = 'POST /v1/projects/ready-project/secrets/s:addVersion';
      await cloud.call('secretmanager', add, { payload: { data: payload } });
      await cloud.call('secretmanager', add, { payload: { data: `${planted}!` } });
      await cloud.call('secretmanager', add, { payload: planted });
      await cloud.call('secretmanager', add, undefined, { text: `{"payload":{"data":"${planted}` });
      const kept = JSON.stringify(await local('GET', 'calls'));
      expect(kept).to.include('addVersion');
      expect(kept).not.to.include(planted);
      expect(kept).not.to.include(payload);
    });
  });

  it('ends no connection between two requests, which would be an error to the client that is just sending one', async () => {
    const urls = [cloud.frontUrl, ...Object.values(cloud.endpoints), `http://${cloud.metadataHost}`];
    for (const url of urls) {
      const response = await fetch(`${url}/`);
      await response.text();
      // Where a server of Node's says after how long it does.
      expect(response.headers.get('keep-alive'), url).to.equal(null);
    }
  });

  describe('faults', () => {
    it('fail the n-th call before its effect', async () => {
      cloud.faults.add({ method: 'cloudresourcemanager.projects.get', nth: 2 });
      expect([(await call(look)).status, (await call(look)).status, (await call(look)).status]).to.deep.equal([
        200, 503, 200,
      ]);
    });

    it('fail a call after its effect', async () => {
      cloud.faults.add({ method: 'cloudresourcemanager.projects.patch', when: 'after', code: 500 });
      const reply = await call('PATCH /v3/projects/ready-project?updateMask=labels', { labels: { kept: 'yes' } });
      expect(reply).to.include({ status: 500, reason: 'INTERNAL' });
      expect((await call(look)).body['labels']).to.deep.equal({ kept: 'yes' });
    });

    it('break the connection, before and after', async () => {
      cloud.faults.add({ method: 'cloudresourcemanager.projects.patch', kind: 'drop', when: 'after' });
      const broken = await call('PATCH /v3/projects/ready-project?updateMask=labels', {
        labels: { kept: 'yes' },
      }).catch((error: Error) => error);
      expect(broken).to.be.instanceOf(Error);
      expect((await call(look)).body['labels']).to.deep.equal({ kept: 'yes' });
      expect(cloud.calls.list()[0]).to.include({ status: 0 });
    });

    it('answer as each API does where there were too many calls', async () => {
      cloud.faults.add({ method: '*', kind: 'rate', times: 2 });
      expect(await call(look)).to.include({ status: 429, reason: 'RESOURCE_EXHAUSTED' });
      const compute = await cloud.call('compute', 'GET /compute/v1/projects/ready-project/global/networks');
      expect(compute).to.include({ status: 403, reason: 'rateLimitExceeded' });
      expect(compute.body['error']).not.to.have.property('status');
    });

    it('are slow, and only for whom they were meant', async () => {
      const slow = { method: 'cloudresourcemanager.*', kind: 'slow', times: 0 } as const;
      const id = cloud.faults.add({ ...slow, delaySeconds: 3600, where: { caller: owner } });
      await cloud.call('cloudresourcemanager', look, undefined, { as: stranger });
      cloud.faults.remove(id);
      cloud.faults.add({ ...slow, delaySeconds: 0.2, where: { caller: owner } });
      const begun = Date.now();
      await call(look);
      expect(Date.now() - begun).to.be.greaterThan(190);
    });

    it('are slow no longer than they stand', async () => {
      const id = cloud.faults.add({ method: 'cloudresourcemanager.projects.get', kind: 'slow', delaySeconds: 3600 });
      const answer = call(look);
      const hits = () => (cloud.faults.list()['calls'] as Record<string, { hit: number }>)[id]?.hit;
      while (hits() === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      cloud.faults.remove(id);
      expect((await answer).status).to.equal(200);
    });

    it('can be set and removed over HTTP', async () => {
      const { id } = await local('POST', 'faults', {
        type: 'call',
        fault: { method: 'cloudresourcemanager.projects.get', times: 0 },
      });
      expect((await call(look)).status).to.equal(503);
      expect((await local('GET', 'faults'))['calls']).to.have.property(String(id));
      await local('DELETE', `faults/${String(id)}`);
      expect((await call(look)).status).to.equal(200);
      await local('POST', 'faults', { type: 'quota', fault: { metric: 'CPUS', limit: 8, region: 'europe-west4' } });
      await local('POST', 'faults', { type: 'stockout', fault: { name: 'k0s-1', provisioning: 'SPOT' } });
      expect(cloud.world.quota('p', 'europe-west4', 'CPUS')).to.equal(8);
      expect(cloud.world.quota('p', 'europe-west3', 'CPUS')).to.equal(500);
      expect(cloud.world.stockout('p', 'z', 'k0s-1', 'SPOT')).to.equal(true);
      expect(cloud.world.stockout('p', 'z', 'k0s-1', 'STANDARD')).to.equal(false);
      await local('DELETE', 'faults');
      expect(cloud.world.quota('p', 'europe-west4', 'CPUS')).to.equal(500);
    });
  });

  describe('the front port', () => {
    it('serves every API under its host name', async () => {
      const headers = { authorization: `Bearer ${cloud.identity.accessToken(owner)}` };
      const reply = await fetch(`${cloud.frontUrl}/cloudresourcemanager.googleapis.com/v1/projects/ready-project`, {
        headers,
      });
      expect(await reply.json()).to.include({ projectId: 'ready-project' });
      expect((await fetch(`${cloud.frontUrl}/nothing.googleapis.com/v1/projects`, { headers })).status).to.equal(404);
    });

    it("answers compute's batch, part by part", async () => {
      const part = (id: string, line: string) =>
        `--b\r\nContent-Type: application/http\r\nContent-ID: <${id}>\r\n\r\n${line} HTTP/1.1\r\nAccept: application/json\r\n\r\n\r\n`;
      const root = '/compute.googleapis.com/compute/v1/projects/ready-project';
      const reply = await fetch(`${cloud.frontUrl}/batch/compute/v1`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${cloud.identity.accessToken(owner)}`,
          'content-type': 'multipart/mixed; boundary="b"',
        },
        body: `${part('a+1', `GET ${root}/regions/europe-west4`)}${part('a+2', `GET ${root}/global/networks/none`)}--b--`,
      });
      const text = await reply.text();
      expect(reply.headers.get('content-type')).to.match(/^multipart\/mixed; boundary=/);
      expect(text).to.include('Content-ID: <response-a+1>').and.include('Content-ID: <response-a+2>');
      expect(text).to.include('HTTP/1.1 200 OK').and.include('"europe-west4"').and.include('HTTP/1.1 404');
    });

    it('prints its state as one object, without the keys of its issuer', async () => {
      const state = await local('GET', 'state');
      expect(state).to.have.nested.property('tables.projects.ready-project.state', 'ACTIVE');
      expect(JSON.stringify(state)).not.to.include(String(cloud.world.table('identity')['secret']));
    });
  });

  describe('a restart', () => {
    let folder: string;
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'plinth-cloud-'));
    });
    afterEach(() => rmSync(folder, { recursive: true }));

    it('goes on where the last one stopped: state, what is due, ports, tokens', async () => {
      const snapshotFile = join(folder, 'cloud.json');
      const first = await readyCloud({ snapshotFile, timeFactor: 0.02 });
      const begun = await first.call('cloudresourcemanager', 'POST /v3/projects', {
        projectId: 'late-project',
        displayName: 'Late',
        parent: 'organizations/100',
      });
      expect(begun.body['done']).to.equal(undefined);
      const token = first.identity.accessToken(owner);
      await first.close();

      const second = await createSimulatedCloud({ snapshotFile, timeFactor: 0.02 });
      try {
        expect(second.frontUrl).to.equal(first.frontUrl);
        expect(second.endpoints).to.deep.equal(first.endpoints);
        expect(second.identity.jwks).to.deep.equal(first.identity.jwks);
        await new Promise((resolve) => setTimeout(resolve, 270));
        const headers = { authorization: `Bearer ${token}` };
        const reply = await fetch(`${second.endpoints.cloudresourcemanager}/v3/projects/late-project`, { headers });
        expect(await reply.json()).to.include({ projectId: 'late-project', state: 'ACTIVE' });
      } finally {
        await second.close();
      }
    });
  });

  it('has in its snapshot, at the reply, what the reply says', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'plinth-cloud-'));
    const snapshotFile = join(folder, 'cloud.json');
    const kept = await readyCloud({ snapshotFile });
    try {
      for (const name of ['first', 'second', 'third']) {
        await kept.call('secretmanager', `POST /v1/projects/ready-project/secrets?secretId=${name}`, {
          replication: { automatic: {} },
        });
        expect(readFileSync(snapshotFile, 'utf8')).to.include(`projects/ready-project/secrets/${name}`);
      }
    } finally {
      await kept.close();
      rmSync(folder, { recursive: true });
    }
  });

  it('does the same again with the same seed', async () => {
    const idsOf = async (seed: number) => {
      const other = await readyCloud({ seed });
      const ids = [other.world.id(), other.world.id(), other.world.random()];
      await other.close();
      return ids;
    };
    expect(await idsOf(5)).to.deep.equal(await idsOf(5));
    expect(await idsOf(5)).not.to.deep.equal(await idsOf(6));
  });

  it('tells its listeners of changes, by calls and by time', async () => {
    const slow = await readyCloud({ timeFactor: 0.005 });
    let changes = 0;
    const stop = slow.world.onChange(() => {
      changes += 1;
    });
    await slow.call('cloudresourcemanager', 'POST /v3/projects', {
      projectId: 'new-project',
      displayName: 'New one',
      parent: 'organizations/100',
    });
    const before = changes;
    expect(before).to.be.greaterThan(0);
    expect(slow.world.nextDue()).to.be.a('number');
    await new Promise((resolve) => setTimeout(resolve, 90));
    expect(changes).to.be.greaterThan(before);
    expect(slow.world.nextDue()).to.equal(undefined);
    stop();
    await slow.close();
  });
});
