/** The console's doors: the page and its files, signing in by way of the issuer, and the session of a browser. */
import * as z from 'zod';
import type { ConsoleSession, consoleRoutes } from '../../../shared/console/routes.js';
import { authorizationUrl, claimsOf, ProviderRefusal } from '../../../shared/oauth.js';
import { Problem } from '../../../shared/problems.js';
import type { Config } from '../../config.js';
import { createClientSource } from '../../console/client.js';
import { type ConsoleClient, endpointsOf, tokensFor } from '../../console/identity-provider.js';
import { createSeal } from '../../console/seal.js';
import { beginSession, endSession, findSession, sessionSeconds } from '../../console/sessions.js';
import type { Context } from '../../context.js';
import type { Authenticate, Caller } from '../../identity/auth.js';
import type { Answer } from '../reply.js';
import type { Handlers } from '../router.js';
import { noticePage, pageHeaders } from './notice-page.js';
import { type PageFile, pageFiles } from './page-files.js';

type Console = NonNullable<Config['console']>;
type ConsoleHandlers = Handlers<typeof consoleRoutes>;

/** As long as somebody may take at the issuer. */
const signInSeconds = 600;
const long = ({ random }: Context): string => random.bytes(32).toString('base64url');
const callbackOf = ({ url }: Console): string => `${url}/console/callback`;

const SignIn = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  to: z.string(),
  untilMs: z.number(),
});
const signInSeal = ({ random }: Context, { clientSecret }: ConsoleClient) =>
  createSeal(random, clientSecret, 'sign-in');

export const consoleHandlers = (context: Context, authenticate: Authenticate): ConsoleHandlers => {
  const { console } = context.config;
  return {
    ...fileHandlers(console),
    ...(console === undefined
      ? handlersOfNone()
      : { ...pageHandler(console), ...sessionHandlers(context, console, authenticate) }),
  };
};

/** What an operator is told who opens the page of a deployment without one. */
function handlersOfNone(): Omit<ConsoleHandlers, FileRoute> {
  const none = async (): Promise<never> => {
    throw new Problem('not-found', 'This deployment has no console.', {
      advice: 'Set PLINTH_CONSOLE_CLIENT_ID, or console_client in terraform.',
    });
  };
  return {
    showConsole: async () =>
      noticePage(
        200,
        'No console here',
        `<p>This is a deployment of plinth without a console. The command line and <a href="/docs">the API</a> work without it.</p>
<p>To get one, an operator makes an OAuth client of type <em>Web application</em>, gives its id to terraform as <code>console_client</code> (the setting <code>PLINTH_CONSOLE_CLIENT_ID</code>), and puts its secret into <code>plinth-console-client</code> of Secret Manager. The page <code>docs/operate/console.md</code> of plinth's sources tells it step by step.</p>`,
      ),
    beginSignIn: none,
    endSignIn: none,
    getSession: none,
    endSession: none,
  };
}

