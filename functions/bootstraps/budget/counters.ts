/** Enforces the limits on living bootstraps. Pure. */
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import { type Counts, ofOwner } from '../../engine/record/counts.js';

/** Throws `too-many` where one more bootstrap of this owner would be beyond a limit. */
export function checkOneMore(
  counts: Counts,
  owner: string,
  { livingPerOwner, livingInAll }: Context['config']['limits'],
): void {
  const { inAll } = counts.all;
  const { living: own } = ofOwner(counts, owner);
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
}
