/**
 * Who calls. Verifies OIDC ID tokens of people and service accounts for the APIs, and of Cloud Scheduler for its functions.
 * IAM decides who may call the lanes: docs/operate/security.md. The one importer of jose in the product.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import { type IamMember, iamMember } from '../../shared/iam-member.js';
import { asciiLowerCased, Email } from '../../shared/organization/email.js';
import { Problem } from '../../shared/problems.js';
import type { Config } from '../config.js';
import type { Clock } from '../context.js';

export interface Caller {
  /** In lower case, verified by the issuer. */
  readonly email: string;
  /** Issuer and subject, separated by a blank. It names the account, whatever its e-mail. */
  readonly identity: string;
  /** The caller's name in IAM policies. */
  readonly member: IamMember;
  /** The Workspace domain, from the `hd` claim only. The ending of an e-mail proves nothing. */
  readonly domain?: string;
  /** May do everywhere what an owner or admin may. */
  readonly operator: boolean;
}

export type Authenticate = (headers: IncomingHttpHeaders) => Promise<Caller>;

/** Allowed difference between the issuer's clock and ours. */
const clockToleranceSeconds = 10;
const retryAfterSeconds = 5;

/** The one algorithm that Google signs ID tokens with. Others are refused before any key is looked up. */
const algorithms = ['RS256'];

/** Google uses both forms of its issuer name. */
const issuerNames = (issuer: string): string[] =>
  issuer === 'https://accounts.google.com' ? [issuer, 'accounts.google.com'] : [issuer];

const loopback = new Set(['localhost', '127.0.0.1', '[::1]']);

/** https, or http on loopback for a local issuer. */
function trustedUrl(setting: string, text: string): URL {
  const url = new URL(text);
  if (url.protocol === 'https:' || (url.protocol === 'http:' && loopback.has(url.hostname))) return url;
  throw new Error(`${setting} must be an https URL (plain http is for loopback only): ${text}`);
}

const refused = (detail: string, cause?: unknown): Problem =>
  new Problem('unauthenticated', detail, {
    advice: 'Send an ID token for this endpoint: Authorization: Bearer <token>.',
    cause,
  });

function bearer(headers: IncomingHttpHeaders): string {
  const { authorization } = headers;
  if (authorization === undefined) {
    throw refused(
      headers['x-serverless-authorization'] === undefined
        ? 'The request bears no token.'
        : 'The request bears a token for the front end alone; this API wants one in Authorization too.',
    );
  }
  const token = /^bearer +([\w-]+\.[\w-]+\.[\w-]+) *$/i.exec(authorization)?.[1];
  if (token === undefined) throw refused('The Authorization header holds no bearer token of the form a.b.c.');
  // The front end of a private function removes the signature of a token that it has checked itself.
  if (token.endsWith('.SIGNATURE_REMOVED_BY_GOOGLE')) {
    throw refused('The front end has taken the signature of the token; send it in X-Serverless-Authorization as well.');
  }
  return token;
}

/**
 * Uses the schema of all e-mails that are sent to us. Nothing is trimmed: an issuer that vouches for other letters vouches for
 * another address.
 */
function addressOf(email: string): string {
  const read = Email.safeParse(email);
  if (read.success && email === email.trim()) return read.data;
  throw new Problem(
    'forbidden',
    "The token's e-mail address is none by which anybody can be known here: it must be ASCII, at most 254 characters long, and such as a browser's e-mail field takes it.",
    { advice: 'Log in with an account that has such an address.' },
  );
}

/** Helps an honest caller and tells a dishonest one nothing. */
function whyRefused(error: errors.JOSEError): string | undefined {
  if (error instanceof errors.JWTExpired) return 'The token has expired.';
  if (error instanceof errors.JWTClaimValidationFailed) return `The token's claim "${error.claim}" does not fit here.`;
  if (error instanceof errors.JOSEAlgNotAllowed) return `The token is not signed with ${algorithms.join(' or ')}.`;
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWSSignatureVerificationFailed) {
    return "The token is not signed by this deployment's issuer.";
  }
  if (error instanceof errors.JWKSTimeout || error.code === 'ERR_JOSE_GENERIC') return undefined;
  return 'The token cannot be read.';
}

export interface Verifier {
  /** The caller of an API. Throws 401 for a missing or bad token. */
  readonly authenticate: Authenticate;
  /** Passes only calls from `email` with a token for one of `audiences`. Throws 401 and 403. */
  authenticateInvoker(
    headers: IncomingHttpHeaders,
    expected: { readonly email: string; readonly audiences: readonly string[] },
  ): Promise<void>;
}

/** Keys are fetched on first use and kept. An unknown key id makes it ask again, at most every 30 seconds. */
export function createVerifier({
  config,
  clock,
}: {
  config: Pick<Config, 'auth'>;
  clock: Pick<Clock, 'now'>;
}): Verifier {
  const { auth } = config;
  trustedUrl('The issuer', auth.issuer);
  const keys = createRemoteJWKSet(trustedUrl('The JWKS URL', auth.jwksUrl));
  const operators = new Set(auth.operators.map(asciiLowerCased));

  async function claimsOf(
    token: string,
    audiences: readonly string[],
  ): Promise<JWTPayload & { email: string; sub: string }> {
    const options: JWTVerifyOptions = {
      issuer: issuerNames(auth.issuer),
      // An empty list would accept any audience.
      audience: audiences.length === 0 ? [''] : [...audiences],
      algorithms,
      clockTolerance: clockToleranceSeconds,
      currentDate: clock.now(),
      requiredClaims: ['exp', 'iat'],
    };
    const { payload } = await jwtVerify(token, keys, options).catch((error: unknown) => {
      const why = error instanceof errors.JOSEError ? whyRefused(error) : undefined;
      if (why !== undefined) throw refused(why, error);
      throw new Problem('unavailable', "The issuer's keys cannot be read now, so nobody can be known.", {
        retryAfterSeconds,
        cause: error,
      });
    });
    const { email, sub } = payload;
    if (typeof email !== 'string' || email === '') throw refused('The token names no e-mail address.');
    if (payload['email_verified'] !== true) throw refused("The token's e-mail address is not verified.");
    if (typeof sub !== 'string' || sub === '') throw refused('The token names no subject.');
    return { ...payload, sub, email: addressOf(email) };
  }

  return {
    async authenticate(headers) {
      const { email, hd, sub } = await claimsOf(bearer(headers), auth.audiences);
      return {
        email,
        // The issuer's name from the setting, because Google uses two forms.
        identity: `${auth.issuer} ${sub}`,
        member: iamMember(email),
        ...(typeof hd === 'string' && hd !== '' ? { domain: asciiLowerCased(hd) } : {}),
        operator: operators.has(email),
      };
    },

    async authenticateInvoker(headers, expected) {
      const { email } = await claimsOf(bearer(headers), expected.audiences);
      if (email !== asciiLowerCased(expected.email))
        throw new Problem('forbidden', `${email} may not call this function.`);
    },
  };
}
