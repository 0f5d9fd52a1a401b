/** How many bootstraps may live at once: of an owner, a team, an organization, and in all. Pure. */
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import { type Counts, ofOwner } from '../../engine/record/counts.js';
import type { Bound } from '../../organizations/ownership.js';
import { raise } from './months.js';

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

/** Throws `too-many` where one more bootstrap would be beyond a ceiling. */
export function checkRoom(bounds: readonly Bound[]): void {
  for (const bound of bounds) {
    const { of, id, ceilings, living } = bound;
    if (ceilings.living === undefined || living < ceilings.living) continue;
    const whose = of === 'Team' ? 'has' : 'has in its teams';
    const count = living === 1 ? '1 living bootstrap' : `${living} living bootstraps`;
    throw new Problem('too-many', `${of} ${id} ${whose} ${count}, and its ceiling is ${ceilings.living}.`, {
      advice: `Wait until one of them is removed, or ${raise(bound)}.`,
      members: { limit: `livingPer${of}`, value: ceilings.living },
    });
  }
}
