/** Calls of the two functions, as whoever is signed in. */
import { visibleAnswer } from '../shared/visible-text.js';
import { standingNow, tokenNow } from './session.js';

/** Why a call did not do what it should, in words for people. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  constructor(
    readonly status: number,
    readonly detail: string,
    readonly advice?: string,
  ) {
    super(detail);
  }
}

/** The same call would be refused again, however often. */
export const lasts = (error: unknown): boolean =>
  error instanceof Refusal && error.status >= 400 && error.status < 500 && error.status !== 429;

interface Asked {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export type FunctionName = 'api' | 'bootstraps';

const unreachable = () =>
  new Refusal(0, 'plinth cannot be reached.', 'Check your network. What was begun goes on without you.');
const signedOut = () => new Refusal(401, 'You are signed out.');

function urlOf(name: FunctionName, path: string): string {
  const standing = standingNow();
  if (standing.is !== 'in') throw signedOut();
  return `${name === 'api' ? '' : standing.bootstrapsUrl}${path}`;
}

/** The reply of a success. A refused token is renewed once. */
export async function reply(name: FunctionName, method: string, path: string, asked: Asked = {}): Promise<Response> {
  for (const renew of [false, true]) {
    const token = await tokenNow(renew).catch(() => {
      throw unreachable();
    });
    if (token === undefined) throw signedOut();
    const headers = {
      ...asked.headers,
      authorization: `Bearer ${token}`,
      ...(asked.body !== undefined && { 'content-type': 'application/json' }),
    };
    const found = await fetch(urlOf(name, path), {
      method,
      headers,
      ...(asked.body !== undefined && { body: JSON.stringify(asked.body) }),
      ...(asked.signal && { signal: asked.signal }),
    }).catch((error: unknown) => {
      if (asked.signal?.aborted) throw error;
      throw unreachable();
    });
    if (found.ok) return found;
    if (found.status === 401 && !renew) continue;
    throw await refusalOf(found);
  }
  throw signedOut();
}

async function refusalOf(found: Response): Promise<Refusal> {
  const { detail, advice } = (await answerOf(found).catch(() => ({}))) as { detail?: string; advice?: string };
  return new Refusal(found.status, detail ?? `plinth answers ${found.status}.`, advice);
}

export async function call<T>(name: FunctionName, method: string, path: string, asked?: Asked): Promise<T> {
  const found = await reply(name, method, path, asked);
  return (found.status === 204 ? undefined : await answerOf(found)) as T;
}

/** What people, machines and Google said, as the page may show it. */
export const answerOf = async (found: Response): Promise<unknown> => visibleAnswer(await found.text());

/** Joins escaped parts of a path. */
export const path = (strings: TemplateStringsArray, ...parts: readonly (string | number)[]): string =>
  strings.reduce((text, next, i) => `${text}${encodeURIComponent(parts[i - 1] ?? '')}${next}`);
