/**
 * Questions and replies of DNS, apart from their form on the wire, and the loopback address of each name server. Names are in
 * lower case and end with a dot.
 */
import { serverSets } from '../dns/zones.js';

/** By name: `ns-cloud-b3.googledomains.com.` has 127.53.2.3. */
export const serverAddresses: Readonly<Record<string, string>> = Object.fromEntries(
  serverSets.flatMap((names, set) => names.map((name, index) => [name, `127.53.${set + 1}.${index + 1}`] as const)),
);

export interface Question {
  readonly name: string;
  readonly type: string;
}

/** One record. Its data is text, as Cloud DNS keeps it. */
export interface Row {
  readonly name: string;
  readonly type: string;
  readonly ttl: number;
  readonly data: string;
}

export const rcodes = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5 } as const;
export type Rcode = keyof typeof rcodes;

export interface Reply {
  readonly rcode: Rcode;
  readonly isAuthoritative: boolean;
  readonly answers: readonly Row[];
  readonly authorities: readonly Row[];
}

export const plainReply = (rcode: Rcode): Reply => ({ rcode, isAuthoritative: false, answers: [], authorities: [] });

/** `name` is `above` or lies beneath it. Everything lies beneath the root, `.`. */
export const isWithin = (name: string, above: string): boolean =>
  above === '.' || name === above || name.endsWith(`.${above}`);

/** `a.b.c.` → `b.c.` */
export const parentOf = (name: string): string => name.slice(name.indexOf('.') + 1);
