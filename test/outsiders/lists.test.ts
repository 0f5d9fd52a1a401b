import { expect } from 'chai';
import { apiDefinitions } from '../../local/cloud/apis.js';
import type { SimulatedApi } from '../../local/cloud/kernel/api.js';
import { surfaceOf } from '../../local/cloud/kernel/surface.js';
import { furnish, region, zone } from '../local-cloud/furnished.js';
import { type ReadyCloud, readyCloud } from '../local-cloud/ready-cloud.js';
import { type Case, itAnswers } from './cases.js';
import { smallest } from './smallest.js';

const compute = '/compute/v1/projects/P';

describe('lists', () => {
  let cloud: ReadyCloud;
  before(async () => {
    cloud = await readyCloud();
    await furnish(cloud);
  });
  after(() => cloud.close());

  describe('refuse a page token that nobody gave out:', () => {
    for (const { api, handlers } of apiDefinitions) {
      const surface = surfaceOf(api);
      const host = surface.host.replace('.googleapis.com', '') as SimulatedApi;
      for (const method of surface.methods.values()) {
        if (handlers[method.id] === undefined || method.parameters?.['pageToken'] === undefined) continue;
        it(`${api} ${method.id}`, async () => {
          const { line, body } = smallest(surface, method);
          for (const token of ['nonsense', 'bm9uc2Vuc2U']) {
            const reply = await cloud.call(host, `${line}${line.includes('?') ? '&' : '?'}pageToken=${token}`, body);
            expect(reply.status, reply.message).to.equal(400);
            expect(reply.message).to.match(/page ?token/i);
          }
        });
      }
    }
  });

  it('go on where a token says', async () => {
    const seen: string[] = [];
    let token = '';
    do {
      const { body } = await cloud.call('compute', `GET ${compute}/global/firewalls?maxResults=2&pageToken=${token}`);
      seen.push(...(body['items'] as { name: string }[]).map(({ name }) => name));
      token = String(body['nextPageToken'] ?? '');
    } while (token !== '');
    expect(seen)
      .to.deep.equal([...seen].sort())
      .and.include('allow-ssh')
      .and.have.length.above(2);
  });

  const filtered = (filter: string, more: Partial<Case> = {}): Case => ({
    name: `filter ${filter}`,
    api: 'compute',
    line: `GET ${compute}/zones/${zone}/instances?filter=${encodeURIComponent(filter)}`,
    ...more,
  });
  const refused = { code: 400, reason: 'invalid' };
  const namesAre =
    (...names: string[]): NonNullable<Case['check']> =>
    ({ body }) =>
      expect(((body['items'] ?? []) as { name: string }[]).map(({ name }) => name)).to.deep.equal(names);
  const found = { check: namesAre('jumpbox') };
  const none = { check: namesAre() };

  const filters: readonly Case[] = [
    ...[
      'name===',
      'name=(',
      'status=RUNNING AND',
      'nosuchfield=1',
      'name="open',
      "name='open",
      'name=',
      '=x',
      'AND',
    ].map((filter) => filtered(filter, refused)),
    ...['(name=jumpbox', 'name=jumpbox)', 'labels=', 'tags.nosuch=1', 'name eq [', 'NOT', 'name=a OR'].map((filter) =>
      filtered(filter, refused),
    ),
    ...[
      'name=jumpbox',
      'name = "jumpbox"',
      '(name = "jumpbox") (status = RUNNING)',
      'name=other OR (name=jumpbox AND NOT status=STOPPED)',
      '-name=other',
      'name eq (jump|other).*',
      'name eq ".*box.*"',
      String.raw`name eq ".*\bjumpbox\b.*"`,
      'status != TERMINATED',
      'networkInterfaces.networkIP:10.10.0.2',
      'tags.items=ssh status=RUNNING',
      'creationTimestamp > 2020-01-01T00:00:00Z',
      'id>1',
    ].map((filter) => filtered(filter, found)),
    ...['name=other', 'labels.made-by:*', 'name ne jumpbox', 'NOT name=jumpbox'].map((filter) =>
      filtered(filter, none),
    ),
  ];
  describe('of compute read filters', () => itAnswers(() => cloud, filters));

  const orders: readonly Case[] = [
    { name: 'by nonsense', api: 'compute', line: `GET ${compute}/global/networks?orderBy=nonsense`, ...refused },
    {
      name: 'by name',
      api: 'compute',
      line: `GET ${compute}/global/networks?orderBy=name`,
      check: namesAre('default', 'net', 'zz-newest'),
    },
    {
      name: 'by age, the newest first',
      api: 'compute',
      line: `GET ${compute}/global/networks?orderBy=${encodeURIComponent('creationTimestamp desc')}`,
      check: ({ body }) => expect((body['items'] as { name: string }[])[0]?.name).to.equal('zz-newest'),
    },
    {
      name: 'by age, in every scope',
      api: 'compute',
      line: `GET ${compute}/aggregated/addresses?orderBy=${encodeURIComponent('creationTimestamp desc')}&fields=items/*/addresses/name`,
      check: ({ body }) =>
        expect((body['items'] as Record<string, unknown>)[`regions/${region}`]).to.deep.equal({
          addresses: [{ name: 'gateway' }],
        }),
    },
  ];
  describe('of compute are ordered', () => {
    before(() =>
      cloud.call('compute', `POST ${compute}/global/networks`, { name: 'zz-newest', autoCreateSubnetworks: false }),
    );
    itAnswers(
      () => cloud,
      orders.map((each) => ({ ...each })),
    );
  });

  const places: readonly Case[] = [
    { name: 'jobs', api: 'cloudscheduler', line: 'GET /v1/projects/P/locations/nowhere1/jobs', code: 400 },
    {
      name: 'repositories',
      api: 'artifactregistry',
      line: 'GET /v1/projects/P/locations/nowhere1/repositories',
      code: 400,
    },
    { name: 'VMs', api: 'compute', line: `GET ${compute}/zones/nowhere-1-a/instances`, code: 400 },
  ];
  describe('are refused where there is no such place', () => itAnswers(() => cloud, places));
});
