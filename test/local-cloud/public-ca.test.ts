import { expect } from 'chai';
import { project, type ReadyCloud, readyCloud } from './ready-cloud.js';
import { commonRefusals, denied, invalid, itRefuses, refusalsOf } from './refusals.js';

const line = 'POST /v1/projects/P/locations/global/externalAccountKeys';

describe('simulated public CA', () => {
  let cloud: ReadyCloud;
  before(async () => {
    cloud = await readyCloud();
  });
  after(() => cloud.close());

  describe('bad requests', () => {
    const refused = refusalsOf('publicca');
    itRefuses(() => cloud, commonRefusals('publicca', line, {}));
    itRefuses(
      () => cloud,
      [
        refused('a location', line.replace('global', 'europe-west4'), {}, ...invalid),
        refused('a zone', line.replace('global', 'europe-west4-a'), {}, ...invalid),
        refused('a project without billing', line.replace('/P/', '/unpaid-project/'), {}, ...denied),
        refused('a name that is a number', line, { name: 1 }, ...invalid),
        refused('a key that is not base64', line, { b64MacKey: '###' }, ...invalid),
        refused('a key id that is a list', line, { keyId: [] }, ...invalid),
        refused('a key id that is an object', line, { keyId: {} }, ...invalid),
        refused('a name that is a flag', line, { name: true }, ...invalid),
        refused('a body that is a number', line, 1, ...invalid),
        refused('a body that is a text', line, 'key', ...invalid),
      ],
    );
  });

  it('gives a key whose MAC is base64 of base64url, another one each time', async () => {
    const [first, second] = [await cloud.call('publicca', line, {}), await cloud.call('publicca', line, {})];
    const { keyId, b64MacKey, name } = first.body as Record<string, string>;
    expect(name).to.equal(`projects/${project}/locations/global/externalAccountKeys/${keyId}`);
    const inner = Buffer.from(b64MacKey ?? '', 'base64').toString();
    expect(inner).to.match(/^[\w-]{43}$/);
    expect(Buffer.from(inner, 'base64url')).to.have.length(32);
    expect(second.body['keyId']).not.to.equal(keyId);
  });

  it('does not keep the key', async () => {
    const { body } = await cloud.call('publicca', line, {});
    expect(JSON.stringify(cloud.state())).not.to.include(String(body['b64MacKey']));
  });
});
