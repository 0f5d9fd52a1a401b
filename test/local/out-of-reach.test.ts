/** What the identity of a function reaches in the cloud beside its work, and what it does not: each asked over the wire, with its own token. */
import { expect } from 'chai';
import type { GoogleApi } from '../../functions/config.js';
import { createSimulatedCloud, type SimulatedCloud } from '../../local/cloud/index.js';
import { functionAccount, initialState, local, makeStandingZone, people } from '../../local/deployment.js';
import { functionNames } from '../../shared/names.js';

describe('reach of the functions', () => {
  let cloud: SimulatedCloud;

  const ask = async (as: string, api: GoogleApi, line: string, body?: object): Promise<number> => {
    const [method = 'GET', path = ''] = line.split(' ');
    const reply = await fetch(cloud.endpoints[api] + path, {
      method,
      headers: { authorization: `Bearer ${cloud.identity.accessToken(as)}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    await reply.text();
    return reply.status;
  };

  before(async () => {
    cloud = await createSimulatedCloud({ timeFactor: 0, initial: initialState() });
    await makeStandingZone(cloud);
  });
  after(() => cloud?.close());

  describe('in DNS', () => {
    const { project, name } = local.standingZone;
    const zones = `/dns/v1/projects/${project}/managedZones`;
    const zone = (name: string) => ({ name, dnsName: `${name}.${local.domain}.`, description: 'Not for bootstraps' });
    const record = { name: `www.neighbour.${local.domain}.`, type: 'A', ttl: 300, rrdatas: ['203.0.113.7'] };
    const may = (name: string) => `GET ${zones}/${name}`;

    before(async () => {
      expect(await ask(people.admin, 'dns', `POST ${zones}`, zone('neighbour'))).to.equal(200);
    });

    it('is the zone that is listed, for the one function that writes zones', async () => {
      for (const each of Object.values(functionNames)) {
        const status = await ask(functionAccount(each), 'dns', may(name));
        expect(status, each).to.equal(each === functionNames.runCloudStep ? 200 : 403);
      }
    });

    for (const [title, line, body] of [
      ['see the zone beside it', may('neighbour')],
      ['write the zone beside it', `POST ${zones}/neighbour/changes`, { additions: [record] }],
      ['read the records of the zone beside it', `GET ${zones}/neighbour/rrsets`],
      ['change who may write the zone beside it', `POST ${zones}/neighbour:setIamPolicy`, { policy: {} }],
      ['delete the zone beside it', `DELETE ${zones}/neighbour`],
      ['learn that a zone is missing', may('missing')],
      ['list the zones', `GET ${zones}`],
      ['make a zone', `POST ${zones}`, zone('made')],
    ] as const) {
      it(`does not ${title}`, async () => {
        expect(await ask(functionAccount(functionNames.runCloudStep), 'dns', line, body)).to.equal(403);
      });
    }
  });
});
