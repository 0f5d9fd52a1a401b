/** Signing in to the console, by HTTP as browsers speak it: what a session is, and what attackers get. */
import { expect } from 'chai';
import { createSeal } from '../../functions/console/seal.js';
import { realRandom } from '../../functions/host/random.js';
import { local } from '../../local/stack/deployment.js';
import { createStack, type Stack } from '../../local/stack/stack.js';
import type { ConsoleSession } from '../../shared/console/routes.js';
import { collections } from '../../shared/names.js';
import type { Organization } from '../../shared/organization/organization.js';
import type { ProblemBody } from '../../shared/problems.js';
import { type BrowserJar, makeBrowserJar } from './browser-jar.js';

const alice = 'alice@example.com';

describe('signing in to the console', () => {
  let stack: Stack;
  let url: string;

  before(async () => {
    stack = await createStack();
    url = stack.url;
  });
  after(() => stack?.close());

  /** Goes to the issuer, and gives the address that it leads back to. */
  async function comeBack(jar: BrowserJar, email = alice, to = '/'): Promise<string> {
    const sent = await jar.visit(`${url}/console/sign-in?to=${encodeURIComponent(to)}`);
    expect(sent.status).to.equal(302);
    const agreed = await fetch(`${sent.headers.get('location')}&email=${email}`, { redirect: 'manual' });
    return agreed.headers.get('location') ?? '';
  }
  async function signIn(email = alice): Promise<BrowserJar> {
    const jar = makeBrowserJar();
    expect((await jar.visit(await comeBack(jar, email))).status).to.equal(302);
    return jar;
  }
  const session = (jar: BrowserJar, origin = url) => jar.visit(`${url}/console/session`, { method: 'POST', origin });
  const detailOf = async (reply: Response) => ((await reply.json()) as ProblemBody).detail;
  const records = async () => {
    const store = stack.functionsHalf?.store;
    return (await store?.query({ collection: collections.consoleSessions })) ?? [];
  };

  it('gives a page a token for both functions, and leads back to where it began', async () => {
    const jar = makeBrowserJar();
    const back = await jar.visit(await comeBack(jar, alice, '/#/projects/b0123'));
    expect(back.headers.get('location')).to.equal('/#/projects/b0123');
    const reply = await session(jar);
    expect(reply.status).to.equal(200);
    const { email, idToken, bootstrapsUrl } = (await reply.json()) as ConsoleSession;
    expect(email).to.equal(alice);
    const headers = { authorization: `Bearer ${idToken}` };
    const [organizations, bootstraps] = await Promise.all([
      fetch(`${url}/organizations`, { headers }),
      fetch(`${bootstrapsUrl}/bootstraps`, { headers }),
    ]);
    expect([organizations.status, bootstraps.status]).to.deep.equal([200, 200]);
    expect((await organizations.json()) as Organization[]).to.deep.equal([]);
  });

  it('keeps the session in a cookie that no script and no other site gets', async () => {
    const jar = makeBrowserJar();
    const back = await jar.visit(await comeBack(jar));
    const kept = back.headers.getSetCookie().find((each) => each.startsWith('plinth-session='));
    expect(kept).to.match(/; Path=\/; Max-Age=43200; Secure; HttpOnly; SameSite=Strict$/);
    expect(jar.cookies).not.to.contain('plinth-sign-in');
  });

  it('stores no secret, only that a session goes on', async () => {
    const jar = await signIn('bob@example.com');
    const { idToken } = (await (await session(jar)).json()) as ConsoleSession;
    const [, value = ''] = jar.cookies.split('plinth-session=');
    const stored = JSON.stringify(await records());
    expect(stored).to.contain('bob@example.com');
    for (const secret of [idToken, value, local.consoleClientSecret, '1//']) expect(stored).not.to.contain(secret);
    expect(Buffer.from(value, 'base64url').toString('latin1')).not.to.contain(idToken.slice(0, 20));
  });

  for (const [title, to] of [
    ['another host', 'https://evil.example'],
    ['another host without a scheme', '//evil.example'],
    ['another host by a backslash', '/\\evil.example'],
    ['a script', 'javascript:alert(1)'],
    ['another path', '/problems/internal'],
    ['the reference of the APIs, which needs nobody', '/docs'],
    ['a header', '/\r\nset-cookie: a=b'],
  ] as const) {
    it(`never leads to ${title}`, async () => {
      const reply = await makeBrowserJar().visit(`${url}/console/sign-in?to=${encodeURIComponent(to)}`);
      expect(reply.status).to.equal(400);
      expect(reply.headers.get('location')).to.equal(null);
    });
  }

  it('signs nobody in whose browser did not begin it', async () => {
    const attackers = await comeBack(makeBrowserJar(), 'mallory@example.com');
    for (const jar of [makeBrowserJar(), await signIn()]) {
      const before = jar.cookies;
      const reply = await jar.visit(attackers);
      expect(reply.status).to.equal(400);
      expect(await reply.text()).to.contain('This browser did not begin this');
      expect(jar.cookies).to.equal(before);
    }
  });

  it('signs nobody in by the state of another attempt', async () => {
    const jar = makeBrowserJar();
    const first = await comeBack(jar);
    await comeBack(jar);
    const reply = await jar.visit(first);
    expect(reply.status).to.equal(400);
    expect(await reply.text()).to.contain('This browser did not begin this');
  });

  it('takes a code once', async () => {
    const jar = makeBrowserJar();
    const back = await comeBack(jar);
    const begun = jar.cookies;
    expect((await jar.visit(back)).status).to.equal(302);
    const again = makeBrowserJar();
    again.cookies = begun;
    const reply = await again.visit(back);
    expect(reply.status).to.equal(400);
    expect(await reply.text()).to.contain('invalid_grant');
  });

  it('gives every session an id of its own, whatever the browser brought', async () => {
    const planted = await signIn('mallory@example.com');
    const victim = makeBrowserJar();
    victim.cookies = planted.cookies;
    await victim.visit(await comeBack(victim));
    expect(victim.cookies).not.to.equal(planted.cookies);
    const { email } = (await (await session(planted)).json()) as ConsoleSession;
    expect(email).to.equal('mallory@example.com');
  });

  for (const [title, origin] of [
    ['another site', 'https://evil.example'],
    ['another port of this host', 'http://127.0.0.1:1'],
    ['no page at all', undefined],
    ['a page without an origin', 'null'],
  ] as const) {
    it(`lets nobody else ask: ${title}`, async () => {
      const jar = await signIn();
      for (const path of ['session', 'sign-out']) {
        const reply = await jar.visit(`${url}/console/${path}`, { method: 'POST', ...(origin && { origin }) });
        expect(reply.status).to.equal(403);
        expect(reply.headers.get('access-control-allow-origin')).to.equal(null);
      }
      expect((await session(jar)).status).to.equal(200);
    });
  }

  it('ends with signing out: a cookie that was stolen before is worth nothing', async () => {
    const jar = await signIn();
    const thief = makeBrowserJar();
    thief.cookies = jar.cookies;
    expect((await session(thief)).status).to.equal(200);
    expect((await jar.visit(`${url}/console/sign-out`, { method: 'POST', origin: url })).status).to.equal(204);
    expect(jar.cookies).to.equal('');
    const reply = await session(thief);
    expect(reply.status).to.equal(401);
    expect(await detailOf(reply)).to.equal('The session has ended. Sign in again.');
  });

  it('ends after twelve hours', async () => {
    const jar = await signIn('carol@example.com');
    const store = stack.functionsHalf?.store;
    const mine = (await records()).find(({ data }) => data['email'] === 'carol@example.com');
    const endsAt = new Date(Date.now() - 1000).toISOString();
    expect(Date.parse(String(mine?.data['endsAt'])) - Date.now()).to.be.within(11.9 * 3_600_000, 12 * 3_600_000);
    await store?.commit([
      { kind: 'update', collection: collections.consoleSessions, id: mine?.id ?? '', data: { endsAt } },
    ]);
    expect((await session(jar)).status).to.equal(401);
  });

  it('keeps a cookie whose token was renewed for no longer than the session has left', async () => {
    const jar = await signIn('dave@example.com');
    const mine = (await records()).find(({ data }) => data['email'] === 'dave@example.com');
    const endsAt = new Date(Date.now() + 3_600_000).toISOString();
    await stack.functionsHalf?.store.commit([
      { kind: 'update', collection: collections.consoleSessions, id: mine?.id ?? '', data: { endsAt } },
    ]);
    const seal = createSeal(realRandom, local.consoleClientSecret, 'session');
    const opened = seal.open(jar.cookies.replace('plinth-session=', '')) as object;
    const expired = `.${Buffer.from('{"exp":1}').toString('base64url')}.`;
    jar.cookies = `plinth-session=${seal.seal({ ...opened, idToken: expired })}`;
    const [set = ''] = (await session(jar)).headers.getSetCookie();
    expect(Number(/Max-Age=(\d+)/.exec(set)?.[1])).to.be.within(3500, 3600);
  });

  it('ends one session by a sign-out, and takes back nothing that the person agreed to at the issuer', async () => {
    const [here, elsewhere] = [await signIn('erin@example.com'), await signIn('erin@example.com')];
    const seal = createSeal(realRandom, local.consoleClientSecret, 'session');
    const { refreshToken } = seal.open(here.cookies.replace('plinth-session=', '')) as { refreshToken: string };
    const out = await here.visit(`${url}/console/sign-out`, { method: 'POST', origin: url });
    expect(out.status).to.equal(204);
    const renewed = await fetch(`${stack.record.issuerUrl}/token`, {
      method: 'POST',
      body: new URLSearchParams({
        client_id: local.consoleClient,
        client_secret: local.consoleClientSecret,
        grant_type: 'refresh_token',
        refresh_token: refreshToken,
      }),
    });
    expect([renewed.status, (await session(elsewhere)).status]).to.deep.equal([200, 200]);
  });

  for (const [error, said] of [
    ['access_denied', 'It was not agreed to.'],
    ['server_error', 'The issuer did not let you in. Try again.'],
  ] as const) {
    it(`says so when the issuer lets nobody in: ${error}`, async () => {
      const jar = makeBrowserJar();
      const back = new URL(await comeBack(jar));
      back.searchParams.delete('code');
      back.searchParams.set('error', error);
      const reply = await jar.visit(back.href);
      expect([reply.status, (await reply.text()).includes(said)]).to.deep.equal([400, true]);
    });
  }

  for (const [title, spoil] of [
    ['changed', (cookies: string) => cookies.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')).replace(/=./, '=_')],
    ['cut', (cookies: string) => cookies.slice(0, -20)],
    ['of another purpose', (cookies: string) => cookies.replace('plinth-sign-in', 'plinth-session')],
    ['empty', () => 'plinth-session='],
  ] as const) {
    it(`refuses a cookie that is ${title}`, async () => {
      const jar = title === 'of another purpose' ? makeBrowserJar() : await signIn();
      if (title === 'of another purpose') await comeBack(jar);
      jar.cookies = spoil(jar.cookies);
      expect((await session(jar)).status).to.equal(401);
    });
  }

  describe('the issuer', () => {
    const exchange = async (more: Readonly<Record<string, string>>) => {
      const reply = await fetch(`${stack.record.issuerUrl}/token`, {
        method: 'POST',
        body: new URLSearchParams({ client_id: local.consoleClient, grant_type: 'authorization_code', ...more }),
      });
      return [reply.status, ((await reply.json()) as { error: string }).error];
    };

    it('refuses a client of type Web without its secret, as Google does', async () => {
      expect(await exchange({ code: '4/x' })).to.deep.equal([400, 'invalid_request']);
      expect(await exchange({ code: '4/x', client_secret: 'other' })).to.deep.equal([401, 'invalid_client']);
      expect(await exchange({ code: '4/x', client_secret: local.consoleClientSecret })).to.deep.equal([
        400,
        'invalid_grant',
      ]);
    });

    it('leads such a client back to the console alone', async () => {
      const jar = makeBrowserJar();
      const { headers } = await jar.visit(`${url}/console/sign-in`);
      const asked = new URL(headers.get('location') ?? '');
      asked.searchParams.set('redirect_uri', `${url}/elsewhere`);
      const reply = await fetch(`${asked.href}&email=${alice}`, { redirect: 'manual' });
      expect([reply.status, ((await reply.json()) as { error: string }).error]).to.deep.equal([
        400,
        'redirect_uri_mismatch',
      ]);
    });
  });
});
