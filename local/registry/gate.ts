/** Who may come in to a registry, and the token that it gives them: Basic, or the way round by the token's endpoint that clients take. Used by the registries that stand for others. */
import type { IncomingMessage } from 'node:http';

export type Action = 'pull' | 'push';

/** As registries answer: a status, and why, in the protocol's own words. */
export interface Refusal {
  readonly status: 401 | 403 | 404;
  readonly code: 'UNAUTHORIZED' | 'DENIED' | 'NAME_UNKNOWN';
  readonly message: string;
}

export interface Gate<Who> {
  /** Where tokens are given: `/token`. */
  readonly tokenPath: string;
  /** By user and password; undefined: nobody that is known. */
  login(user: string, password: string): Who | undefined;
  /** By what `tokenFor` gave, or any other token that is taken here. */
  bearer(token: string): Who | undefined;
  tokenFor(user: string, password: string): string;
  may(who: Who, image: string, action: Action): Refusal | undefined;
}

export function basicOf({ headers }: IncomingMessage): readonly [user: string, password: string] | undefined {
  const coded = /^basic ([\w+/=-]+)$/i.exec(headers.authorization ?? '')?.[1];
  if (coded === undefined) return undefined;
  const text = Buffer.from(coded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon === -1 ? undefined : [text.slice(0, colon), text.slice(colon + 1)];
}

export function callerOf<Who>(gate: Gate<Who>, request: IncomingMessage): Who | undefined {
  const basic = basicOf(request);
  if (basic !== undefined) return gate.login(...basic);
  const token = /^bearer (\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  return token === undefined ? undefined : gate.bearer(token);
}

/** What WWW-Authenticate says to who comes without a token, or with a wrong one. */
export function challenge(
  { tokenPath }: Pick<Gate<unknown>, 'tokenPath'>,
  host: string,
  wanted?: { readonly image: string; readonly action: Action },
): string {
  const scope = wanted === undefined ? '' : `,scope="repository:${wanted.image}:${actionsOf(wanted.action)}"`;
  return `Bearer realm="http://${host}${tokenPath}",service="${host.replace(/:\d+$/, '')}"${scope}`;
}

/** Who writes reads, too. */
const actionsOf = (action: Action): string => (action === 'push' ? 'pull,push' : 'pull');
