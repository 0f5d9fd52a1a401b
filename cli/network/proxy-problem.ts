/** What a proxy did instead of leading on. Each problem names the variable that names the proxy, and shows no credentials. */
import { Problem } from '../../shared/problems.js';
import { type ProxyWay, shownProxy } from './way.js';

export interface ProxyAnswer {
  readonly statusCode?: number | undefined;
  readonly statusText?: string | undefined;
}

const lasting = new WeakSet<Problem>();

/** Waiting is pointless: the proxy refuses, or there is none. */
export const isProxyRefusal = (problem: Problem): boolean => lasting.has(problem);

const problemOf = (detail: string, advice: string, isLasting: boolean): Problem => {
  const problem = new Problem('unavailable', detail, { advice });
  if (isLasting) lasting.add(problem);
  return problem;
};

const named = (way: ProxyWay): string => `The proxy ${shownProxy(way)}, which ${way.variable} names,`;

/** The proxy answered, and did not connect. `target` is `host:port`. */
export function proxyRefusal(way: ProxyWay, target: string, { statusCode = 0, statusText = '' }: ProxyAnswer): Problem {
  const { variable } = way;
  if (!(statusCode >= 100 && statusCode < 600)) return noProxy(way);
  const host = target.replace(/:\d+$/, '');
  // The reason phrase is of others, and may hold anything.
  const phrase = /^[\w '-]{1,40}$/.test(statusText) ? ` ${statusText}` : '';
  const detail = `${named(way)} answers ${statusCode}${phrase} and does not connect to ${target}.`;
  if (statusCode === 407) {
    const advice = `Give it a user and password in ${variable}, percent-encoded: http://<user>:<password>@<host>:<port>. If it wants another kind of login, name ${host} in NO_PROXY, or use a proxy of this computer that logs in.`;
    return problemOf(detail, advice, true);
  }
  if (statusCode < 500) {
    return problemOf(
      detail,
      `Ask who runs the proxy to let ${target} through. If ${host} is reached without a proxy, name it in NO_PROXY.`,
      true,
    );
  }
  return problemOf(
    detail,
    `Check the address ${target}, and try again in a moment. If ${host} is reached without a proxy, name it in NO_PROXY.`,
    false,
  );
}

const noProxy = (way: ProxyWay): Problem =>
  problemOf(
    `${named(way)} does not speak HTTP.`,
    `Correct ${way.variable}: its port may be of another service, or the proxy wants https:// before its host.`,
    true,
  );

/** `ENOTFOUND` and the like are the proxy's own. */
export function proxyFailure(way: ProxyWay, error: unknown): Problem {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code?.startsWith('HPE_') === true || code === 'EPROTO' || /^(?:Invalid|No) header/.test(message)) {
    return noProxy(way);
  }
  const why = code ?? 'it closes the connection';
  const isUnknown = code === 'ENOTFOUND' || code === 'EAI_AGAIN' || /CERT|SELF_SIGNED|UNABLE_TO/.test(why);
  const trust = /CERT|SELF_SIGNED|UNABLE_TO/.test(why)
    ? 'Let NODE_EXTRA_CA_CERTS name the file of the authority that signed its certificate.'
    : `Correct ${way.variable}, or unset it where no proxy is needed.`;
  return problemOf(`${named(way)} cannot be reached: ${why}.`, trust, isUnknown);
}

export const proxySilence = (way: ProxyWay, seconds: number): Problem =>
  problemOf(
    `${named(way)} gives no answer within ${seconds} seconds.`,
    `Check that ${way.variable} names the proxy of the network that you are in, or unset it.`,
    false,
  );
