import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { checkForge1Token } from '../../functions/preflight/software/forge1-access.js';
import { Problem } from '../../shared/problems.js';

describe('the forge1 token', () => {
  let server: Server;
  let url: string;
  let answer: { status: number; headers: Record<string, string> };
  let asked: { path: string | undefined; authorization: string | undefined }[] = [];
  before(async () => {
    server = createServer((request, response) => {
      asked.push({ path: request.url, authorization: request.headers.authorization });
      response.writeHead(answer.status, answer.headers).end('{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => {
    asked = [];
  });

  const token = 'planted-forge1-token';
  async function refusal(): Promise<Problem> {
    try {
      await checkForge1Token(url, token);
    } catch (error) {
      expect(error).to.be.instanceOf(Problem);
      expect((error as Problem).detail).not.to.contain(token);
      return error as Problem;
    }
    return expect.fail('nothing was thrown');
  }

  const enough = ['read:packages, read:org', 'repo, write:packages, admin:org', 'read:packages,write:org'];
  for (const scopes of enough) {
    it(`is enough with ${scopes}`, async () => {
      answer = { status: 200, headers: { 'x-oauth-scopes': scopes } };
      await checkForge1Token(url, token);
      expect(asked).to.deep.equal([{ path: '/user', authorization: `Bearer ${token}` }]);
    });
  }

  const lacking: Record<string, string> = {
    'read:org': 'read:packages',
    '': 'read:packages and read:org',
    'read:packages': 'read:org',
    'repo, read:packages': 'read:org',
  };
  for (const [scopes, missing] of Object.entries(lacking)) {
    it(`with "${scopes}" lacks ${missing}`, async () => {
      answer = { status: 200, headers: { 'x-oauth-scopes': scopes } };
      const problem = await refusal();
      expect(problem.code).to.equal('bad-input');
      expect(problem.errors).to.deep.equal([{ path: '--forge1-pat', message: `lacks the scope ${missing}` }]);
    });
  }

  it('is refused when forge1 does not know it, or names no scopes', async () => {
    answer = { status: 401, headers: {} };
    expect((await refusal()).code).to.equal('bad-input');
    answer = { status: 200, headers: {} };
    expect((await refusal()).detail).to.contain('classic');
  });

  it('cannot be checked while forge1 is down, limits the rate, or answers oddly', async () => {
    for (const status of [403, 429, 500, 503]) {
      answer = { status, headers: { 'retry-after': '7' } };
      const problem = await refusal();
      expect(problem.code).to.equal('unavailable');
      expect(problem.retryAfterSeconds).to.equal(7);
    }
  });

  it('goes nowhere that an answer points to', async () => {
    answer = { status: 302, headers: { location: `${url}/elsewhere` } };
    expect((await refusal()).code).to.equal('unavailable');
    expect(asked.map(({ path }) => path)).to.deep.equal(['/user']);
  });
});
