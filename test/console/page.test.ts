/** The console's page as browsers get it: its size, its headers, who may call the other function, and what is said where there is none. */
import { expect } from 'chai';
import { createStack, type Stack } from '../../local/stack/stack.js';
import { useOrganizations } from '../http/organizations-world.js';

/** Compressed, with all that it loads. */
const mostBytes = 60_000;
const bootstrapsUrl = 'http://127.0.0.1:1';

describe('the page of the console', () => {
  let stack: Stack;
  before(async () => {
    stack = await createStack({ settings: { PLINTH_BOOTSTRAPS_URL: bootstrapsUrl } });
  });
  after(() => stack?.close());
  const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    fetch(stack.url + path, { headers: { 'accept-encoding': 'gzip', ...headers } });

  it('is small, and loads files that browsers keep', async () => {
    const page = await get('/');
    const html = await page.text();
    const files = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file = '']) => file);
    expect(files).to.have.length(3);
    let bytes = html.length;
    for (const file of files) {
      expect(file).to.match(/^\/console\/files\/[a-z]+-[\dA-Za-z]{8}\.(?:js|css|svg)$/);
      const reply = await get(file);
      expect(reply.headers.get('cache-control')).to.equal('public, max-age=31536000, immutable');
      expect(reply.headers.get('content-encoding')).to.equal('gzip');
      bytes += Number(reply.headers.get('content-length'));
      expect(await (await get(file, { 'accept-encoding': 'identity' })).text()).to.equal(await reply.text());
    }
    expect(bytes).to.be.at.most(mostBytes);
    expect(page.headers.get('cache-control')).to.equal('no-cache');
  });

  it('may load its own files alone, call the two functions alone, and stand in no frame', async () => {
    const policy = (await get('/')).headers.get('content-security-policy') ?? '';
    const parts = Object.fromEntries(policy.split('; ').map((part) => [part.split(' ', 1)[0], part]));
    const own = `${stack.url}/console/files/`;
    expect(parts).to.include({
      'default-src': "default-src 'none'",
      'script-src': `script-src ${own}`,
      'style-src': `style-src ${own}`,
      'connect-src': `connect-src ${stack.url} ${bootstrapsUrl}`,
      'frame-ancestors': "frame-ancestors 'none'",
      'require-trusted-types-for': "require-trusted-types-for 'script'",
    });
    expect(policy).not.to.contain('unsafe');
  });

  for (const file of ['nothing.js', '..%2Findex.html', '%2e%2e/index.html', 'THIRD_PARTY_NOTICES']) {
    it(`has no file ${file}`, async () => {
      expect((await get(`/console/files/${file}`)).status).to.equal(404);
    });
  }

  describe('calls bootstraps', () => {
    const ask = (method: string, origin: string, path = '/caller') =>
      fetch(stack.url + path, {
        method,
        headers: {
          origin,
          ...(method === 'OPTIONS' && {
            'access-control-request-method': 'POST',
            'access-control-request-headers': 'authorization,content-type',
          }),
        },
      });
    const allowed = (reply: Response) => reply.headers.get('access-control-allow-origin');

    it('from its own origin', async () => {
      const asked = await ask('OPTIONS', stack.url, '/bootstraps/b0123456789abcde/extend');
      expect(asked.status).to.equal(204);
      expect(allowed(asked)).to.equal(stack.url);
      expect(asked.headers.get('access-control-allow-headers')).to.contain('authorization');
      expect(asked.headers.get('access-control-allow-credentials')).to.equal(null);
      const refused = await ask('GET', stack.url);
      expect([refused.status, allowed(refused)]).to.deep.equal([401, stack.url]);
    });

    for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:1', 'http://127.0.0.1']) {
      it(`from no other origin, such as ${origin}`, async () => {
        for (const method of ['OPTIONS', 'GET']) expect(allowed(await ask(method, origin))).to.equal(null);
      });
    }
  });
});

describe('a deployment without a console', () => {
  const world = useOrganizations();

  it('says what is to be set for one', async () => {
    const page = await fetch(world.server.origin);
    expect(page.status).to.equal(200);
    expect(page.headers.get('content-security-policy')).to.contain("default-src 'none'").and.not.contain('unsafe');
    const html = await page.text();
    for (const word of ['PLINTH_CONSOLE_CLIENT_ID', 'console_client', 'plinth-console-client', '/docs']) {
      expect(html).to.contain(word);
    }
  });

  for (const [method, path] of [
    ['GET', '/console/sign-in'],
    ['GET', '/console/callback?code=1&state=2'],
    ['POST', '/console/session'],
    ['POST', '/console/sign-out'],
  ] as const) {
    it(`signs nobody in: ${method} ${path.split('?')[0]}`, async () => {
      expect((await fetch(world.server.origin + path, { method })).status).to.equal(404);
    });
  }
});
