/** The one way of the command line to HTTP: through the proxy that the environment names, or directly. */
import type { Agent } from 'node:http';
import type { Io } from '../frame/io.js';
import { wayTo } from './way.js';

/** As `fetch` takes it. Requests bear tokens, so none follows a redirect. */
export type Sending = RequestInit & { readonly redirect: 'error' | 'manual' };

/** Throws a Problem if a proxy does not lead on, and otherwise what `fetch` throws. */
export async function send(env: Io['env'], url: string | URL, sending: Sending): Promise<Response> {
  const to = new URL(url);
  const way = wayTo(to, env);
  if (way.proxy === undefined) return fetch(to, sending);
  const { sendThrough } = await import('./send-through.js');
  return sendThrough(way, to, sending);
}

/** For clients that bring their own HTTP. Undefined where no proxy is used. */
export async function agentFor(env: Io['env'], url: string | URL): Promise<Agent | undefined> {
  const way = wayTo(new URL(url), env);
  if (way.proxy === undefined) return undefined;
  const { agentOf } = await import('./proxy-agent.js');
  return agentOf(way);
}
