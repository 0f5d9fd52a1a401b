import { expect } from 'chai';
import type { JsonObject } from '../../local/cloud/kernel/api.js';
import { crc32c } from '../../local/cloud/storage/crc32c.js';
import { type ReadyCloud, readyCloud, stranger } from './ready-cloud.js';
import { commonRefusals, invalid, itRefuses, refusalsOf } from './refusals.js';

const root = '/v1/projects/P/secrets';
const encode = (text: string) => Buffer.from(text).toString('base64');
const payload = (text: string, more: object = {}) => ({ payload: { data: encode(text), ...more } });
const automatic = { replication: { automatic: {} } };

describe('simulated Secret Manager', () => {
  let cloud: ReadyCloud;
  const call = (line: string, body?: unknown, options?: { as?: string }) =>
    cloud.call('secretmanager', line, body, options);

  before(async () => {
    cloud = await readyCloud();
    await call(`POST ${root}?secretId=kept`, { ...automatic, labels: { 'made-by': 'test' } });
    await call(`POST ${root}/kept:addVersion`, payload('one'));
    await call(`POST ${root}/kept:addVersion`, payload('two'));
    await call(`POST ${root}/kept/versions/2:destroy`, {});
    await call(`POST ${root}?secretId=empty`, automatic);
    await call(`POST ${root}?secretId=hollow`, automatic);
  });
  after(() => cloud.close());

  describe('bad requests', () => {
    const refused = refusalsOf('secretmanager');
    itRefuses(() => cloud, commonRefusals('secretmanager', `POST ${root}?secretId=other`, automatic));
    itRefuses(
      () => cloud,
      [
        refused('a secret without an id', `POST ${root}`, automatic, ...invalid),
        refused('an id with a dot', `POST ${root}?secretId=a.b`, automatic, ...invalid),
        refused('an id of 256 letters', `POST ${root}?secretId=${'a'.repeat(256)}`, automatic, ...invalid),
        refused('a secret without replication', `POST ${root}?secretId=other`, {}, ...invalid, /replication/),
        refused('a label in capitals', `POST ${root}?secretId=other`, { ...automatic, labels: { A: 'b' } }, ...invalid),
        refused(
          'a secret that exists',
          `POST ${root}?secretId=kept`,
          automatic,
          409,
          'ALREADY_EXISTS',
          /^Secret \[projects\/\d+\/secrets\/kept\] already exists\.$/,
        ),
        refused(
          'a secret in a project without billing',
          'POST /v1/projects/unpaid-project/secrets?secretId=other',
          automatic,
          403,
          'PERMISSION_DENIED',
          /billing/,
        ),
        refused(
          'a look at a secret that is not there',
          `GET ${root}/none`,
          undefined,
          404,
          'NOT_FOUND',
          /^Secret \[projects\/\d+\/secrets\/none\] not found\.$/,
        ),
        refused('a version without payload', `POST ${root}/kept:addVersion`, {}, ...invalid),
        refused('a version of nothing', `POST ${root}/kept:addVersion`, { payload: { data: '' } }, ...invalid),
        refused(
          'a payload that is not base64',
          `POST ${root}/kept:addVersion`,
          { payload: { data: '###' } },
          ...invalid,
          /Base64/,
        ),
        refused(
          'a payload over 64 KiB',
          `POST ${root}/kept:addVersion`,
          payload('x'.repeat(65_537)),
          ...invalid,
          /65536/,
        ),
        refused(
          'a checksum that does not fit',
          `POST ${root}/kept:addVersion`,
          payload('x', { dataCrc32c: '1' }),
          ...invalid,
          /checksum/,
        ),
        refused(
          'a checksum that is no number',
          `POST ${root}/kept:addVersion`,
          payload('x', { dataCrc32c: 'one' }),
          ...invalid,
        ),
        refused(
          'reading a version that never was',
          `GET ${root}/kept/versions/9:access`,
          undefined,
          404,
          'NOT_FOUND',
          /^Secret Version \[projects\/\d+\/secrets\/kept\/versions\/9\] not found\.$/,
        ),
        refused(
          'reading a destroyed version',
          `GET ${root}/kept/versions/2:access`,
          undefined,
          400,
          'FAILED_PRECONDITION',
          /is in DESTROYED state\.$/,
        ),
        refused(
          'reading the latest of none',
          `GET ${root}/hollow/versions/latest:access`,
          undefined,
          404,
          'NOT_FOUND',
          /not found or has no versions\.$/,
        ),
        refused(
          'disabling a destroyed version',
          `POST ${root}/kept/versions/2:disable`,
          {},
          400,
          'FAILED_PRECONDITION',
        ),
        refused(
          'destroying with a stale etag',
          `POST ${root}/kept/versions/1:destroy`,
          { etag: '"stale"' },
          400,
          'FAILED_PRECONDITION',
          /etag/,
        ),
        refused(
          'removing with a stale etag',
          `DELETE ${root}/kept?etag=%22stale%22`,
          undefined,
          400,
          'FAILED_PRECONDITION',
        ),
        refused('a patch without a mask', `PATCH ${root}/kept`, { labels: {} }, ...invalid),
        refused('a patch of the replication', `PATCH ${root}/kept?updateMask=replication`, automatic, ...invalid),
        refused('a filter it cannot read', `GET ${root}?filter=colour`, undefined, ...invalid),
        refused(
          'a policy with a role that there is not',
          `POST ${root}/kept:setIamPolicy`,
          { policy: { bindings: [{ role: 'roles/none', members: [] }] } },
          ...invalid,
        ),
      ],
    );
    itRefuses(
      () => cloud,
      [
        {
          ...refused(
            "reading somebody else's secret",
            `GET ${root}/kept/versions/1:access`,
            undefined,
            403,
            'PERMISSION_DENIED',
            /secretmanager\.versions\.access/,
          ),
          as: stranger,
        },
      ],
    );
  });

  it('numbers versions, never twice, under the number of the project', async () => {
    const [first, second] = [
      await call(`POST ${root}/empty:addVersion`, payload('a')),
      await call(`POST ${root}/empty:addVersion`, payload('b')),
    ];
    expect(first.body['name']).to.match(/^projects\/\d+\/secrets\/empty\/versions\/1$/);
    expect(second.body).to.include({ state: 'ENABLED', clientSpecifiedPayloadChecksum: false });
    const latest = (await call(`GET ${root}/empty/versions/latest:access`)).body as {
      payload: { data: string; dataCrc32c: string };
    };
    expect(latest.payload).to.deep.equal({ data: encode('b'), dataCrc32c: String(crc32c(Buffer.from('b'))) });
    const listed = (await call(`GET ${root}/empty/versions`)).body['versions'] as JsonObject[];
    expect(listed.map(({ name }) => String(name).at(-1))).to.deep.equal(['2', '1']);
  });

  it('verifies a checksum and says that it did', async () => {
    expect(crc32c(Buffer.from('123456789'))).to.equal(0xe3069283);
    const { body } = await call(
      `POST ${root}/empty:addVersion`,
      payload('checked', { dataCrc32c: String(crc32c(Buffer.from('checked'))) }),
    );
    expect(body).to.include({ clientSpecifiedPayloadChecksum: true });
  });

  it('forgets the payload of a destroyed version', async () => {
    expect(JSON.stringify(cloud.state())).not.to.include(encode('two'));
  });

  it('is found by its labels', async () => {
    const { body } = await call(`GET ${root}?filter=${encodeURIComponent('labels.made-by=test')}`);
    expect((body['secrets'] as JsonObject[]).map(({ name }) => String(name).split('/').at(-1))).to.deep.equal(['kept']);
  });

  it('goes with its policy and its versions', async () => {
    await call(`POST ${root}?secretId=brief`, automatic);
    const policy = { bindings: [{ role: 'roles/secretmanager.secretAccessor', members: [`user:${stranger}`] }] };
    await call(`POST ${root}/brief:setIamPolicy`, { policy });
    await call(`POST ${root}/brief:addVersion`, payload('x'));
    expect((await call(`GET ${root}/brief/versions/1:access`, undefined, { as: stranger })).status).to.equal(200);
    expect((await call(`DELETE ${root}/brief`)).status).to.equal(200);
    await call(`POST ${root}?secretId=brief`, automatic);
    await call(`POST ${root}/brief:addVersion`, payload('y'));
    expect((await call(`GET ${root}/brief/versions/1:access`, undefined, { as: stranger })).status).to.equal(403);
  });
});
