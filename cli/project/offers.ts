/** What `plinth init` offers: what this deployment names, and what the caller's newest bootstrap was given. */
import type { GivenFlags } from '../../shared/bootstrap/options.js';
import { Problem } from '../../shared/problems.js';
import type { CommandContext } from '../frame/command.js';
import type { Client } from '../service/client.js';

export interface Offers {
  readonly billingAccounts: readonly string[];
  /** Numbers of folders. */
  readonly folders: readonly string[];
  /** `folders/<number>` or `organizations/<number>`. */
  readonly defaultParent: string | undefined;
  /** `<project>/<zone>` */
  readonly dnsZones: readonly string[];
  readonly longestSeconds: number | undefined;
  /** What was given before. It may no longer be right. */
  readonly earlier: GivenFlags;
}

const nothing: Offers = {
  billingAccounts: [],
  folders: [],
  defaultParent: undefined,
  dnsZones: [],
  longestSeconds: undefined,
  earlier: {},
};

/** A file may be written without the service, so it is only a warning if that cannot be asked. */
export async function askForOffers(call: CommandContext): Promise<Offers> {
  try {
    const client = await call.connect();
    const { email, mayBootstrap, mayUse } = await client.caller();
    if (!mayBootstrap)
      call.output.warn(`${email} may not bootstrap here. An operator of this deployment can change that.`);
    const earlier = await earlierOf(client, email);
    if (mayUse === undefined) return { ...nothing, earlier };
    const { billingAccounts, parents, defaultParent, dnsZones, longestSeconds } = mayUse;
    const folders = parents.filter((each) => each.startsWith('folders/')).map((each) => each.replace('folders/', ''));
    return { billingAccounts, folders, defaultParent, dnsZones, longestSeconds, earlier };
  } catch (error) {
    if (call.interrupted.aborted || !(error instanceof Problem)) throw error;
    call.output.warn(`The service cannot be asked what you may use: ${error.detail}`);
    return nothing;
  }
}

async function earlierOf(client: Client, email: string): Promise<GivenFlags> {
  const own = (await client.list(false)).filter(({ owner }) => owner === email);
  const [newest] = own.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt));
  return newest === undefined ? {} : ((await client.get(newest.id)).options as GivenFlags);
}