/** Nothing of another host, and no script that is not a file of the page. */
const policyOf = (files: string, connect: string): string =>
  [
    "default-src 'none'",
    `script-src ${files}`,
    `style-src ${files}`,
    `img-src ${files}`,
    `connect-src ${connect}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
const filesOf = ({ url }: Console): string => `${url}/console/files/`;

/** It calls the two functions alone. */
const pageHandler = (console: Console): Pick<ConsoleHandlers, 'showConsole'> => ({
  showConsole: async () => ({
    status: 200,
    headers: {
      ...pageHeaders,
      'cache-control': 'no-cache',
      'content-security-policy': policyOf(
        filesOf(console),
        [...new Set([console.url, console.bootstrapsUrl])].join(' '),
      ),
    },
    body: pageFiles().page.plain,
  }),
});

type FileRoute = 'loadConsoleFile' | 'showReference';
type Encodings = { readonly 'accept-encoding'?: string | undefined };

const zippedIfTaken = ({ plain, zipped }: PageFile, { 'accept-encoding': taken = '' }: Encodings) => {
  const zips = /\bgzip\b/.test(taken);
  return {
    headers: { vary: 'accept-encoding', ...(zips && { 'content-encoding': 'gzip' }) },
    body: zips ? zipped : plain,
  };
};

/** Also without a console: the reference of the APIs has the console's looks. */
const fileHandlers = (console: Console | undefined): Pick<ConsoleHandlers, FileRoute> => ({
  async loadConsoleFile({ params: { file }, headers: asked }) {
    const found = pageFiles().files.get(file);
    if (found === undefined) throw new Problem('not-found', 'The page has no such file. Load it again.');
    const { headers, body } = zippedIfTaken(found, asked);
    const kept = { 'content-type': found.type, 'cache-control': 'public, max-age=31536000, immutable' };
    return { status: 200, headers: { ...kept, ...headers }, body };
  },
  async showReference({ headers: asked }) {
    const { headers, body } = zippedIfTaken(pageFiles().reference, asked);
    const policy = policyOf(console === undefined ? "'self'" : filesOf(console), "'none'");
    const own = { ...pageHeaders, 'cache-control': 'no-cache', 'content-security-policy': policy };
    return { status: 200, headers: { ...own, ...headers }, body };
  },
});

function sessionHandlers(
  context: Context,
  console: Console,
  authenticate: Authenticate,
): Omit<ConsoleHandlers, 'showConsole' | FileRoute> {
  const { url, bootstrapsUrl } = console;
  const clientOf = createClientSource(context);
  return {
    beginSignIn: async ({ query: { to } }) => beginSignIn(context, console, await clientOf(), to),
    endSignIn: async ({ query, headers }) =>
      endSignIn({ context, console, authenticate, client: await clientOf() }, query, headers.cookie),

    async getSession({ headers }) {
      fromOwnPage(console, headers.origin);
      const cookie = cookieIn(headers.cookie, 'session', url);
      if (cookie === undefined) throw new Problem('unauthenticated', 'Nobody is signed in here.');
      const found = await findSession(context, await clientOf(), cookie);
      if (found === undefined) throw new Problem('unauthenticated', 'The session has ended. Sign in again.');
      const { sealed, ...session } = found;
      const leftMs = Date.parse(session.endsAt) - context.clock.now().getTime();
      const secondsLeft = Math.max(0, Math.floor(leftMs / 1000));
      return {
        status: 200,
        ...(sealed !== undefined && { headers: { 'set-cookie': cookieOf('session', url, sealed, secondsLeft) } }),
        body: { ...session, bootstrapsUrl } satisfies ConsoleSession,
      };
    },

    async endSession({ headers }) {
      fromOwnPage(console, headers.origin);
      const cookie = cookieIn(headers.cookie, 'session', url);
      if (cookie !== undefined) await endSession(context, await clientOf(), cookie);
      return { status: 204, headers: { 'set-cookie': noCookie('session', url) } };
    },
  };
}

/** Other pages must not act for whoever is signed in, even where a browser would send the cookie along. */
function fromOwnPage({ url }: Console, origin: string | undefined): void {
  if (origin !== url) throw new Problem('forbidden', 'Only the page of the console may ask for that.');
}

async function beginSignIn(context: Context, console: Console, client: ConsoleClient, to: string): Promise<Answer> {
  const endpoints = await endpointsOf(client.issuer);
  const [state, nonce, verifier] = [long(context), long(context), long(context)];
  const address = authorizationUrl(endpoints, client, { redirectUri: callbackOf(console), state, nonce, verifier });
  const untilMs = context.clock.now().getTime() + signInSeconds * 1000;
  const sealed = signInSeal(context, client).seal({ state, nonce, verifier, to, untilMs });
  return {
    status: 302,
    headers: { location: address, 'set-cookie': cookieOf('sign-in', console.url, sealed, signInSeconds) },
    body: '',
  };
}

interface SigningIn {
  readonly context: Context;
  readonly console: Console;
  readonly client: ConsoleClient;
  readonly authenticate: Authenticate;
}

interface Came {
  readonly state?: string | undefined;
  readonly code?: string | undefined;
  readonly error?: string | undefined;
}

const notSignedIn = (why: string): Answer =>
  noticePage(400, 'You are not signed in', `<p>${why}</p>\n<p><a href="/console/sign-in">Sign in</a></p>`);

async function endSignIn(signingIn: SigningIn, came: Came, cookies: string | undefined): Promise<Answer> {
  const { context, console, client, authenticate } = signingIn;
  const { url } = console;
  const begun = SignIn.safeParse(signInSeal(context, client).open(cookieIn(cookies, 'sign-in', url) ?? '')).data;
  // What a stranger began elsewhere must not end here: the browser would be signed in as the stranger.
  if (begun === undefined || begun.untilMs <= context.clock.now().getTime() || came.state !== begun.state) {
    return notSignedIn('This browser did not begin this, or it took longer than ten minutes.');
  }
  if (came.code === undefined) {
    const declined = came.error === 'access_denied';
    return notSignedIn(declined ? 'It was not agreed to.' : 'The issuer did not let you in. Try again.');
  }
  try {
    const { code } = came;
    const tokens = await tokensFor(client, { code, redirectUri: callbackOf(console), verifier: begun.verifier });
    const { email }: Caller = await authenticate({ authorization: `Bearer ${tokens.idToken}` });
    if (claimsOf(tokens.idToken).nonce !== begun.nonce) return notSignedIn('The token is not the one asked for.');
    const sealed = await beginSession(context, client, { email, tokens });
    const set = [cookieOf('session', url, sealed, sessionSeconds), noCookie('sign-in', url)];
    return { status: 302, headers: { location: begun.to, 'set-cookie': set }, body: '' };
  } catch (error) {
    if (error instanceof ProviderRefusal) {
      return notSignedIn(`The identity provider refused (<code>${error.code}</code>).`);
    }
    if (error instanceof Problem && error.code === 'unauthenticated') return notSignedIn(error.detail);
    throw error;
  }
}

/** Two cookies: one while somebody signs in, one for the session. No script can read them. */
type CookieName = 'sign-in' | 'session';

/** The browser sends the first along when the issuer leads back. The second it sends only to pages of the console itself. */
const sameSite = { 'sign-in': 'Lax', session: 'Strict' } as const;

/** `__Host-` keeps other hosts and paths from setting it. Browsers take such a name over https alone. */
const nameOf = (name: CookieName, url: string): string => `${url.startsWith('https:') ? '__Host-' : ''}plinth-${name}`;

function cookieIn(header: string | undefined, name: CookieName, url: string): string | undefined {
  const wanted = `${nameOf(name, url)}=`;
  const found = (header ?? '').split(';').map((each) => each.trim());
  return found.find((each) => each.startsWith(wanted))?.slice(wanted.length) || undefined;
}

const cookieOf = (name: CookieName, url: string, value: string, seconds: number): string =>
  `${nameOf(name, url)}=${value}; Path=/; Max-Age=${seconds}; Secure; HttpOnly; SameSite=${sameSite[name]}`;

const noCookie = (name: CookieName, url: string): string => cookieOf(name, url, '', 0);
