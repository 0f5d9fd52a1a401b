/** Asks name servers what they answer the world, whatever Cloud DNS says of its zones. */
import { randomBytes } from 'node:crypto';
import { Resolver } from 'node:dns/promises';
import type { Config } from '../config.js';

const patience = { timeout: 2000, tries: 2 } as const;

export interface NameServers {
  /**
   * Whether one of these servers refers to others for names beneath the domain. They are the servers of a zone above. Throws
   * as node:dns does if one cannot be asked.
   */
  refer(domain: string, servers: readonly string[]): Promise<boolean>;
  /**
   * The name servers that the world is referred to for the domain, with the final dot, sorted. None if it is not delegated, or
   * if that leads nowhere.
   */
  delegatedTo(domain: string): Promise<readonly string[]>;
}

/** What resolvers say of a name that nobody has, that has no such records, and of a delegation that leads nowhere. */
const nowhere = ['ENOTFOUND', 'ENODATA', 'ESERVFAIL', 'EREFUSED'];

export function createNameServers({ dnsResolver }: Pick<Config, 'dnsResolver'>): NameServers {
  const [, port = '53'] = dnsResolver?.split(':') ?? [];
  const resolver = new Resolver(patience);
  if (dnsResolver !== undefined) resolver.setServers([dnsResolver]);

  const refers = async (domain: string, server: string): Promise<boolean> => {
    const [address = ''] = await resolver.resolve4(server.replace(/\.$/, ''));
    const asked = new Resolver(patience);
    asked.setServers([`${address}:${port}`]);
    try {
      // A server says of a name that nobody has: it is not there. Or it refers to others, which is a reply without an answer.
      await asked.resolve4(`plinth-${randomBytes(6).toString('hex')}.${domain.replace(/\.$/, '')}`);
      return false;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOTFOUND') return false;
      if (code === 'ENODATA') return true;
      throw error;
    }
  };
  return {
    async delegatedTo(domain) {
      try {
        const found = await resolver.resolveNs(domain.replace(/\.$/, ''));
        return found.map((name) => `${name.toLowerCase().replace(/\.$/, '')}.`).sort();
      } catch (error) {
        if (nowhere.includes((error as NodeJS.ErrnoException).code ?? '')) return [];
        throw error;
      }
    },

    refer: async (domain, servers) =>
      (await Promise.all(servers.map((server) => refers(domain, server)))).some((refer) => refer),
  };
}
