/** `--world` and `--world-set` of `npm run local` and `npm run demo`: which world the simulated cloud is. */
import { readSettings, readWorldName, type WorldSettings } from '../cloud/worlds/settings.js';
import type { WorldName } from '../cloud/worlds/table.js';

export interface WorldChoice {
  /** Undefined: the world that the state folder keeps, or seasoned. */
  readonly world?: WorldName | undefined;
  readonly worldSettings?: WorldSettings | undefined;
}

export const worldUsage = `  --world W            seasoned (default): an account of some age, organization policies of the 2024 baseline
                       fresh: a new account with few CPUs, addresses, projects and billing links
                       hardened: all organization policies in force, and a deployment that meets them
  --world-set K=V      one number, policy, delay or chance of the world, such as quota.CPUS=24,
                       policy.compute.requireOsLogin=enforced, delay.iamPolicy=120, chance.stockout=0.1; repeatable.
                       /_local/world lists them all
`;

/** Reads the two options. Throws a sentence for people. */
export function readWorld(world: string | undefined, set: readonly string[] = []): WorldChoice {
  const pairs = set.map((text): [string, string] => {
    const at = text.indexOf('=');
    if (at < 1) throw new Error(`--world-set must be KEY=VALUE, not "${text}".`);
    return [text.slice(0, at), text.slice(at + 1)];
  });
  try {
    return {
      ...(world === undefined ? {} : { world: readWorldName(world) }),
      ...(pairs.length === 0 ? {} : { worldSettings: readSettings(Object.fromEntries(pairs)) }),
    };
  } catch (error) {
    throw new Error(`--world: ${(error as Error).message}`);
  }
}
