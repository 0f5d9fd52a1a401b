/** The name servers of Cloud DNS and the loopback address of each. */
import { serverSets } from '../dns/zones.js';

/** By name: `ns-cloud-b3.googledomains.com.` has 127.53.2.3. */
export const serverAddresses: Readonly<Record<string, string>> = Object.fromEntries(
  serverSets.flatMap((names, set) => names.map((name, index) => [name, `127.53.${set + 1}.${index + 1}`] as const)),
);
