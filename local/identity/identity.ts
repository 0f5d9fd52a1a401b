/**
 * The local stand-in for Google's token issuer. It issues ID tokens for plinth's own APIs and access tokens for the simulated
 * cloud. Both survive a restart, because key and secret are in the snapshot.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import {
  calculateJwkThumbprint,
  createRemoteJWKSet,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  jwtVerify,
  SignJWT,
} from 'jose';
import { asciiLowerCased } from '../../shared/organization/email.js';
import { sha256 } from '../../shared/sha256.js';
import type { Caller } from '../cloud/kernel/api.js';

/** The secrets that let tokens survive a restart. */
export interface IdentityKeys {
  privateJwk?: JWK;
  secret?: string;
  /** Of the tokens. It may change with a restart. */
  issuer?: string;
}

interface IdTokenShape {
  readonly email: string;
  readonly audience: string;
  /** Workspace domain. Undefined leaves the claim out. */
  readonly hd?: string | undefined;
  /** Default: an hour. */
  readonly lifeSeconds?: number;
  /** A value that the requesting program wants back in the token. */
  readonly nonce?: string | undefined;
}

export interface Identity {
  readonly issuer: string;
  readonly jwksUrl: string;
  readonly jwks: { readonly keys: readonly JWK[] };
  idToken(shape: IdTokenShape): Promise<string>;
  /** Opaque to clients. */
  accessToken(email: string, lifeSeconds?: number): string;
  /** Undefined if the token is not ours or has expired. */
  callerOf(accessToken: string): Caller | undefined;
}

export const jwksPath = '/.well-known/jwks.json';

/** One key per process: making one takes a good part of a second, and tests make many clouds. */
let ownKey: Promise<JWK> | undefined;

async function freshKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return exportJWK(privateKey);
}

/** Fills in missing `keys`. Keep them for the next start. */
export async function createIdentity({
  issuer,
  keys = {},
  now = Date.now,
}: {
  issuer: string;
  keys?: IdentityKeys;
  now?: () => number;
}): Promise<Identity> {
  ownKey ??= keys.privateJwk === undefined ? freshKey() : Promise.resolve(keys.privateJwk);
  keys.privateJwk ??= await ownKey;
  const { kty, n, e } = keys.privateJwk;
  keys.secret ??= sha256(keys.privateJwk.d ?? '');
  keys.issuer = issuer;
  const secret = keys.secret;
  const publicJwk: JWK = {
    ...(kty === undefined ? {} : { kty }),
    ...(n === undefined ? {} : { n }),
    ...(e === undefined ? {} : { e }),
  };
  const kid = await calculateJwkThumbprint(publicJwk);
  const sign = await signerOf(keys, kid);

  return {
    issuer,
    jwksUrl: `${issuer}${jwksPath}`,
    jwks: { keys: [{ ...publicJwk, kid, alg: 'RS256', use: 'sig' }] },
    idToken: (shape) => sign(shape, now()),
    accessToken(email, lifeSeconds = 3600) {
      return accessTokenOf(secret, email, Math.floor(now() / 1000) + lifeSeconds);
    },
    callerOf(accessToken) {
      const [, text = '', mark = ''] = /^ya29\.([\w-]+)\.([\w-]+)$/.exec(accessToken) ?? [];
      const wanted = Buffer.from(seal(secret, text));
      const given = Buffer.from(mark);
      if (wanted.length !== given.length || !timingSafeEqual(wanted, given)) return undefined;
      const [email, expires] = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as [string, number];
      return expires * 1000 > now() ? { email, kind: kindOf(email) } : undefined;
    },
  };
}

async function signerOf({ privateJwk = {}, issuer = '' }: IdentityKeys, kid: string) {
  const signingKey = await importJWK(privateJwk, 'RS256');
  return ({ email, audience, hd, lifeSeconds = 3600, nonce }: IdTokenShape, nowMs: number) => {
    const issuedAt = Math.floor(nowMs / 1000);
    const sub = subjectOf(email);
    return new SignJWT({
      azp: sub,
      email,
      email_verified: true,
      ...(hd === undefined ? {} : { hd }),
      ...(nonce === undefined ? {} : { nonce }),
    })
      .setProtectedHeader({ alg: 'RS256', kid, typ: 'JWT' })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject(sub)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + lifeSeconds)
      .sign(signingKey);
  };
}

/** For who has the keys alone, such as the APIs. */
export async function idTokenBy(keys: IdentityKeys, shape: IdTokenShape, nowMs: number): Promise<string> {
  const { kty = 'RSA', n = '', e = '' } = keys.privateJwk ?? {};
  return (await signerOf(keys, await calculateJwkThumbprint({ kty, n, e })))(shape, nowMs);
}

/** Reads ID tokens of this issuer, as Google's front ends do. Undefined: it is none, or it is over. */
export function createIdTokenReader(
  issuer: string,
): (token: string) => Promise<{ readonly email: string; readonly audience: string } | undefined> {
  const keys = createRemoteJWKSet(new URL(`${issuer}${jwksPath}`));
  return async (token) => {
    try {
      const { payload } = await jwtVerify(token, keys, { issuer });
      return { email: String(payload['email'] ?? ''), audience: String(payload.aud ?? '') };
    } catch {
      return undefined;
    }
  };
}

const seal = (secret: string, text: string): string => createHmac('sha256', secret).update(text).digest('base64url');

/** `expires` is in seconds since the epoch. */
export function accessTokenOf(secret: string, email: string, expires: number): string {
  const text = Buffer.from(
    JSON.stringify([email.startsWith('principal:') ? email : email.toLowerCase(), expires]),
  ).toString('base64url');
  return `ya29.${text}.${seal(secret, text)}`;
}

const kindOf = (email: string): Caller['kind'] => (email.endsWith('.gserviceaccount.com') ? 'serviceAccount' : 'user');

/** 21 digits like Google's subjects, always the same for the same address. */
export const subjectOf = (email: string): string =>
  `1${BigInt(`0x${sha256(asciiLowerCased(email)).slice(0, 16)}`)
    .toString()
    .padStart(20, '0')}`;
