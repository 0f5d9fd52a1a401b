/** What an identity provider may answer in place of tokens, and what both that ask it make of that: the command line and the console. */
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { beginSession, findSession } from '../../functions/console/sessions.js';
import { realClock } from '../../functions/host/clock.js';
import { realRandom } from '../../functions/host/random.js';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import { Problem, type ProblemBody } from '../../shared/problems.js';
import { createSandbox } from '../cli/run-cli.js';

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}
/** As it comes, or nothing at all: the connection is closed. */
type Answers = Partial<Record<'discovery' | 'token', Answer | 'none'>>;

const seconds = (ofNow: number): number => Math.floor(Date.now() / 1000) + ofNow;
/** Nobody verifies it here. */
const tokenUntil = (exp: number): string =>
  `e30.${Buffer.from(JSON.stringify({ email: 'alice@example.com', exp })).toString('base64url')}.s`;
const refreshToken = 'refresh-token-of-alice';
const clientSecret = 'secret-of-the-client';

async function serve({ discovery, token }: Answers) {
  const server = createServer(({ url }, reply) => {
    const [authorization_endpoint, token_endpoint] = [`${issuer}/authorize`, `${issuer}/token`];
    const usual: Answer = { status: 200, body: { issuer, authorization_endpoint, token_endpoint } };
    const answer = url === '/token' ? token : (discovery ?? usual);
    if (answer === undefined || answer === 'none') return void reply.destroy();
    const { status, body, headers = {} } = answer;
    reply.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { issuer, close };
}

/** A code of problems, or what went well. `words`: all that was said. */
interface Outcome {
  readonly outcome: string;

  readonly words: string;
}

/** `plinth token`, whose token has run out. */
async function byCommandLine(issuer: string): Promise<Outcome> {
  const sandbox = createSandbox();
  try {
    const login = {
      schema: 1,
      issuer,
      clientId: 'client',
      email: 'alice@example.com',
      refreshToken,
      idToken: 'e30.e30.s',
    };
    mkdirSync(sandbox.configFolder, { recursive: true });
    writeFileSync(join(sandbox.configFolder, 'credentials.json'), JSON.stringify(login), { mode: 0o600 });
    const env = {
      PLINTH_TOKEN: '',
      PLINTH_ENDPOINT: 'http://127.0.0.1:9',
      PLINTH_ISSUER: issuer,
      PLINTH_OAUTH_CLIENT_ID: 'client',
      PLINTH_OAUTH_CLIENT_SECRET: clientSecret,
    };
    const { code, stdout, stderr } = await sandbox.run(['token', '--json'], env);
    const words = stdout + stderr;
    if (code === 0) return { outcome: (JSON.parse(stdout) as { idToken: string }).idToken, words };
    const { problem } = JSON.parse(stdout) as { readonly problem: ProblemBody };
    return { outcome: problem.code, words };
  } finally {
    sandbox.remove();
  }
}

/** A session of the console, whose token has run out. */
async function byConsole(issuer: string): Promise<Outcome> {
  const context = { store: createMemoryStore(), clock: realClock, random: realRandom };
  const client = { issuer, clientId: 'console', clientSecret };
  const tokens = { idToken: 'e30.e30.s', refreshToken };
  const cookie = await beginSession(context, client, { email: 'alice@example.com', tokens });
  try {
    const session = await findSession(context, client, cookie);
    return { outcome: session?.idToken ?? 'ended', words: '' };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { code, detail, advice = '' } = error;
    return { outcome: code, words: `${detail} ${advice}` };
  }
}

const refusal = (error: string): unknown => ({ error, error_description: `a description with ${refreshToken}` });
const page = '<!doctype html><title>Sign in to the network</title>';

const notNow: readonly (readonly [string, Answers])[] = [
  ['answers 408', { token: { status: 408, body: '' } }],
  ['answers 429', { token: { status: 429, body: refusal('rate_limit_exceeded') } }],
  ['answers 429 without JSON', { token: { status: 429, body: page } }],
  ['answers 500', { token: { status: 500, body: refusal('internal_failure') } }],
  ['answers 503', { token: { status: 503, body: page } }],
  ['closes the connection', { token: 'none' }],
  [
    'says by an error code that it cannot answer now',
    { token: { status: 400, body: refusal('temporarily_unavailable') } },
  ],
  ['answers 400 with no error code', { token: { status: 400, body: {} } }],
  ['answers 400 with an error code of another form', { token: { status: 400, body: refusal('<b>no</b>') } }],
  ["answers 403 with the page of a network's login", { token: { status: 403, body: page } }],
  ['answers 200 without JSON', { token: { status: 200, body: page } }],
  ['answers 200 without a token', { token: { status: 200, body: { access_token: 'a' } } }],
  ['answers 200 with a token of another type', { token: { status: 200, body: { id_token: 7 } } }],
  ['answers 429 when asked for its endpoints', { discovery: { status: 429, body: '' } }],
  ['closes the connection when asked for its endpoints', { discovery: 'none' }],
  ['has no endpoints', { discovery: { status: 200, body: page } }],
  ['has the endpoints of another one', { discovery: { status: 200, body: { issuer: 'https://else.example' } } }],
];

describe('an identity provider', () => {
  const ask = async (answers: Answers): Promise<readonly [Outcome, Outcome]> => {
    const { issuer, close } = await serve(answers);
    try {
      return [await byCommandLine(issuer), await byConsole(issuer)];
    } finally {
      close();
    }
  };
  const outcomes = (both: readonly Outcome[]) => both.map(({ outcome }) => outcome);

  for (const [title, answers] of notNow) {
    it(`that ${title} is unavailable to both, and nobody is told to log in again`, async () => {
      const both = await ask(answers);
      expect(outcomes(both)).to.deep.equal(['unavailable', 'unavailable']);
      for (const { words } of both) {
        expect(words).not.to.match(/plinth login|sign in again|log in again/i);
        expect(words).not.to.contain(refreshToken).and.not.to.contain(clientSecret);
      }
    });
  }

  it('that cannot be reached is unavailable to both', async () => {
    const { issuer, close } = await serve({});
    close();
    expect(outcomes([await byCommandLine(issuer), await byConsole(issuer)])).to.deep.equal([
      'unavailable',
      'unavailable',
    ]);
  });

  it('that says when to come back is heeded by both', async () => {
    const both = await ask({ token: { status: 429, body: '', headers: { 'retry-after': '7' } } });
    for (const { words } of both) expect(words).to.contain('in 7 seconds');
  });

  it('that refuses the login ends it for both', async () => {
    const both = await ask({ token: { status: 400, body: refusal('invalid_grant') } });
    expect(outcomes(both)).to.deep.equal(['unauthenticated', 'ended']);
    expect(both[0].words).to.contain('plinth login').and.not.to.contain(refreshToken);
  });

  it('that refuses the client ends no login: both say what must be put right', async () => {
    const both = await ask({ token: { status: 401, body: refusal('invalid_client') } });
    expect(outcomes(both)).to.deep.equal(['unauthenticated', 'unavailable']);
    expect(both[0].words).to.contain('oauth.clientId');
    for (const { words } of both) expect(words).to.contain('invalid_client').and.not.to.contain(refreshToken);
  });

  it('whose clock is behind or ahead is believed by both', async () => {
    for (const exp of [seconds(-3600), seconds(7200)]) {
      const idToken = tokenUntil(exp);
      expect(outcomes(await ask({ token: { status: 200, body: { id_token: idToken } } }))).to.deep.equal([
        idToken,
        idToken,
      ]);
    }
  });
});
