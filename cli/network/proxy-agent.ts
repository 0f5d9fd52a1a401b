/** Connections through a proxy, kept from one request to the next. Loaded only where a proxy is set. */
import type { Agent, ClientRequest } from 'node:http';
import { isIP } from 'node:net';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { type ProxyAnswer, proxyFailure, proxyRefusal, proxySilence } from './proxy-problem.js';
import type { ProxyWay } from './way.js';

const connectSeconds = 30;
/** As long as `fetch` keeps a connection that nobody uses: proxies drop those without a word. */
const idleMs = 4000;

type Options = Parameters<HttpsProxyAgent<string>['connect']>[1];

/** `Basic …`, if the proxy's address has credentials. */
export function proxyAuthorization({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  return `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}`;
}

function withoutCredentials(proxy: URL): URL {
  const plain = new URL(proxy);
  plain.username = '';
  plain.password = '';
  return plain;
}

class KeptProxyAgent extends HttpsProxyAgent<string> {
  readonly #way: ProxyWay;

  constructor(way: ProxyWay) {
    const authorization = proxyAuthorization(way.proxy);
    // With credentials in its address, the agent would write them to stderr where DEBUG is set.
    super(withoutCredentials(way.proxy), {
      keepAlive: true,
      ...(authorization !== undefined && { headers: { 'proxy-authorization': authorization } }),
    });
    // Its constructor drops this option.
    Object.assign(this, { options: { path: undefined, timeout: idleMs } });
    this.#way = way;
  }

  override async connect(request: ClientRequest, options: Options) {
    const target = `${options.host}:${options.port}`;
    const gone = new AbortController();
    const timer = setTimeout(() => gone.abort(), connectSeconds * 1000);
    // A request that has no socket yet emits nothing when it is destroyed, and the socket would outlive it.
    const { destroy } = request;
    request.destroy = (error) => {
      gone.abort();
      return destroy.call(request, error);
    };
    let answer: ProxyAnswer = {};
    request.once('proxyConnect', (connected: ProxyAnswer) => {
      answer = connected;
    });
    this.connectOpts = { ...this.connectOpts, signal: gone.signal };
    try {
      const socket = await super.connect(request, { ...options, ...identityOf(options.host ?? '') });
      if (answer.statusCode === 200) return socket;
      socket.destroy();
    } catch (error) {
      throw gone.signal.aborted ? proxySilence(this.#way, connectSeconds) : proxyFailure(this.#way, error);
    } finally {
      clearTimeout(timer);
      request.destroy = destroy;
    }
    throw proxyRefusal(this.#way, target, answer);
  }
}

/** For an address, the agent forgets which host the certificate must be of. */
const identityOf = (host: string) =>
  isIP(host) === 0
    ? {}
    : { checkServerIdentity: (_: string, certificate: PeerCertificate) => checkServerIdentity(host, certificate) };

const agents = new Map<string, Agent>();

export function agentOf(way: ProxyWay): Agent {
  const key = `${way.variable} ${way.proxy.href}`;
  const agent = agents.get(key) ?? new KeptProxyAgent(way);
  agents.set(key, agent);
  return agent;
}
