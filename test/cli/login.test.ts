/** People at their browsers: a login on loopback, what it leaves, and how it ends. The browser is an HTTP client that follows where it is sent. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createSimulatedCloud, type SimulatedCloud } from '../../local/cloud/index.js';
import { local } from '../../local/stack/deployment.js';
import { createStack, type Stack } from '../../local/stack/stack.js';
import { createSandbox, type Sandbox, type Started } from './run-cli.js';

describe('plinth login', function () {
  this.timeout(60_000);
  let stack: Stack;
  let sandbox: Sandbox;
  before(async () => {
    stack = await createStack();
  });
  after(() => stack.close());
  beforeEach(() => {
    sandbox = createSandbox(stack.url);
    sandbox.env = {
      ...sandbox.env,
      PLINTH_TOKEN: '',
      PLINTH_ISSUER: stack.record.issuerUrl,
      PLINTH_OAUTH_CLIENT_ID: local.oauthClient,
    };
  });
  afterEach(() => sandbox.remove());

  const file = () => join(sandbox.configFolder, 'credentials.json');
  const kept = () => JSON.parse(readFileSync(file(), 'utf8')) as Record<string, string>;
  const addressIn = async (started: Started): Promise<URL> => {
    await started.saw(/https?:\S+code_challenge\S+/);
    return new URL(/https?:\S+code_challenge\S+/.exec(started.text())?.[0] ?? '');
  };
  const visit = async (address: URL, email: string): Promise<string> => {
    address.searchParams.set('email', email);
    return (await fetch(address)).text();
  };
  async function logIn(email = 'alice@example.com'): Promise<string> {
    const started = sandbox.start(['login']);
    await visit(await addressIn(started), email);
    const { code, stdout, stderr } = await started.ended;
    expect(code, stderr).to.equal(0);
    return stdout + stderr;
  }

  it('makes later commands speak for who logged in, and shows nothing that is secret', async () => {
    const shown = await logIn();
    expect(shown).to.include('Logged in as alice@example.com.');
    const { refreshToken, idToken } = kept();
    expect(shown).to.not.include(refreshToken).and.to.not.include(idToken);
    expect((statSync(file()).mode & 0o777).toString(8)).to.equal('600');
    const made = await sandbox.run(['org', 'create', 'logged-in', '--json']);
    expect(made.code, made.stderr).to.equal(0);
    expect((await sandbox.run(['whoami'])).stdout).to.equal('alice@example.com, by plinth login.\n');
    expect((await sandbox.run(['token'])).stdout).to.equal(`${idToken}\n`);
  });

  it('renews a token that has run out by itself', async () => {
    await logIn();
    const [header, , signature] = (kept()['idToken'] ?? '').split('.');
    const old = Buffer.from(JSON.stringify({ email: 'alice@example.com', exp: 1 })).toString('base64url');
    writeFileSync(file(), JSON.stringify({ ...kept(), idToken: `${header}.${old}.${signature}` }));
    const listed = await sandbox.run(['org', 'list']);
    expect(listed.code, listed.stderr).to.equal(0);
    expect(kept()['idToken']).to.not.include(`.${old}.`);
  });

  it('takes no answer that does not bear its state', async () => {
    const started = sandbox.start(['login']);
    const address = await addressIn(started);
    const back = new URL(address.searchParams.get('redirect_uri') ?? '');
    back.searchParams.set('code', 'planted');
    back.searchParams.set('state', 'guessed');
    expect((await fetch(back)).status).to.equal(400);
    expect(existsSync(file())).to.equal(false);
    expect(await visit(address, 'alice@example.com')).to.include('plinth knows you now');
    expect((await started.ended).code).to.equal(0);
  });

  it('says that it was not agreed to, and what to do', async () => {
    const started = sandbox.start(['login']);
    const address = await addressIn(started);
    const back = new URL(address.searchParams.get('redirect_uri') ?? '');
    back.searchParams.set('error', 'access_denied');
    back.searchParams.set('state', address.searchParams.get('state') ?? '');
    await fetch(back);
    const { code, stderr } = await started.ended;
    expect(code).to.equal(3);
    expect(stderr).to.include('access_denied').and.include('plinth login');
  });

  it('ends with logout, for the issuer too', async () => {
    await logIn();
    const before = kept();
    expect((await sandbox.run(['logout'])).stdout).to.equal('alice@example.com is logged out.\n');
    expect(existsSync(file())).to.equal(false);
    expect((await sandbox.run(['whoami'])).code).to.equal(3);
    writeFileSync(file(), JSON.stringify({ ...before, idToken: 'a.b.c' }));
    const { code, stderr } = await sandbox.run(['org', 'list']);
    expect(code).to.equal(3);
    expect(stderr).to.include('Log in again: plinth login.').and.not.include(before['refreshToken']);
  });

  it('needs the client of the deployment', async () => {
    const { code, stderr } = await sandbox.run(['login'], { PLINTH_OAUTH_CLIENT_ID: '' });
    expect(code).to.equal(2);
    expect(stderr).to.include('PLINTH_OAUTH_CLIENT_ID').and.include('oauth.clientId');
  });
});

/** An issuer whose answers come when the test lets them. `behind`: another one, which is asked for tokens, and told to revoke them. */
async function createIssuer(behind?: string) {
  const waiting = { discovery: 0, token: 0 };
  const gates = { discovery: Promise.resolve(), token: Promise.resolve() };
  let idToken = '';
  const server = createServer(async (request, response) => {
    const answer = request.url === '/token' ? 'token' : 'discovery';
    response.setHeader('content-type', 'application/json');
    const passed = behind !== undefined && request.method === 'POST';
    const told = passed ? await passOn(`${behind}${request.url}`, await text(request)) : undefined;
    if (request.url === '/revoke') return response.writeHead(told?.status ?? 404).end(told?.body);
    waiting[answer] += 1;
    await gates[answer];
    if (told !== undefined) return response.writeHead(told.status).end(told.body);
    if (answer === 'token') return response.end(JSON.stringify({ id_token: idToken, refresh_token: 'rotated' }));
    const doors = {
      authorization_endpoint: `${url}/authorize`,
      token_endpoint: `${url}/token`,
      revocation_endpoint: `${url}/revoke`,
    };
    response.end(JSON.stringify({ issuer: url, ...doors }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    /** What it makes from now on. */
    give(claims: object) {
      idToken = `h.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.s`;
      return idToken;
    },
    /** Its answers wait until they are let go. */
    hold(answer: keyof typeof gates): () => void {
      let release = (): void => undefined;
      gates[answer] = new Promise((resolve) => {
        release = resolve;
      });
      return () => release();
    },
    async asked(answer: keyof typeof gates, times = 1): Promise<void> {
      while (waiting[answer] < times) await sleep(20);
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function passOn(url: string, body: string): Promise<{ status: number; body: string }> {
  const answer = await fetch(url, { method: 'POST', body: new URLSearchParams(body) });
  return { status: answer.status, body: await answer.text() };
}

describe('plinth login at an issuer that takes its time', function () {
  this.timeout(30_000);
  let issuer: Awaited<ReturnType<typeof createIssuer>>;
  let sandbox: Sandbox;
  beforeEach(async () => {
    issuer = await createIssuer();
    sandbox = createSandbox('http://127.0.0.1:29');
    const own = { PLINTH_TOKEN: '', PLINTH_ISSUER: issuer.url, PLINTH_OAUTH_CLIENT_ID: 'client' };
    sandbox.env = { ...sandbox.env, ...own };
  });
  afterEach(() => {
    issuer.close();
    sandbox.remove();
  });
  const file = () => join(sandbox.configFolder, 'credentials.json');
  const keep = (changes: object = {}) => {
    mkdirSync(sandbox.configFolder, { recursive: true });
    const login = { schema: 1, issuer: issuer.url, clientId: 'client', email: 'alice@example.com' };
    writeFileSync(file(), JSON.stringify({ ...login, refreshToken: 'first', idToken: 'h.e30.s', ...changes }));
  };
  const soon = () => Math.floor(Date.now() / 1000) + 3600;

  for (const [name, meanwhile] of Object.entries({
    'a logout': () => rmSync(file()),
    'another login': () => keep({ email: 'bob@example.com', refreshToken: 'of-bob' }),
  })) {
    it(`leaves as it is what ${name} made of it while a token was renewed`, async () => {
      keep();
      const idToken = issuer.give({ email: 'alice@example.com', exp: soon() });
      const release = issuer.hold('token');
      const started = sandbox.start(['token']);
      await issuer.asked('token');
      meanwhile();
      const stands = existsSync(file()) && readFileSync(file(), 'utf8');
      release();
      const { code, stdout, stderr } = await started.ended;
      expect([code, stdout], stderr).to.deep.equal([0, `${idToken}\n`]);
      expect(existsSync(file()) && readFileSync(file(), 'utf8')).to.equal(stands);
    });
  }

  it('keeps a renewed token of a login that stands', async () => {
    keep();
    const idToken = issuer.give({ email: 'alice@example.com', exp: soon() });
    expect((await sandbox.run(['token'])).stdout).to.equal(`${idToken}\n`);
    expect(JSON.parse(readFileSync(file(), 'utf8'))).to.include({ idToken, refreshToken: 'rotated' });
  });

  it('ends when it is done, whatever connections a browser holds open', async () => {
    const started = sandbox.spawn(['login']);
    await started.saw(/state=\S+\n/);
    const address = new URL(/http\S+code_challenge\S+/.exec(started.text())?.[0] ?? '');
    const query = address.searchParams;
    issuer.give({ email: 'alice@example.com', aud: 'client', nonce: query.get('nonce'), exp: soon() });
    const back = new URL(query.get('redirect_uri') ?? '');
    const idle = connect(Number(back.port), back.hostname);
    idle.on('error', () => undefined);
    await once(idle, 'connect');
    back.search = `?${new URLSearchParams({ code: 'c', state: query.get('state') ?? '' })}`;
    expect(await (await fetch(back)).text()).to.include('plinth knows you now');
    const { code } = await started.ended;
    idle.destroy();
    expect(code).to.equal(0);
  });

  it('hears Ctrl-C while the issuer is asked where its doors are', async () => {
    const release = issuer.hold('discovery');
    const started = sandbox.start(['login']);
    await issuer.asked('discovery');
    started.interrupt();
    const { code } = await started.ended;
    release();
    expect(code).to.equal(130);
    expect(started.text()).to.not.include('code_challenge');
  });
});

describe('plinth login at an issuer that takes each refresh token once', function () {
  this.timeout(60_000);
  let cloud: SimulatedCloud;
  let issuer: Awaited<ReturnType<typeof createIssuer>>;
  let sandbox: Sandbox;
  beforeEach(async () => {
    sandbox = createSandbox('http://127.0.0.1:29');
    cloud = await createSimulatedCloud({ logins: { loginsFile: loginsFile(), takesTokensOnce: true } });
    issuer = await createIssuer(cloud.issuerUrl);
    const own = { PLINTH_TOKEN: '', PLINTH_ISSUER: cloud.issuerUrl, PLINTH_OAUTH_CLIENT_ID: local.oauthClient };
    sandbox.env = { ...sandbox.env, ...own };
    const started = sandbox.start(['login']);
    await started.saw(/state=\S+\n/);
    const address = new URL(/http\S+code_challenge\S+/.exec(started.text())?.[0] ?? '');
    address.searchParams.set('email', 'alice@example.com');
    await fetch(address);
    expect((await started.ended).code).to.equal(0);
    runOut();
  });
  afterEach(async () => {
    issuer.close();
    await cloud.close();
    sandbox.remove();
  });

  const loginsFile = () => sandbox.path('logins.json');
  const file = () => join(sandbox.configFolder, 'credentials.json');
  const lock = () => join(sandbox.configFolder, 'credentials.lock');
  const kept = () => JSON.parse(readFileSync(file(), 'utf8')) as Record<string, string>;
  /** The next command has to renew. */
  const runOut = () => writeFileSync(file(), JSON.stringify({ ...kept(), issuer: issuer.url, idToken: 'h.e30.s' }));

  it('renews once for all commands that run at the same time', async () => {
    const release = issuer.hold('token');
    const started = Array.from({ length: 3 }, () => sandbox.spawn(['token']));
    await issuer.asked('token');
    await Promise.race([issuer.asked('token', 2), sleep(2000)]);
    release();
    const ended = await Promise.all(started.map((each) => each.ended));
    for (const { code, stdout, stderr } of ended) expect([code, stdout], stderr).to.deep.equal([0, ended[0]?.stdout]);
    expect(`${kept()['idToken']}\n`).to.equal(ended[0]?.stdout);
    runOut();
    expect((await sandbox.run(['token'])).code).to.equal(0);
    expect(existsSync(lock())).to.equal(false);
  });

  it('ends what is being renewed with logout, for the issuer too', async () => {
    const release = issuer.hold('token');
    const renewing = sandbox.start(['token']);
    await issuer.asked('token');
    const leaving = sandbox.start(['logout']);
    await Promise.race([leaving.ended, sleep(500)]);
    release();
    const [renewed, left] = await Promise.all([renewing.ended, leaving.ended]);
    expect([renewed.code, left.code, left.stdout]).to.deep.equal([0, 0, 'alice@example.com is logged out.\n']);
    expect(existsSync(file())).to.equal(false);
    expect(JSON.parse(readFileSync(loginsFile(), 'utf8'))).to.deep.equal({});
  });

  it('goes on after a command that was killed while it renewed', async () => {
    issuer.hold('discovery');
    const killed = sandbox.spawn(['token']);
    await issuer.asked('discovery');
    expect(existsSync(lock())).to.equal(true);
    killed.child.kill('SIGKILL');
    await killed.ended;
    issuer.close();
    issuer = await createIssuer(cloud.issuerUrl);
    runOut();
    const began = Date.now();
    const ended = await Promise.all([1, 2, 3].map(() => sandbox.run(['token'])));
    for (const { code, stderr } of ended) expect(code, stderr).to.equal(0);
    expect(Date.now() - began).to.be.below(30_000);
    expect(existsSync(lock())).to.equal(false);
  });

  it('waits for nobody longer than a renewal takes', async () => {
    // Of a process that lives, which may be another one by now, or on another computer.
    for (const holder of [`${process.pid} ${hostname()} x`, '1 elsewhere x', '']) {
      writeFileSync(lock(), holder);
      const makeOld = (seconds: number) => {
        const then = Date.now() / 1000 - seconds;
        utimesSync(lock(), then, then);
      };
      makeOld(43);
      const started = sandbox.start(['token']);
      expect(await Promise.race([started.ended, sleep(500)])).to.equal(undefined);
      makeOld(46);
      const { code, stderr } = await started.ended;
      expect(code, stderr).to.equal(0);
      expect(existsSync(lock())).to.equal(false);
      runOut();
    }
  });

  it('hears Ctrl-C while it waits for another', async () => {
    writeFileSync(lock(), `${process.pid} ${hostname()} x`);
    const started = sandbox.start(['token']);
    expect(await Promise.race([started.ended, sleep(500)])).to.equal(undefined);
    started.interrupt();
    expect((await started.ended).code).to.equal(130);
    expect(existsSync(lock())).to.equal(true);
  });

  it('spends no refresh token where what comes of it could not be kept', async () => {
    // So long a name that nothing fits beside it; root may write everywhere.
    const stored = join(sandbox.configFolder, 'c'.repeat(250));
    renameSync(file(), stored);
    symlinkSync(stored, file());
    const { code, stdout, stderr } = await sandbox.run(['token']);
    expect([code, stdout]).to.deep.equal([3, '']);
    expect(stderr).to.include('The login is to be renewed').and.include('PLINTH_TOKEN');
    rmSync(file());
    renameSync(stored, file());
    expect((await sandbox.run(['token'])).code).to.equal(0);
  });

  it('renews also where no lock can be made', async () => {
    mkdirSync(lock());
    const longAgo = Date.now() / 1000 - 60;
    utimesSync(lock(), longAgo, longAgo);
    const { code, stderr } = await sandbox.run(['token']);
    expect(code, stderr).to.equal(0);
  });
});

describe('the local token issuer', () => {
  let cloud: SimulatedCloud;
  before(async () => {
    cloud = await createSimulatedCloud();
  });
  after(() => cloud.close());
  const verifier = 'v'.repeat(43);
  const redirect = 'http://127.0.0.1:1/callback';
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const authorize = (changes: Readonly<Record<string, string>> = {}, issuer = cloud.issuerUrl) =>
    fetch(
      `${issuer}/o/oauth2/v2/auth?${new URLSearchParams({
        response_type: 'code',
        client_id: local.oauthClient,
        redirect_uri: redirect,
        scope: 'openid email',
        code_challenge: challenge,
        code_challenge_method: 'S256',
        state: 's',
        email: 'alice@example.com',
        ...changes,
      })}`,
      { redirect: 'manual' },
    );
  const exchange = async (code: string, changes: Readonly<Record<string, string>> = {}, issuer = cloud.issuerUrl) => {
    const form = { grant_type: 'authorization_code', client_id: local.oauthClient, code, redirect_uri: redirect };
    const body = new URLSearchParams({ ...form, code_verifier: verifier, ...changes });
    return fetch(`${issuer}/token`, { method: 'POST', body });
  };

  it('knows who is logged in after a restart, and keeps no token for that', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'plinth-logins-'));
    const loginsFile = join(folder, 'logins.json');
    const during = async <T>(use: (issuer: string) => Promise<T>): Promise<T> => {
      const cloud = await createSimulatedCloud({ logins: { loginsFile } });
      try {
        return await use(cloud.issuerUrl);
      } finally {
        await cloud.close();
      }
    };
    const renew = (token: string) => (issuer: string) =>
      exchange('', { grant_type: 'refresh_token', refresh_token: token }, issuer);
    try {
      const token = await during(async (issuer) => {
        const back = new URL((await authorize({}, issuer)).headers.get('location') ?? '');
        const reply = await exchange(back.searchParams.get('code') ?? '', {}, issuer);
        return ((await reply.json()) as { refresh_token: string }).refresh_token;
      });
      expect(readFileSync(loginsFile, 'utf8')).to.include('alice@example.com').and.not.include(token);
      expect(statSync(loginsFile).mode & 0o777).to.equal(0o600);
      expect((await during(renew(token))).status).to.equal(200);
      expect((await during(renew(`${token}x`))).status).to.equal(400);
      await during((issuer) => fetch(`${issuer}/revoke`, { method: 'POST', body: new URLSearchParams({ token }) }));
      expect((await during(renew(token))).status).to.equal(400);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('ends the login of a refresh token that comes again, where it takes each once', async () => {
    const cloud = await createSimulatedCloud({ logins: { takesTokensOnce: true } });
    try {
      const back = new URL((await authorize({}, cloud.issuerUrl)).headers.get('location') ?? '');
      const first = await exchange(back.searchParams.get('code') ?? '', {}, cloud.issuerUrl);
      const tokenIn = async (reply: Response) => ((await reply.json()) as { refresh_token: string }).refresh_token;
      const renew = (token: string) =>
        exchange('', { grant_type: 'refresh_token', refresh_token: token }, cloud.issuerUrl);
      const used = await tokenIn(first);
      const next = await tokenIn(await renew(used));
      const newest = await tokenIn(await renew(next));
      expect((await renew(used)).status).to.equal(400);
      expect((await renew(newest)).status).to.equal(400);
    } finally {
      await cloud.close();
    }
  });

  for (const [name, changes] of Object.entries({
    'another client': { client_id: 'other' },
    'a redirect that is not loopback': { redirect_uri: 'http://example.com/callback' },
    'a name that only sounds like loopback': { redirect_uri: 'http://127.0.0.1.example.com:1/' },
    'no challenge': { code_challenge: '' },
    'a challenge in the clear': { code_challenge_method: 'plain' },
    'no state': { state: '' },
  })) {
    it(`refuses ${name}`, async () => {
      expect((await authorize(changes)).status).to.equal(400);
    });
  }

  it('gives nothing for a wrong verifier, and nothing for a code that was tried', async () => {
    const code = new URL((await authorize()).headers.get('location') ?? '').searchParams.get('code') ?? '';
    expect((await exchange(code, { code_verifier: 'w'.repeat(43) })).status).to.equal(400);
    expect((await exchange(code)).status).to.equal(400);
  });
});
