/** Decides whether a request goes through a proxy: by HTTPS_PROXY, HTTP_PROXY and NO_PROXY of the environment. */
import { BlockList, isIP } from 'node:net';
import { Problem } from '../../shared/problems.js';
import type { Io } from '../frame/io.js';

type Env = Io['env'];

export interface ProxyWay {
  readonly proxy: URL;
  /** The variable that names it, as it is spelled. */
  readonly variable: string;
}

export interface DirectWay {
  readonly proxy: undefined;
  /** Why no proxy is used. */
  readonly because: 'loopback' | 'no proxy' | { readonly variable: string };
}

/** Upper case goes first, as in Google's clients. An empty variable is not set. */
function read(env: Env, name: string): { readonly name: string; readonly value: string } | undefined {
  const found = [name, name.toLowerCase()].find((each) => (env[each] ?? '').trim() !== '');
  return found === undefined ? undefined : { name: found, value: (env[found] ?? '').trim() };
}

const bare = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

const versionOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

function isLoopbackHost(host: string): boolean {
  return isIP(host) === 0 ? /^(?:.+\.)?localhost\.?$/.test(host) : loopback.check(host, versionOf(host));
}

/** One entry of NO_PROXY: `*`, an address, a range of addresses, or a name that covers all beneath it; each with or without a port. */
function covers(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true;
  const [, base = '', length = ''] = /^(.+)\/(\d{1,3})$/.exec(entry) ?? [];
  if (isIP(base) !== 0) {
    const range = new BlockList();
    if (Number(length) > (isIP(base) === 6 ? 128 : 32)) return false;
    range.addSubnet(base, Number(length), versionOf(base));
    return isIP(host) !== 0 && range.check(host, versionOf(host));
  }
  const [, name = '', only] = isIP(entry) === 6 ? ['', entry] : (/^(.*?)(?::(\d+))?$/.exec(entry) ?? []);
  if (only !== undefined && only !== port) return false;
  const plain = bare(name)
    .toLowerCase()
    .replace(/^\*?\./, '')
    .replace(/\.$/, '');
  return plain !== '' && (host === plain || (isIP(host) === 0 && host.endsWith(`.${plain}`)));
}

const portOf = ({ port, protocol }: URL): string => port || (/^(?:https|wss):$/.test(protocol) ? '443' : '80');

/** Throws `bad-input` if the variable names no proxy that plinth speaks to. */
export function wayTo(url: URL, env: Env): ProxyWay | DirectWay {
  const set = read(env, /^(?:https|wss):$/.test(url.protocol) ? 'HTTPS_PROXY' : 'HTTP_PROXY');
  const host = bare(url.hostname).replace(/\.$/, '');
  if (isLoopbackHost(host)) return { proxy: undefined, because: 'loopback' };
  if (set === undefined) return { proxy: undefined, because: 'no proxy' };
  const without = read(env, 'NO_PROXY');
  const entries = without?.value.split(/[\s,]+/) ?? [];
  if (without !== undefined && entries.some((entry) => covers(entry, host, portOf(url)))) {
    return { proxy: undefined, because: { variable: without.name } };
  }
  return { proxy: readProxy(set.name, set.value), variable: set.name };
}

/** `host:port` is meant as `http://host:port`. The value may hold a password, so no message quotes it. */
function readProxy(variable: string, value: string): URL {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  const proxy = URL.canParse(text) ? new URL(text) : undefined;
  if (proxy !== undefined && /^https?:$/.test(proxy.protocol) && proxy.hostname !== '' && isDecodable(proxy))
    return proxy;
  const message = 'must be http://<host>:<port> or https://<host>:<port>';
  throw new Problem('bad-input', `${variable} ${message}.`, {
    errors: [{ path: variable, message }],
    advice: `Correct ${variable}, or unset it. A user and a password go before the host, percent-encoded: http://<user>:<password>@<host>:<port>.`,
  });
}

function isDecodable({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}

/** Without the credentials. */
export const shownProxy = ({ proxy }: ProxyWay): string => proxy.origin;
