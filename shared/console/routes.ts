/** The routes of the console: its page, signing in and the session. `api` serves them to browsers. They are no part of its API. */
import * as z from 'zod';
import { json, moment, type Reply, type RouteTable, text } from '../api.js';

/** What the page is told of the session. The page keeps it in memory alone. */
export const ConsoleSession = z.object({
  email: text('Who is signed in', 'alice@example.com'),
  idToken: text('For both functions, as a bearer token', 'eyJhbGciOi…'),
  expiresAt: moment('When the token expires. Asking again gives another one'),
  endsAt: moment('When the session ends'),
  bootstrapsUrl: text('Base URL of the function `bootstraps`', 'https://bootstraps-1.europe-west4.run.app'),
});
export type ConsoleSession = z.infer<typeof ConsoleSession>;

const page = (description: string): Reply => ({ description, type: 'text/html', schema: z.string() });
const cookies = z.object({ cookie: z.string().optional() });
/** Browsers name the page that a POST comes from, and no page can change that. */
const cookiesAndOrigin = cookies.extend({ origin: z.string().optional() });

/** Where signing in may lead back to: the console, at a place within. Never to another host. */
const back = z.string().regex(/^\/(?:#[\w/.~@%-]*)?$/, 'must be a place of the console');

const shared = { tag: 'Console', caller: 'anyone', problems: [] } as const;

export const consoleRoutes = {
  showConsole: {
    ...shared,
    method: 'GET',
    path: '/',
    summary: 'The console',
    description: 'The page for people. It loads nothing from any other host.',
    replies: { 200: page('The page, or what is to be set for one') },
  },
  loadConsoleFile: {
    ...shared,
    method: 'GET',
    path: '/console/files/{file}',
    summary: 'A file of the console',
    description: 'Script, style and picture of the page. Their names change with their content.',
    params: z.strictObject({ file: z.string().max(100) }),
    headers: z.object({ 'accept-encoding': z.string().optional() }),
    replies: { 200: page('The file') },
  },
  showReference: {
    ...shared,
    method: 'GET',
    path: '/docs',
    summary: 'The reference of both APIs',
    description: 'Every operation with its parameters, bodies and errors, as a page without a script.',
    headers: z.object({ 'accept-encoding': z.string().optional() }),
    replies: { 200: page('The page') },
  },
  beginSignIn: {
    ...shared,
    method: 'GET',
    path: '/console/sign-in',
    summary: 'Begins to sign in',
    description: 'Sends the browser to the issuer.',
    query: z.strictObject({ to: back.default('/') }),
    replies: { 302: page('To the issuer') },
  },
  endSignIn: {
    ...shared,
    method: 'GET',
    path: '/console/callback',
    summary: 'Ends signing in',
    description: 'The issuer sends the browser here with a code, which is exchanged for tokens.',
    // Issuers add parameters of their own.
    query: z.looseObject({
      state: z.string().optional(),
      code: z.string().optional(),
      error: z.string().optional(),
    }),
    headers: cookies,
    replies: { 302: page('Back to where signing in began'), 400: page('Why nobody is signed in') },
  },
  getSession: {
    ...shared,
    method: 'POST',
    path: '/console/session',
    summary: 'The session of this browser',
    description: 'For the page of the console alone: another origin is a 403. Nobody signed in: 401.',
    headers: cookiesAndOrigin,
    replies: { 200: json('Who is signed in, with a token', ConsoleSession) },
  },
  endSession: {
    ...shared,
    method: 'POST',
    path: '/console/sign-out',
    summary: 'Signs out',
    description: 'The session ends at once, in every tab, and its cookie is worth nothing from then on.',
    headers: cookiesAndOrigin,
    replies: { 204: page('Nobody is signed in') },
  },
} as const satisfies RouteTable;
