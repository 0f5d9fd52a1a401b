/** Doctor's check of the way out of a network: which proxy leads to which host, and by which variable. */
import type { CommandContext } from '../frame/command.js';
import { shownProxy, wayTo } from '../network/way.js';
import { defaultIssuer } from '../settings.js';
import { type Check, failedBy, ok } from './check.js';

const variable = /^(?:https?|no)_proxy$/i;

/** Nothing where no proxy is set. */
export function proxyChecks({ settings: { env } }: CommandContext, origins: readonly string[]): Check[] {
  if (!Object.keys(env).some((name) => variable.test(name) && env[name] !== '')) return [];
  const urls = origins.length > 0 ? origins : [defaultIssuer];
  try {
    return [ok('proxy', urls.map((origin) => wayText(new URL(origin), env)).join('; '))];
  } catch (error) {
    return [failedBy('proxy', error)];
  }
}

function wayText(url: URL, env: CommandContext['settings']['env']): string {
  const way = wayTo(url, env);
  if (way.proxy !== undefined) return `${url.host} through ${shownProxy(way)}, as ${way.variable} says`;
  if (way.because === 'loopback') return `${url.host} directly, as it is on this computer`;
  if (way.because === 'no proxy') return `${url.host} directly, as no variable names a proxy for it`;
  return `${url.host} directly, as ${way.because.variable} says`;
}
