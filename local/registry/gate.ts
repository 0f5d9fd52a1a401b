/**
 * Decides who may use a registry: with user and password alone, or also with a token. For a token, clients first go to the
 * token's endpoint.
 */
import type { IncomingMessage } from 'node:http';

export type Action = 'pull' | 'push';

/** A refusal as registries answer it: a status and a reason, in the protocol's own words. */
export interface Refusal {
  readonly status: 401 | 403 | 404;
  readonly code: 'UNAUTHORIZED' | 'DENIED' | 'NAME_UNKNOWN';
  readonly message: string;
}

interface AnyGate<Who> {
  /** Finds the caller by user and password. Undefined if unknown. */
  login(user: string, password: string): Promise<Who | undefined> | Who | undefined;
  may(who: Who, image: string, action: Action): Refusal | undefined;
}

export interface TokenGate<Who> extends AnyGate<Who> {
  /** The endpoint that issues tokens: `/token`. */
  readonly tokenPath: string;
  /** Finds the caller by a token of `tokenFor`, or by any other token accepted here. */
  bearer(token: string): Who | undefined;
  tokenFor(user: string, password: string): string;
}

interface BasicGate<Who> extends AnyGate<Who> {
  /** The realm in the answer to callers without user and password. */
  readonly realm: string;
}

export type Gate<Who> = TokenGate<Who> | BasicGate<Who>;

export function basicOf({ headers }: IncomingMessage): readonly [user: string, password: string] | undefined {
  const coded = /^basic ([\w+/=-]+)$/i.exec(headers.authorization ?? '')?.[1];
  if (coded === undefined) return undefined;
  const text = Buffer.from(coded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon === -1 ? undefined : [text.slice(0, colon), text.slice(colon + 1)];
}

export async function callerOf<Who>(gate: Gate<Who>, request: IncomingMessage): Promise<Who | undefined> {
  const basic = basicOf(request);
  if (basic !== undefined) return gate.login(...basic);
  const token = /^bearer (\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  return token === undefined || 'realm' in gate ? undefined : gate.bearer(token);
}

/** The WWW-Authenticate header for a missing or wrong login. */
export function challenge<Who>(
  gate: Gate<Who>,
  host: string,
  wanted?: { readonly image: string; readonly action: Action },
): string {
  if ('realm' in gate) return `Basic realm="${gate.realm}"`;
  const scope = wanted === undefined ? '' : `,scope="repository:${wanted.image}:${actionsOf(wanted.action)}"`;
  return `Bearer realm="http://${host}${gate.tokenPath}",service="${host.replace(/:\d+$/, '')}"${scope}`;
}

/** A caller who pushes also reads. */
const actionsOf = (action: Action): string => (action === 'push' ? 'pull,push' : 'pull');
