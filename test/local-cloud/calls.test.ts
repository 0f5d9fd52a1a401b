/** What the record of calls tells beyond who called what: what for, and when it is over. */
import { expect } from 'chai';
import { type ReadyCloud, readyCloud } from './ready-cloud.js';

describe('a recorded call', () => {
  let cloud: ReadyCloud;
  beforeEach(async () => {
    cloud = await readyCloud({ timeFactor: 0.005 });
  });
  afterEach(() => cloud.close());

  const networks = '/compute/v1/projects/P/global/networks';

  it('tells when what it began is over, and nothing if it began nothing', async () => {
    const { body } = await cloud.call('compute', `POST ${networks}`, { name: 'net', autoCreateSubnetworks: false });
    let operation = body;
    while (operation['status'] !== 'DONE') {
      const path = `/compute/v1/projects/P/global/operations/${String(body['name'])}`;
      operation = (await cloud.call('compute', `GET ${path}`)).body;
    }
    const [insert, look] = cloud.calls.list();
    expect(insert?.until).to.be.greaterThan(insert?.at ?? 0);
    // The two are read of a clock at two moments, between which a busy computer may do something else.
    expect(insert?.until).to.be.closeTo(Date.parse(String(operation['endTime'])), 1000);
    expect(look).not.to.have.property('until');
  });

  it('was made for what its header says', async () => {
    await fetch(`${cloud.endpoints.compute}${networks.replace('P', 'ready-project')}`, {
      headers: { authorization: 'Bearer none', 'x-goog-request-reason': 'b1/network' },
    });
    expect(cloud.calls.list()[0]).to.include({ status: 401, reason: 'b1/network' });
  });
});
