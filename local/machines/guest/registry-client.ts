/**
 * Sends requests to a registry as skopeo does: over TLS, or plain HTTP where allowed, with user and password or a token.
 * Complaints use skopeo's words.
 */
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import { text } from 'node:stream/consumers';
import { during, Failure } from './failure.js';
import type { Login } from './logins.js';
import { type Sending, send, type Trust } from './way-out.js';

export interface RegistryOptions {
  readonly host: string;
  readonly image: string;
  readonly actions: 'pull' | 'pull,push';
  readonly login: Login | undefined;
  readonly trust: Trust;
}

export interface RegistryClient {
  /** `path` is beneath `/v2/<image>/`, or the location that the registry gave for the next request. */
  ask(method: string, path: string, how?: Pick<Sending, 'headers' | 'body'>): Promise<IncomingMessage>;
}

interface Challenge {
  readonly scheme: string;
  readonly given: Readonly<Record<string, string>>;
}

const challengesOf = ({ headersDistinct }: IncomingMessage): Challenge[] =>
  (headersDistinct['www-authenticate'] ?? []).map((header) => ({
    scheme: header.split(' ', 1)[0]?.toLowerCase() ?? '',
    given: Object.fromEntries([...header.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key, value])),
  }));

const basic = ({ user, password }: Login): string => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
const nobody: Login = { user: '', password: '' };

const statusLine = ({ statusCode = 0 }: IncomingMessage): string => `${statusCode} (${STATUS_CODES[statusCode]})`;

export function reachRegistry({ host, image, actions, login, trust }: RegistryOptions): RegistryClient {
  let found: Promise<{ readonly base: URL; readonly authorization: string | undefined }> | undefined;

  async function ping(scheme: string): Promise<IncomingMessage> {
    const response = await send({ method: 'GET', url: new URL(`${scheme}://${host}/v2/`) }, trust);
    response.resume();
    if ([200, 401].includes(response.statusCode ?? 0)) return response;
    throw new Failure(`invalid status code from registry ${statusLine(response)}`);
  }

  async function tokenFor({ realm, service }: Challenge['given']): Promise<string> {
    if (realm === undefined) throw new Failure('missing realm in bearer auth challenge');
    const url = new URL(realm);
    if (login !== undefined) url.searchParams.set('account', login.user);
    if (service !== undefined) url.searchParams.set('service', service);
    url.searchParams.append('scope', `repository:${image}:${actions}`);
    const headers = login === undefined ? {} : { authorization: basic(login) };
    const response = await send({ method: 'GET', url, headers }, trust);
    if (response.statusCode === 401) {
      const { message } = await complaintOf(response);
      throw new Failure(`unable to retrieve auth token: invalid username/password: ${message}`);
    }
    const said = await text(response);
    if (response.statusCode !== 200) {
      throw new Failure(`Requesting bearer token: invalid status code from registry ${statusLine(response)}`);
    }
    const { token, access_token } = JSON.parse(said) as { token?: string; access_token?: string };
    return token ?? access_token ?? '';
  }

  async function find() {
    let scheme = 'https';
    const pinging = ping(scheme).catch((error: Error) => {
      if (trust.verifies !== false) throw error;
      scheme = 'http';
      return ping(scheme);
    });
    const pinged = await during(`pinging container registry ${host}`, pinging);
    const base = new URL(`${scheme}://${host}/v2/${image}/`);
    for (const { scheme, given } of challengesOf(pinged)) {
      if (scheme === 'basic') return { base, authorization: basic(login ?? nobody) };
      if (scheme === 'bearer') return { base, authorization: `Bearer ${await tokenFor(given)}` };
    }
    return { base, authorization: undefined };
  }

  return {
    async ask(method, path, how = {}) {
      found ??= find();
      const { base, authorization } = await found;
      const headers = { ...how.headers, ...(authorization === undefined ? {} : { authorization }) };
      return send({ ...how, method, headers, url: new URL(path, base) }, trust);
    },
  };
}

/** A missing thing or permission does not change by itself, so a retry is useless. */
const lasting = ['UNAUTHORIZED', 'DENIED', 'NAME_UNKNOWN', 'MANIFEST_UNKNOWN'];

/** Turns a registry's refusal into a failure. */
export async function complaintOf(response: IncomingMessage): Promise<Failure> {
  const { statusCode = 0, statusMessage } = response;
  const said = await text(response);
  if (statusCode < 400 || statusCode >= 500) {
    return new Failure(`received unexpected HTTP status: ${statusCode} ${statusMessage}`);
  }
  try {
    const { errors } = JSON.parse(said) as { errors: readonly { code: string; message: string }[] };
    const lines = errors.map(({ code, message }) => `${code.toLowerCase().replaceAll('_', ' ')}: ${message}`);
    if (lines.length > 0) return new Failure(lines.join('\n'), !errors.some(({ code }) => lasting.includes(code)));
  } catch {
    // The body is empty after a HEAD, and not the registry's if a proxy or another server answered.
  }
  if (statusCode === 401) return new Failure('unauthorized: authentication required');
  return new Failure(`StatusCode: ${statusCode}, ${said.length > 50 ? `${said.slice(0, 50)}...` : said}`);
}
