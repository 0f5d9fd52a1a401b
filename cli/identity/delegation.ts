/** Checks whether the public DNS delegates a bootstrap's base domain to its zone, so that the world finds its records. */
import { Resolver } from 'node:dns/promises';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';

export type Delegation =
  | { readonly state: 'delegated' }
  /** `domain`: the base domain, or the nearest parent that has name servers. */
  | { readonly state: 'elsewhere'; readonly domain: string; readonly servers: readonly string[] }
  | { readonly state: 'nowhere' }
  | { readonly state: 'unknown'; readonly why: string };

/** The name servers of a domain. Throws as node:dns does. */
export type LookUp = (domain: string) => Promise<readonly string[]>;

/** `status` should not wait for a resolver that doesn't answer. */
const timeoutMs = 1500;

/** Asks this resolver, or the machine's own. */
export function createLookUp(server: string | undefined): LookUp {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 1 });
  if (server !== undefined) resolver.setServers([server]);
  return (domain) => resolver.resolveNs(domain);
}

/** Undefined while there is no zone. Never throws. */
export async function delegationOf(
  { options, result: { dns } }: Pick<BootstrapView, 'options' | 'result'>,
  lookUp: LookUp,
): Promise<Delegation | undefined> {
  const baseDomain = options['baseDomain'];
  if (dns === undefined || dns.nameServers.length === 0 || typeof baseDomain !== 'string') return undefined;
  const ours = dns.nameServers.map(bare);
  // The zone may belong to a parent domain. A name inside a zone has no name servers of its own.
  for (let domain = baseDomain; domain.includes('.'); domain = domain.slice(domain.indexOf('.') + 1)) {
    let servers: string[];
    try {
      servers = (await lookUp(domain)).map(bare);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? String(error);
      if (code === 'ENODATA' || code === 'ENOTFOUND') continue;
      return { state: 'unknown', why: `the DNS does not answer (${code})` };
    }
    if (servers.length === 0) continue;
    return servers.some((server) => ours.includes(server))
      ? { state: 'delegated' }
      : { state: 'elsewhere', domain, servers: servers.sort() };
  }
  return { state: 'nowhere' };
}

const bare = (name: string): string => name.toLowerCase().replace(/\.$/, '');
