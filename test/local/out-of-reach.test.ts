/** What the identity of a function reaches in the cloud beside its work, and what it does not: each asked over the wire, with its own token. */

import { expect } from 'chai';
import { makeBootstrapId } from '../../functions/engine/record/ids.js';
import { realRandom } from '../../functions/host/random.js';
import { createSimulatedCloud, type SimulatedCloud } from '../../local/cloud/index.js';
import type { SimulatedApi } from '../../local/cloud/kernel/api.js';
import { functionAccount, initialState, local, people } from '../../local/stack/deployment.js';
import { makeDeploymentSecrets, makeStandingZone } from '../../local/stack/resources.js';
import { deploymentSecrets, type FunctionName, functionNames } from '../../shared/names.js';

/** Each with an account of its own. `check` has none: it runs as `run-cloud-step`. */
const withAccounts = Object.values(functionNames).filter((name) => name !== functionNames.check);

describe('reach of the functions', () => {
  let cloud: SimulatedCloud;

  const ask = async (as: string, api: SimulatedApi, line: string, body?: object): Promise<number> => {
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
    await makeDeploymentSecrets(cloud);
  });
  after(() => cloud?.close());

  describe('in Secret Manager', () => {
    const secrets = `/v1/projects/${local.project}/secrets`;
    const payload = { payload: { data: 'bmV3' } };
    const ofBootstrap = `${makeBootstrapId(realRandom)}-caller`;
    const { proofKey, webhookKey, cursorKey, consoleClient } = deploymentSecrets;
    /** What is asked of each secret; the deletion at last, as it may be done. */
    const deeds = {
      read: { line: (secret: string) => `GET ${secrets}/${secret}/versions/1:access` },
      find: { line: (secret: string) => `GET ${secrets}/${secret}/versions` },
      add: { line: (secret: string) => `POST ${secrets}/${secret}:addVersion`, body: payload },
      disable: { line: (secret: string) => `POST ${secrets}/${secret}/versions/1:disable`, body: {} },
      grant: { line: (secret: string) => `POST ${secrets}/${secret}:setIamPolicy`, body: { policy: {} } },
      delete: { line: (secret: string) => `DELETE ${secrets}/${secret}` },
    };
    const attempt = (as: FunctionName, deed: Deed, secret: string) => {
      const { line, body }: { line(secret: string): string; body?: object } = deeds[deed];
      return ask(functionAccount(as), 'secretmanager', line(secret), body);
    };
    type Deed = keyof typeof deeds;
    const allowed: Readonly<Record<string, Partial<Record<FunctionName, readonly Deed[]>>>> = {
      [proofKey]: {
        bootstraps: ['read', 'find'],
        'run-cloud-step': ['read', 'find', 'add'],
        cleanup: ['read', 'find'],
      },
      [webhookKey]: { sweep: ['read', 'find'] },
      [cursorKey]: { bootstraps: ['read', 'find', 'add'], api: ['read', 'find', 'add'] },
      [consoleClient]: { api: ['read'] },
      [ofBootstrap]: {
        bootstraps: ['read', 'find', 'add', 'delete'],
        'run-cloud-step': ['read', 'find', 'add', 'delete'],
        'run-host-step': ['read'],
      },
    };

    /** Whoever deleted it leaves none to the next. */
    async function makeSecret(): Promise<void> {
      const automatic = { replication: { automatic: {} } };
      await ask(people.admin, 'secretmanager', `POST ${secrets}?secretId=${ofBootstrap}`, automatic);
      await ask(people.admin, 'secretmanager', `POST ${secrets}/${ofBootstrap}:addVersion`, payload);
    }

    for (const [secret, mayDo] of Object.entries(allowed)) {
      for (const name of withAccounts) {
        const title = secret === ofBootstrap ? 'a secret of a bootstrap' : secret;
        it(`${name} may ${mayDo[name]?.join(', ') ?? 'do nothing'} with ${title}`, async () => {
          await makeSecret();
          const done: Deed[] = [];
          for (const deed of Object.keys(deeds) as Deed[]) {
            const status = await attempt(name, deed, secret);
            expect(status, deed).to.be.oneOf([200, 403]);
            if (status === 200) done.push(deed);
          }
          expect(done).to.deep.equal(mayDo[name] ?? []);
        });
      }
    }

    const make = (as: FunctionName, id: string) =>
      ask(functionAccount(as), 'secretmanager', `POST ${secrets}?secretId=${id}`, { replication: { automatic: {} } });

    it('makes secrets for who needs some, and none in place of one that is there', async () => {
      for (const name of withAccounts) {
        const makes = name === functionNames.bootstraps || name === functionNames.runCloudStep;
        const found = [await make(name, `${makeBootstrapId(realRandom)}-caller`), await make(name, webhookKey)];
        expect(found, name).to.deep.equal(makes ? [200, 409] : [403, 403]);
      }
    });

    it('is nothing with any other name, not even of what it made', async () => {
      const [name, other] = [functionNames.runCloudStep, 'somebody-elses'];
      expect(await make(name, other)).to.equal(200);
      for (const deed of Object.keys(deeds) as Deed[]) expect(await attempt(name, deed, other), deed).to.equal(403);
    });
  });

  describe('in DNS', () => {
    const { project, name } = local.standingZone;
    const zones = `/dns/v1/projects/${project}/managedZones`;
    const zone = (name: string) => ({ name, dnsName: `${name}.${local.domain}.`, description: 'Not for bootstraps' });
    const record = { name: `www.neighbour.${local.domain}.`, type: 'A', ttl: 300, rrdatas: ['203.0.113.7'] };
    const look = (name: string) => `GET ${zones}/${name}`;

    before(async () => {
      expect(await ask(people.admin, 'dns', `POST ${zones}`, zone('neighbour'))).to.equal(200);
    });

    it('is the zone that is listed, for the one function that writes zones', async () => {
      for (const each of withAccounts) {
        const status = await ask(functionAccount(each), 'dns', look(name));
        expect(status, each).to.equal(each === functionNames.runCloudStep ? 200 : 403);
      }
    });

    for (const [title, line, body] of [
      ['see the zone beside it', look('neighbour')],
      ['write the zone beside it', `POST ${zones}/neighbour/changes`, { additions: [record] }],
      ['read the records of the zone beside it', `GET ${zones}/neighbour/rrsets`],
      ['change who may write the zone beside it', `POST ${zones}/neighbour:setIamPolicy`, { policy: {} }],
      ['delete the zone beside it', `DELETE ${zones}/neighbour`],
      ['learn that a zone is missing', look('missing')],
      ['list the zones', `GET ${zones}`],
      ['make a zone', `POST ${zones}`, zone('made')],
    ] as const) {
      it(`does not ${title}`, async () => {
        expect(await ask(functionAccount(functionNames.runCloudStep), 'dns', line, body)).to.equal(403);
      });
    }
  });
});
