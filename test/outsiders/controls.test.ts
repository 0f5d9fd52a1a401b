import { expect } from 'chai';
import { gcloudEnvironment } from '../../local/cloud/gcloud.js';
import { type ReadyCloud, readyCloud } from '../local-cloud/ready-cloud.js';

describe('the control paths', () => {
  let cloud: ReadyCloud;
  before(async () => {
    cloud = await readyCloud();
  });
  after(() => cloud.close());

  const call = { type: 'call', fault: { method: 'compute.instances.insert' } };
  const refused: readonly (readonly [name: string, line: string, body: unknown, code: number, says: RegExp])[] = [
    ['a fault of no type', 'POST /_local/faults', { fault: {} }, 400, /type/],
    ['a fault of another type', 'POST /_local/faults', { ...call, type: 'flood' }, 400, /type/],
    ['a field beside the fault', 'POST /_local/faults', { ...call, colour: 'red' }, 400, /colour/],
    [
      'a field in the fault',
      'POST /_local/faults',
      { type: 'call', fault: { ...call.fault, colour: 1 } },
      400,
      /fault\.colour/,
    ],
    [
      'a method that is none',
      'POST /_local/faults',
      { type: 'call', fault: { method: 'compute.instances.explode' } },
      400,
      /fault\.method/,
    ],
    [
      'a prefix of no method',
      'POST /_local/faults',
      { type: 'call', fault: { method: 'computers.*' } },
      400,
      /fault\.method/,
    ],
    [
      'a count that is text',
      'POST /_local/faults',
      { type: 'call', fault: { ...call.fault, times: '2' } },
      400,
      /fault\.times/,
    ],
    [
      'a kind that is none',
      'POST /_local/faults',
      { type: 'call', fault: { ...call.fault, kind: 'fire' } },
      400,
      /fault\.kind/,
    ],
    [
      'a quota without a limit',
      'POST /_local/faults',
      { type: 'quota', fault: { metric: 'CPUS' } },
      400,
      /fault\.limit/,
    ],
    ['a stockout without a name', 'POST /_local/faults', { type: 'stockout', fault: {} }, 400, /fault\.name/],
    ['no JSON', 'POST /_local/faults', undefined, 400, /not JSON/],
    ['a token for nobody', 'POST /_local/token', {}, 400, /email/],
    ['a token with an unknown field', 'POST /_local/token', { email: 'a@example.com', scope: 'all' }, 400, /scope/],
    ['a life that is text', 'POST /_local/token', { email: 'a@example.com', lifeSeconds: 'long' }, 400, /lifeSeconds/],
    ['calls since nonsense', 'GET /_local/calls?since=nonsense', undefined, 400, /since/],
    ['calls by an unknown parameter', 'GET /_local/calls?methods=x', undefined, 400, /methods/],
    ['an unknown path', 'GET /_local/nonsense', undefined, 404, /_local\/nonsense/],
    ['a verb that the path lacks', 'PUT /_local/faults', {}, 404, /PUT/],
  ];
  for (const [name, line, body, code, says] of refused) {
    it(`refuse ${name}: ${code}`, async () => {
      const [method = '', path = ''] = line.split(' ');
      const response = await fetch(cloud.frontUrl + path, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      expect(response.status, text).to.equal(code);
      expect(text).to.match(says);
    });
  }

  it('take what they know', async () => {
    for (const body of [
      { type: 'call', fault: { method: 'compute.*', kind: 'slow', delaySeconds: 0.1, where: { zone: 'z' } } },
      { type: 'stockout', fault: { name: '*', provisioning: 'SPOT' } },
      { type: 'quota', fault: { metric: 'CPUS', limit: 8, region: 'us-east1' } },
    ]) {
      const response = await fetch(`${cloud.frontUrl}/_local/faults`, { method: 'POST', body: JSON.stringify(body) });
      expect(response.status, await response.text()).to.equal(201);
    }
  });
});

describe("gcloud's environment", () => {
  it('redirects every API that gcloud has', () => {
    const environment = gcloudEnvironment({ frontUrl: 'http://front', accessToken: 'token', configFolder: '/folder' });
    const endpoints = Object.entries(environment).filter(([name]) =>
      name.startsWith('CLOUDSDK_API_ENDPOINT_OVERRIDES_'),
    );
    expect(endpoints).to.have.length.at.least(180);
    for (const [name, url] of endpoints) expect(url, name).to.match(/^http:\/\/front\/[\w-]+\.googleapis\.com\//);
    expect(environment['CLOUDSDK_API_ENDPOINT_OVERRIDES_SQL']).to.equal('http://front/sqladmin.googleapis.com/');
    expect(environment['CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE']).to.equal(
      'http://front/compute.googleapis.com/compute/v1/',
    );
  });
});
