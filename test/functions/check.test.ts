/** The function `check`, over HTTP: who may ask it, what it takes, and what it asks of Google. */
import type { AddressInfo } from 'node:net';
import { getTestServer } from '@google-cloud/functions-framework/testing';
import { expect } from 'chai';
import { deployables, register } from '../../functions/index.js';
import { functionAccountIn, functionNames } from '../../shared/names.js';
import { createWorld, type World } from '../engine/world.js';
import { createIssuer, type Issuer } from '../http/issuer.js';

const url = 'https://check.example.com';
const bootstraps = functionAccountIn('plinth-test', functionNames.bootstraps);
const request = { codes: ['parent'], owner: 'alice@example.com', ownerMember: '', projectId: 'p-1', options: {} };

describe('the function check', () => {
  let issuer: Issuer;
  let world: World;
  before(async () => {
    issuer = await createIssuer();
    world = createWorld({
      PLINTH_ISSUER: issuer.url,
      PLINTH_ENDPOINTS: `issuer-keys=${issuer.jwksUrl}`,
      PLINTH_AUDIENCES: `${url},https://other.example.com`,
      PLINTH_CHECK_URL: url,
      PLINTH_PARENTS: 'folders/100',
    });
    const cloud: unknown = { projects: { mayCreateIn: async () => true }, reportingTo: () => cloud };
    register([deployables.check], () => ({ ...world.context, cloud: cloud as World['context']['cloud'] }));
  });
  after(() => issuer.close());

  async function ask(email: string | undefined, aud = url, body: unknown = request): Promise<Response> {
    const server = getTestServer(functionNames.check).listen(0, '127.0.0.1');
    try {
      await new Promise((resolve) => server.once('listening', resolve));
      const { port } = server.address() as AddressInfo;
      const headers: Record<string, string> = { 'content-type': 'application/json' };
      if (email !== undefined) headers['authorization'] = `Bearer ${await issuer.token(email, { claims: { aud } })}`;
      return await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body: JSON.stringify(body) });
    } finally {
      server.close();
      server.closeAllConnections();
    }
  }

  it('replies to bootstraps with a verdict for each code that it knows', async () => {
    const reply = await ask(bootstraps, url, { ...request, codes: ['parent', 'room', 'no-such-code'] });
    expect(reply.status).to.equal(200);
    const { verdicts } = (await reply.json()) as { verdicts: Record<string, { state: string }> };
    expect(Object.entries(verdicts).map(([code, { state }]) => [code, state])).to.deep.equal([['parent', 'ok']]);
  });

  it('replies to nobody else, whatever the front end lets through', async () => {
    expect((await ask(undefined)).status).to.equal(401);
    expect((await ask(bootstraps, 'https://other.example.com')).status).to.equal(401);
    for (const email of ['alice@example.com', functionAccountIn('plinth-other', functionNames.bootstraps)]) {
      expect((await ask(email)).status, email).to.equal(403);
    }
  });

  it('takes no more than 64 KiB, and nothing of another form', async () => {
    expect((await ask(bootstraps, url, { ...request, options: { x: 'x'.repeat(64 * 1024) } })).status).to.equal(413);
    expect((await ask(bootstraps, url, { ...request, secrets: {} })).status).to.equal(400);
    expect((await ask(bootstraps, url, { ...request, codes: Array(61).fill('parent') })).status).to.equal(400);
  });
});
