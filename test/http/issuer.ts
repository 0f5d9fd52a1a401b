/** A token issuer for the tests of the HTTP layer: one key, its JWKS on loopback, and tokens of any shape, good or bad. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, type JWTPayload, SignJWT } from 'jose';
import { subjectOf } from '../../local/identity/identity.js';

export interface TokenShape {
  /** Over the claims of a good token; undefined takes a claim away. */
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  /** Signs with a key that the issuer does not publish. */
  readonly strangersKey?: boolean;
}

export interface Issuer {
  readonly url: string;
  readonly jwksUrl: string;
  readonly audience: string;
  readonly publicKey: KeyObject;
  /** How often the keys were asked for. */
  readonly asked: () => number;
  token(email: string, shape?: TokenShape): Promise<string>;
  close(): void;
}

/** Made once: a key costs more than most of the tests that need one. An issuer is told from another by its URL. */
const rsa = () => generateKeyPairSync('rsa', { modulusLength: 2048 });
let keys: { readonly own: ReturnType<typeof rsa>; readonly strangers: ReturnType<typeof rsa> } | undefined;

export async function createIssuer(): Promise<Issuer> {
  keys ??= { own: rsa(), strangers: rsa() };
  const { own, strangers } = keys;
  const jwk = { ...(await exportJWK(own.publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' };
  let asked = 0;
  const server = createServer((_, response) => {
    asked += 1;
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: [jwk] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const audience = 'https://plinth.example.com';
  return {
    url,
    jwksUrl: `${url}/keys`,
    audience,
    publicKey: own.publicKey,
    asked: () => asked,
    token(email, { claims = {}, header = {}, strangersKey = false } = {}) {
      const now = Math.floor(Date.now() / 1000);
      const good = {
        iss: url,
        aud: audience,
        sub: subjectOf(email),
        email,
        email_verified: true,
        iat: now,
        exp: now + 3600,
      };
      const payload = Object.entries({ ...good, ...claims }).filter(([, value]) => value !== undefined);
      return new SignJWT(Object.fromEntries(payload) as JWTPayload)
        .setProtectedHeader({ alg: 'RS256', kid: 'k1', ...header })
        .sign((strangersKey ? strangers : own).privateKey);
    },
    close: () => server.close(),
  };
}
