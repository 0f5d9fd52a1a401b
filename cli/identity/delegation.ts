/** Checks whether the public DNS delegates a bootstrap's base domain to its zone, so that the world finds its records. */
import { Resolver } from 'node:dns/promises';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { Problem } from '../../shared/problems.js';

export type Delegation =
  | { readonly state: 'delegated' }
  /** `servers`: those that are not of its zone. What a resolver asks them finds no records. */
  | { readonly state: 'partly'; readonly domain: string; readonly servers: readonly string[] }
  /** `domain`: the base domain, or the nearest parent that has name servers. */
  | { readonly state: 'elsewhere'; readonly domain: string; readonly servers: readonly string[] }
  /** It is delegated to servers that do not serve it. */
  | { readonly state: 'lame'; readonly domain: string }
  | { readonly state: 'nowhere' }
  | { readonly state: 'unknown'; readonly why: string };

/** The name servers of a domain. Throws as node:dns does. */
export type LookUp = (domain: string) => Promise<readonly string[]>;

/** `status` should not wait for a resolver that doesn't answer. */
const timeoutMs = 1500;

/** Asks this resolver, or the machine's own. Throws a Problem where `PLINTH_DNS_RESOLVER` is no address. */
export function createLookUp(server: string | undefined): LookUp {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 1 });
  try {
    if (server !== undefined) resolver.setServers([server]);
  } catch {
    const message = 'must be an IP address, with a port or without, as 192.0.2.53:53';
    throw new Problem('bad-input', `PLINTH_DNS_RESOLVER ${message}.`, {
      errors: [{ path: 'PLINTH_DNS_RESOLVER', message }],
    });
  }
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
  let lame: string | undefined;
  // The zone may belong to a parent domain. A name inside a zone has no name servers of its own.
  for (const domain of upwards(baseDomain)) {
    // A top-level domain serves nobody's records. It only tells whether the resolver works.
    if (!domain.includes('.') && lame === undefined) break;
    let servers: string[];
    try {
      servers = (await lookUp(domain)).map(bare);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? String(error);
      // Resolvers say so of a delegation that leads to the wrong servers, and of their own trouble: the domain above tells.
      if (code === 'ESERVFAIL' && lame === undefined) {
        lame = domain;
        continue;
      }
      if (code !== 'ENODATA' && code !== 'ENOTFOUND') {
        return { state: 'unknown', why: `the DNS does not answer (${code})` };
      }
      servers = [];
    }
    if (lame !== undefined) return { state: 'lame', domain: lame };
    if (servers.length > 0) return ledTo(domain, servers, ours);
  }
  return { state: 'nowhere' };
}

/** `a.b.c`, `b.c`, `c` */
const upwards = (domain: string): string[] => domain.split('.').map((_, at, labels) => labels.slice(at).join('.'));

function ledTo(domain: string, servers: readonly string[], ours: readonly string[]): Delegation {
  const others = servers.filter((server) => !ours.includes(server)).sort();
  if (others.length === 0) return { state: 'delegated' };
  return { state: others.length === servers.length ? 'elsewhere' : 'partly', domain, servers: others };
}

const bare = (name: string): string => name.toLowerCase().replace(/\.$/, '');
