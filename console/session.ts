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
/** Sign-outs so far. What was asked before one counts no more. */
let outs = 0;
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
  const [before, outsBefore] = [held, outs];
  const wasIn = before !== undefined;
  const reply = await fetch('/console/session', { method: 'POST' }).catch(() => undefined);
  const said: unknown = await reply?.json().catch(() => undefined);
  if (outs !== outsBefore) return undefined;
  if (reply?.ok && said !== undefined) {
    const session = said as ConsoleSession;
    if (wasIn && before.email !== session.email) {
      // What is on the screen, and what waits for a token, is of somebody else.
      location.reload();
      throw new Error('another person');
    }
    held = session;
    if (!wasIn) become({ is: 'in', email: session.email, bootstrapsUrl: session.bootstrapsUrl });
    return session;
  }
  if (reply?.status !== 401) {
    const { detail = `plinth answers ${reply?.status}.` } = (said ?? {}) as { detail?: string };
    if (!wasIn) become({ is: 'unknown', why: reply ? detail : 'plinth cannot be reached from here.' });
    throw new Error('unreachable');
  }
  held = undefined;
  become(wasIn ? { is: 'out', why: 'Your session has ended. Sign in to go on where you are.' } : { is: 'out' });
  return undefined;
}

/** Undefined: nobody is signed in any more. `renew`: the last token was refused. Throws if the function cannot be reached. */
export async function tokenNow(renew = false): Promise<string | undefined> {
  if (held !== undefined && !renew && Date.parse(held.expiresAt) - Date.now() > marginMs) return held.idToken;
  if (asking === undefined) {
    const mine = ask().finally(() => {
      if (asking === mine) asking = undefined;
    });
    asking = mine;
  }
  return (await asking)?.idToken;
}

function forget(): void {
  outs++;
  held = undefined;
  asking = undefined;
}

export function begin(): void {
  tabs.onmessage = ({ data }) => {
    if (data === 'out') {
      forget();
      become({ is: 'out', why: 'You signed out in another tab.' });
    }
    if (data === 'in') void tokenNow(true).catch(() => undefined);
  };
  become({ is: 'asking' });
  void tokenNow()
    // Somebody may just have signed in. Who hears it asks, and says nothing on.
    .then((token) => token !== undefined && tabs.postMessage('in'))
    .catch(() => undefined);
}

/** Leads back to this place. */
export function signIn(): void {
  location.assign(`/console/sign-in?to=${encodeURIComponent(`/${location.hash}`)}`);
}

export async function signOut(): Promise<void> {
  forget();
  tabs.postMessage('out');
  const reply = await fetch('/console/sign-out', { method: 'POST' }).catch(() => undefined);
  // Until then the cookie was good for a token, here and in the other tabs.
  forget();
  tabs.postMessage('out');
  become({
    is: 'out',
    why:
      reply?.ok === true
        ? 'You are signed out.'
        : 'This tab has forgotten you, but plinth could not be reached to end the session. Sign in and out again.',
  });
}
