/**
 * Sends HTTP as Go programs do. It goes through HTTPS_PROXY or HTTP_PROXY, but directly to loopback itself. It trusts the
 * system's authorities, which Node does not read.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { type ClientRequest, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { pipeline, type Readable } from 'node:stream';
import { checkServerIdentity, createSecureContext, type PeerCertificate, type SecureContext } from 'node:tls';
import { Failure } from './failure.js';

export interface Trust {
  readonly secureContext: SecureContext;
  /** Undefined if no flag said so. */
  readonly verifies: boolean | undefined;
}

const userAgent = 'skopeo/1.9.3';
const systemBundle = '/etc/ssl/certs/ca-certificates.crt';

function ifThere<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Also trusts the `*.crt` in `folder`. */
export function trustOf(folder: string | undefined, verifies: boolean | undefined): Trust {
  const bundle = ifThere(() => readFileSync(process.env['SSL_CERT_FILE'] || systemBundle, 'utf8'));
  const names = folder === undefined ? [] : (ifThere(() => readdirSync(folder)) ?? []);
  const own = names
    .filter((name) => name.endsWith('.crt'))
    .map((name) => readFileSync(join(folder ?? '', name), 'utf8'));
  return { secureContext: createSecureContext({ ca: [...(bundle ? [bundle] : []), ...own] }), verifies };
}

function proxyFor({ protocol, hostname }: URL): URL | undefined {
  // Names beneath `localhost` use the proxy.
  if (hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)) return undefined;
  const name = protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const named = process.env[name] || process.env[name.toLowerCase()];
  return named ? new URL(named) : undefined;
}

export interface Sending {
  readonly method: string;
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | Readable | undefined;
}

/** Go's words for the error. */
const reasons: Readonly<Record<string, string>> = {
  ECONNRESET: 'read: connection reset by peer',
  ENOTFOUND: 'no such host',
  EPROTO: 'http: server gave HTTP response to HTTPS client',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'x509: certificate signed by unknown authority',
  SELF_SIGNED_CERT_IN_CHAIN: 'x509: certificate signed by unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'x509: certificate signed by unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'x509: certificate signed by unknown authority',
};
const passing = ['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EPIPE'];
const silenceSeconds = 60;

function failureOf(error: NodeJS.ErrnoException, { method, url }: Sending): Failure {
  const { code = '', message, address, port } = error as NodeJS.ErrnoException & { address?: string; port?: number };
  const reason =
    code === 'ECONNREFUSED' ? `dial tcp ${address}:${port}: connect: connection refused` : (reasons[code] ?? message);
  const verb = method.charAt(0) + method.slice(1).toLowerCase();
  return new Failure(`${verb} "${url.href}": ${reason}`, passing.includes(code));
}

async function begin({ method, url, headers: given }: Sending, trust: Trust): Promise<ClientRequest> {
  const headers = { 'user-agent': userAgent, ...given };
  const proxy = proxyFor(url);
  if (url.protocol === 'https:') {
    const agent = proxy && new (await import('https-proxy-agent')).HttpsProxyAgent(proxy);
    const { secureContext, verifies = true } = trust;
    // The agent forgets the host to verify if that is an address.
    const identity = {
      checkServerIdentity: (_: string, certificate: PeerCertificate) => checkServerIdentity(url.hostname, certificate),
    };
    const tls = { secureContext, rejectUnauthorized: verifies, ...identity, ...(agent === undefined ? {} : { agent }) };
    return httpsRequest(url, { method, headers, ...tls });
  }
  const way: RequestOptions =
    proxy === undefined
      ? { host: url.hostname, port: url.port, path: url.pathname + url.search }
      : { host: proxy.hostname, port: proxy.port, path: url.href };
  return httpRequest({ method, headers: { host: url.host, ...headers }, ...way });
}

export async function send(sending: Sending, trust: Trust): Promise<IncomingMessage> {
  const { body } = sending;
  const request = await begin(sending, trust);
  return new Promise((resolve, reject) => {
    request.once('response', resolve);
    request.setTimeout(silenceSeconds * 1000, () =>
      request.destroy(Object.assign(new Error('i/o timeout'), { code: 'ETIMEDOUT' })),
    );
    const fail = (error: NodeJS.ErrnoException): void => reject(failureOf(error, sending));
    // After the answer too: the reader of the body notices that half of it is missing.
    request.on('error', fail);
    if (body === undefined || Buffer.isBuffer(body)) request.end(body);
    else pipeline(body, request, (error) => error && fail(error));
  });
}
