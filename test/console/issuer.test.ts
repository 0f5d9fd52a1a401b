/** What the console's issuer may answer in place of tokens: a refusal, or that it cannot answer now. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { grant, RefusedByIssuer } from '../../functions/console/issuer.js';
import { Problem } from '../../shared/problems.js';

describe("the console's issuer", () => {
  let server: Server;
  let status = 200;
  let issuer: string;

  before(async () => {
    server = createServer((request, response) => {
      response.setHeader('content-type', 'application/json');
      if (request.url === '/token') return response.writeHead(status).end('{"error":"invalid_grant"}');
      const [authorization_endpoint, token_endpoint] = [`${issuer}/authorize`, `${issuer}/token`];
      return response.end(JSON.stringify({ issuer, authorization_endpoint, token_endpoint }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => server?.close());

  for (const [answered, refuses] of [
    [400, true],
    [401, true],
    [408, false],
    [429, false],
    [500, false],
    [503, false],
  ] as const) {
    it(`${refuses ? 'refuses' : 'cannot answer now'} where it answers ${answered}`, async () => {
      status = answered;
      const client = { issuer, clientId: 'console', clientSecret: 'secret' };
      const error = await grant(client, { grant_type: 'refresh_token' }).catch((thrown: unknown) => thrown);
      if (refuses) expect(error).to.be.instanceOf(RefusedByIssuer);
      else expect(error instanceof Problem && error.code).to.equal('unavailable');
    });
  }
});
