/** The two cookies of the console: one while somebody signs in, one for the session. No script can read them. */

export type CookieName = 'sign-in' | 'session';

/** The browser sends the first along when the issuer leads back. The second it sends only to pages of the console itself. */
const sameSite = { 'sign-in': 'Lax', session: 'Strict' } as const;

/** `__Host-` keeps other hosts and paths from setting it. Browsers take such a name over https alone. */
const nameOf = (name: CookieName, url: string): string => `${url.startsWith('https:') ? '__Host-' : ''}plinth-${name}`;

export function cookieIn(header: string | undefined, name: CookieName, url: string): string | undefined {
  const wanted = `${nameOf(name, url)}=`;
  const found = (header ?? '').split(';').map((each) => each.trim());
  return found.find((each) => each.startsWith(wanted))?.slice(wanted.length) || undefined;
}

export const cookieOf = (name: CookieName, url: string, value: string, seconds: number): string =>
  `${nameOf(name, url)}=${value}; Path=/; Max-Age=${seconds}; Secure; HttpOnly; SameSite=${sameSite[name]}`;

export const noCookie = (name: CookieName, url: string): string => cookieOf(name, url, '', 0);
