/** Counts living bootstraps and enforces the limits. Pure. */
import { Problem } from '../../shared/problems.js';
import type { Context } from '../context.js';
import type { CountersRecord } from '../engine/record/documents.js';

/** Counts one more bootstrap. Throws `too-many` at a limit. */
export function countOne(
  before: CountersRecord | undefined,
  owner: string,
  { livingPerOwner, livingInAll }: Context['config']['limits'],
): CountersRecord {
  const { inAll, byOwner } = before ?? { inAll: 0, byOwner: {} as Record<string, number> };
  const own = byOwner[owner] ?? 0;
  const advice = 'Wait until one of them is removed, or ask your operator to raise the limit.';
  if (own >= livingPerOwner) {
    throw new Problem('too-many', `You have ${own} bootstraps, and the limit per owner is ${livingPerOwner}.`, {
      advice,
      members: { limit: 'livingPerOwner', value: livingPerOwner },
    });
  }
  if (inAll >= livingInAll) {
    throw new Problem('too-many', `There are ${inAll} bootstraps, and the limit in all is ${livingInAll}.`, {
      advice,
      members: { limit: 'livingInAll', value: livingInAll },
    });
  }
  return { schema: 1, inAll: inAll + 1, byOwner: { ...byOwner, [owner]: own + 1 } };
}
