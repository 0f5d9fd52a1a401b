/** Logs a person in through their browser, and keeps the credentials. */
import { randomBytes } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { authorizationUrl, claimsOf, type OAuthClient } from '../../shared/oauth.js';
import { Problem } from '../../shared/problems.js';
import { timeLimit } from '../../shared/time-limit.js';
import { openInBrowser } from '../frame/browser.js';
import type { Settings } from '../settings.js';
import { type Credentials, writeCredentials } from './credentials-file.js';
import { aloneWithLogin } from './login-lock.js';
import { discover, requestTokens } from './oauth.js';

interface LoginParts {
  readonly settings: Settings;
  readonly client: OAuthClient;
  /** Shows the address that the person must open. */
  readonly onAddress: (url: string) => void;
  /** Opens the browser, because a person is at the terminal. */
  readonly open: boolean;
  readonly interrupted: AbortSignal;
}

const patienceMs = 10 * 60_000;
const random = (bytes: number): string => randomBytes(bytes).toString('base64url');

export async function logIn({ settings, client, onAddress, open, interrupted }: LoginParts): Promise<Credentials> {
  const endpoints = await discover(client, settings, interrupted);
  const [state, nonce, verifier] = [random(32), random(32), random(48)];
  const callback = await listenForCode(state);
  try {
    const { redirectUri } = callback;
    const address = authorizationUrl(endpoints, client, { redirectUri, state, nonce, verifier });
    onAddress(address);
    if (open) openInBrowser(address, settings);
    const code = await callback.code(AbortSignal.any([interrupted, timeLimit(patienceMs)]));
    const grant = { code, redirectUri, verifier };
    const granted = await requestTokens(endpoints, client, grant, settings, interrupted);
    const { email, nonce: answered, audience } = claimsOf(granted.idToken);
    if (answered !== nonce || audience !== client.clientId || email === undefined) {
      throw refused('The token that came back is not the one that was asked for.');
    }
    if (granted.refreshToken === undefined) throw refused('The identity provider gave no refresh token.');
    const { issuer, clientId } = client;
    const { idToken, refreshToken } = granted;
    const credentials: Credentials = { schema: 1, issuer, clientId, email, refreshToken, idToken };
    await aloneWithLogin(settings, () => writeCredentials(settings, credentials), interrupted);
    return credentials;
  } finally {
    callback.close();
  }
}

/** Waits for one answer, and accepts only one with our state. Any page in the browser can call loopback. */
async function listenForCode(state: string) {
  let settle: { resolve: (code: string) => void; reject: (error: unknown) => void } | undefined;
  const answer = new Promise<string>((resolve, reject) => {
    settle = { resolve, reject };
  });
  answer.catch(() => undefined);
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    if (url.pathname !== '/callback' || request.method !== 'GET') return page(response, 404, 'There is nothing here.');
    if (url.searchParams.get('state') !== state) {
      return page(response, 400, 'This is not the answer that plinth waits for. Begin again: plinth login.');
    }
    const code = url.searchParams.get('code');
    if (code === null) {
      const why = (url.searchParams.get('error') ?? 'no code').replaceAll(/[^\w-]/g, ' ').slice(0, 80);
      response.once('close', () => settle?.reject(refused(`The login was not agreed to: ${why}.`)));
      return page(response, 200, 'You are not logged in. You can close this window.');
    }
    // Wait until the page is sent, because the next step may close its connection.
    response.once('close', () => settle?.resolve(code));
    page(response, 200, 'plinth knows you now. You can close this window.');
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    redirectUri: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`,
    async code(signal: AbortSignal): Promise<string> {
      signal.throwIfAborted();
      const given = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () =>
          reject(signal.reason instanceof Error && signal.reason.name === 'TimeoutError' ? late() : signal.reason),
        );
      });
      return Promise.race([answer, given]);
    },
    close(): void {
      server.close();
      // Browsers hold connections open without sending a request. Node doesn't count those as idle.
      server.closeAllConnections();
    },
  };
}

function page(response: ServerResponse, status: number, text: string): void {
  response
    .writeHead(status, { 'content-type': 'text/html; charset=utf-8', connection: 'close', 'cache-control': 'no-store' })
    .end(`<!doctype html><title>plinth</title><p>${text}</p>\n`);
}

const refused = (detail: string) =>
  new Problem('unauthenticated', detail, {
    advice: 'Begin again: plinth login. If it comes back, tell your operator.',
  });
const late = () =>
  new Problem('unauthenticated', 'Nobody has logged in within ten minutes.', { advice: 'Begin again: plinth login.' });
