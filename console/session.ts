/**
 * Who is signed in. The token lives in this module's memory alone: no storage, no address, no document holds it. A refresh of
 * the page asks the function again, which knows the browser by its cookie.
 */
import type { ConsoleSession } from '../shared/console/routes.js';

export type Standing =
  | { readonly is: 'asking' }
  | { readonly is: 'out'; readonly why?: string }
  | { readonly is: 'unknown'; readonly why: string }
  | { readonly is: 'in'; readonly email: string; readonly bootstrapsUrl: string };

/** A token with less time left is renewed first. */
const marginMs = 60_000;

let held: ConsoleSession | undefined;
let standing: Standing = { is: 'asking' };
let asking: Promise<ConsoleSession | undefined> | undefined;
const listeners = new Set<(now: Standing) => void>();
/** Tells the other tabs of this browser. It carries no token. */
const tabs = new BroadcastChannel('plinth-session');

function become(now: Standing): void {
  standing = now;
  for (const listener of listeners) listener(now);
}

export const standingNow = (): Standing => standing;

export function onStanding(listener: (now: Standing) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

async function ask(): Promise<ConsoleSession | undefined> {
  const wasIn = held !== undefined;
  let reply: Response;
  try {
    reply = await fetch('/console/session', { method: 'POST' });
  } catch {
    if (!wasIn) become({ is: 'unknown', why: 'plinth cannot be reached from here.' });
    throw new Error('unreachable');
  }
  if (reply.ok) {
    const session = (await reply.json()) as ConsoleSession;
    const other = held !== undefined && held.email !== session.email;
    held = session;
    // What is on the screen is of somebody else.
    if (other) location.reload();
    if (!wasIn) become({ is: 'in', email: session.email, bootstrapsUrl: session.bootstrapsUrl });
    return session;
  }
  const { detail } = (await reply.json().catch(() => ({}))) as { detail?: string };
  if (reply.status !== 401) {
    if (!wasIn) become({ is: 'unknown', why: detail ?? `plinth answers ${reply.status}.` });
    throw new Error('unreachable');
  }
  held = undefined;
  become(wasIn ? { is: 'out', why: 'Your session has ended. Sign in to go on where you are.' } : { is: 'out' });
  return undefined;
}

/** Undefined: nobody is signed in any more. `renew`: the last token was refused. Throws if the function cannot be reached. */
export async function tokenNow(renew = false): Promise<string | undefined> {
  if (held !== undefined && !renew && Date.parse(held.expiresAt) - Date.now() > marginMs) return held.idToken;
  asking ??= ask().finally(() => {
    asking = undefined;
  });
  return (await asking)?.idToken;
}

export function begin(): void {
  tabs.onmessage = ({ data }) => {
    if (data === 'out' && held !== undefined) {
      held = undefined;
      become({ is: 'out', why: 'You signed out in another tab.' });
    }
    if (data === 'in') void tokenNow(true).catch(() => undefined);
  };
  become({ is: 'asking' });
  void tokenNow()
    .then((token) => token !== undefined && cameFromSignIn() && tabs.postMessage('in'))
    .catch(() => undefined);
}

/** The issuer's page is of another origin, and a refresh is none. */
const cameFromSignIn = (): boolean => {
  const [entry] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return entry?.type === 'navigate' && entry.redirectCount > 0;
};

/** Leads back to this place. */
export function signIn(): void {
  location.assign(`/console/sign-in?to=${encodeURIComponent(`/${location.hash}`)}`);
}

export async function signOut(): Promise<void> {
  held = undefined;
  tabs.postMessage('out');
  const reply = await fetch('/console/sign-out', { method: 'POST' }).catch(() => undefined);
  become({
    is: 'out',
    why:
      reply?.ok === true
        ? 'You are signed out.'
        : 'This tab has forgotten you, but plinth could not be reached to end the session. Sign in and out again.',
  });
}
