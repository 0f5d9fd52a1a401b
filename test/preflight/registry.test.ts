/** The finding of forge1's registry: user and token are tried as machines log in, and go nowhere else. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { readConfig } from '../../functions/config.js';
import { createContext } from '../../functions/context.js';
import { findings } from '../../functions/preflight/index.js';
import { createOnce, lookAt } from '../../functions/preflight/look.js';
import { makeOptions } from '../install-config/make-options.js';

const token = 'planted-forge1-token';
const right = `Basic ${Buffer.from(`alice:${token}`).toString('base64')}`;

interface Case {
  readonly what: string;
  readonly state: 'ok' | 'stop' | 'unknown';
  readonly words: RegExp;
  /** Answers a request; `url` is the server's own. */
  answer(path: string, authorization: string | undefined, url: string): readonly [status: number, challenge?: string];
}

const bearer = (path: string, authorization: string | undefined, url: string, lets: boolean) => {
  if (path === '/token') return [lets && authorization === right ? 200 : 403] as const;
  return authorization === 'Bearer given'
    ? ([200] as const)
    : ([401, `Bearer realm="${url}/token",service="registry"`] as const);
};

const cases: readonly Case[] = [
  {
    what: 'lets them in by a token of its own',
    state: 'ok',
    words: /lets alice in/,
    answer: (path, authorization, url) => bearer(path, authorization, url, true),
  },
  {
    what: 'lets them in by user and password',
    state: 'ok',
    words: /lets alice in/,
    answer: (_, authorization) => (authorization === right ? [200] : [401, 'Basic realm="registry"']),
  },
  {
    what: 'gives them no token',
    state: 'stop',
    words: /answers 403/,
    answer: (path, authorization, url) => bearer(path, authorization, url, false),
  },
  { what: 'does not know them', state: 'stop', words: /answers 401/, answer: () => [401, 'Basic realm="registry"'] },
  { what: 'is broken', state: 'unknown', words: /answers 503/, answer: () => [503] },
  {
    what: 'sends logins elsewhere',
    state: 'unknown',
    words: /sends logins to http:\/\/127\.0\.0\.1:9$|sends logins to http:\/\/127\.0\.0\.1:9\./,
    answer: () => [401, 'Bearer realm="http://127.0.0.1:9/token"'],
  },
];

describe("forge1's registry, before a bootstrap begins", () => {
  let server: Server;
  let url: string;
  let current: Case['answer'];
  before(async () => {
    server = createServer((request, response) => {
      const path = new URL(request.url ?? '/', url).pathname;
      const [status, challenge] = current(path, request.headers.authorization, url);
      response.writeHead(status, challenge === undefined ? {} : { 'www-authenticate': challenge });
      response.end('{"token":"given"}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  for (const { what, state, words, answer } of cases) {
    it(`is ${state} if it ${what}`, async () => {
      current = answer;
      const config = readConfig({
        PLINTH_PROJECT: 'plinth-test',
        PLINTH_DEPLOYMENT: 'test',
        PLINTH_MACHINE_ACCESS: 'direct',
        PLINTH_SSH_SOURCE_RANGES: '127.0.0.0/8',
        PLINTH_ENDPOINTS: `forge1-registry=${url}`,
      });
      const [found] = await lookAt(
        findings.filter(({ code }) => code === 'registry'),
        {
          context: createContext(config),
          intent: {
            options: makeOptions({ registryType: 'forge1', registryUser: 'alice', installVersion: '1.0.0' }),
            owner: 'alice@example.com',
            ownerMember: 'user:alice@example.com',
            machineAccess: 'direct',
            loadBalancers: 'external',
            machines: true,
            projectId: 'some-project',
          },
          secrets: { forge1Pat: token },
          once: createOnce(),
        },
      );
      const { verdict } = found ?? {};
      expect(verdict?.state).to.equal(state);
      const told = verdict?.state === 'stop' ? verdict.problem.detail : verdict?.what;
      expect(told).to.match(words).and.not.to.include(token);
    });
  }
});
