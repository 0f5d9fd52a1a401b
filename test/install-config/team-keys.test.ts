import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { teamKeys as readTeamKeys } from '../../functions/steps/config/forge1.js';
import { teamKeys } from '../../functions/steps/config/team-keys.js';
import { Problem } from '../../shared/problems.js';
import { makeOptions } from './make-options.js';

const key = (n: number) => `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${String(n).padStart(4, '0')}`;

describe('the keys of a forge1 team', () => {
  let server: Server;
  let apiUrl: string;
  /** Logins and their keys; answered two a page. */
  let team: Map<string, string[]>;
  let asked: { path: string; authorization: string | undefined }[];
  /** Set by a test to answer otherwise. */
  let answer: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;

  before((done) => {
    server = createServer((request, response) => {
      asked.push({ path: request.url ?? '', authorization: request.headers.authorization });
      if (answer?.(request, response)) return;
      const url = new URL(request.url ?? '', apiUrl);
      const user = /^\/api\/users\/([^/]+)\/keys$/.exec(url.pathname)?.[1];
      const items =
        url.pathname === '/api/orgs/my%20org/teams/core/members'
          ? [...team.keys()].map((login) => ({ login, id: 1 }))
          : user === undefined
            ? undefined
            : team.get(decodeURIComponent(user))?.map((text, id) => ({ id, key: text }));
      if (items === undefined) return void response.writeHead(404).end('{"message":"Not Found"}');
      const page = Number(url.searchParams.get('page') ?? '1');
      url.searchParams.set('page', String(page + 1));
      const more = items.length > page * 2;
      response.writeHead(200, {
        'content-type': 'application/json',
        ...(more && { link: `<${url.origin}/api/first>; rel="first", <${url}>; rel="next"` }),
      });
      response.end(JSON.stringify(items.slice((page - 1) * 2, page * 2)));
    });
    server.listen(0, '127.0.0.1', () => {
      apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;
      done();
    });
  });
  after((done) => void server.close(done));
  beforeEach(() => {
    asked = [];
    answer = undefined;
    team = new Map([
      ['alice', [key(1), key(2), key(3)]],
      ['bob', [`${key(4)} bob@laptop`]],
      ['carol', []],
    ]);
  });

  const read = (org = 'my org', slug = 'core', token = 'the-token') => readTeamKeys({ apiUrl, token }, org, slug);
  const refusal = async (act: Promise<unknown>): Promise<Problem> => {
    const outcome = await act.then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(outcome).to.be.instanceOf(Problem);
    const problem = outcome as Problem;
    expect(JSON.stringify([problem.detail, problem.advice, problem.errors])).not.to.include('the-token');
    return problem;
  };

  it('are those of all members, from all pages, each named by its member', async () => {
    expect(await read()).to.deep.equal([`${key(1)} alice`, `${key(2)} alice`, `${key(3)} alice`, `${key(4)} bob`]);
    expect(asked.map(({ path }) => path)).to.include('/api/orgs/my%20org/teams/core/members?per_page=100&page=2');
    expect(new Set(asked.map(({ authorization }) => authorization))).to.deep.equal(new Set(['Bearer the-token']));
  });

  it('are asked for anew by every look of the step, so that leavers are out', async () => {
    const call = {
      context: { config: { forge1ApiUrl: apiUrl } },
      bootstrap: { options: makeOptions({ forge1TeamOrg: 'my org', forge1TeamSlug: 'core' }) },
      secrets: { caller: async () => ({ forge1Pat: 'the-token' }) },
      signal: new AbortController().signal,
    } as unknown as Parameters<typeof teamKeys.observe>[0];
    expect((await teamKeys.observe(call))?.keys).to.have.length(4);
    team.delete('bob');
    expect((await teamKeys.observe(call))?.keys.join()).not.to.include('bob');
  });

  it('leave out what is no key, and what would end a line early', async () => {
    team.set('alice', [`${key(1)}\nroot:${key(9)}`, 'nonsense', 'command="x" ssh-rsa AAAA', key(1)]);
    expect(await read()).to.deep.equal([`${key(1)} alice`, `${key(4)} bob`]);
  });

  const refusals: Record<string, [status: number, headers: Record<string, string>, code: string, words: string[]]> = {
    'a token that is not accepted': [401, {}, 'bad-input', ['--forge1-pat']],
    'a token that may not see the team': [403, {}, 'forbidden', ['core', 'my org']],
    'a team that is not there': [404, {}, 'not-found', ['core', 'my org']],
    'too many calls': [403, { 'x-ratelimit-remaining': '0', 'retry-after': '7' }, 'unavailable', ['fewer calls']],
    'a fault of forge1': [502, {}, 'unavailable', ['502']],
    'a redirect elsewhere': [302, { location: 'http://127.0.0.1:1/' }, 'bad-input', ['302']],
  };
  for (const [name, [status, headers, code, words]] of Object.entries(refusals)) {
    it(`are refused for ${name}`, async () => {
      answer = (_request, response) => {
        response.writeHead(status, headers).end('{}');
        return true;
      };
      const problem = await refusal(read());
      expect(problem.code).to.equal(code);
      for (const word of words) expect(problem.detail).to.include(word);
      expect(asked).to.have.length(1);
    });
  }

  it('are never looked for where an answer points', async () => {
    answer = (_request, response) => {
      response.writeHead(200, { link: '<http://127.0.0.1:1/next>; rel="next"' }).end('[]');
      return true;
    };
    expect((await refusal(read())).detail).to.include('points elsewhere');
  });

  it('end when forge1 has no end of pages, or of bytes', async () => {
    answer = (request, response) => {
      response.writeHead(200, { link: `<http://${request.headers.host}${request.url}>; rel="next"` }).end('[]');
      return true;
    };
    expect((await refusal(read())).detail).to.include('too many pages');
    answer = (_request, response) => {
      response.writeHead(200).end(' '.repeat(3_000_000));
      return true;
    };
    expect((await refusal(read())).detail).to.include('willing to read');
  });

  it('are refused when forge1 answers no list, or is not there', async () => {
    answer = (_request, response) => {
      response.writeHead(200).end('{"login":"alice"}');
      return true;
    };
    expect((await refusal(read())).code).to.equal('unavailable');
    const nobody = readTeamKeys({ apiUrl: 'http://127.0.0.1:9', token: 'the-token' }, 'o', 't');
    expect((await refusal(nobody)).code).to.equal('unavailable');
  });

  it('never show a token that no header can hold', async () => {
    expect((await refusal(read('my org', 'core', 'the-token\n'))).code).to.equal('bad-input');
    expect(asked).to.deep.equal([]);
  });
});
