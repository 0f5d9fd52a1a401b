/** How many bootstraps may live at once: of an owner, a team, an organization, and in all. Pure. */
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import { type Counts, ofOwner } from '../../engine/record/counts.js';
import type { Bound } from '../../organizations/ownership.js';
import { raise } from './months.js';

type Limits = Context['config']['limits'];

interface LivingLimit {
  /** Names it in the problem. */
  readonly limit: string;
  /** Undefined: none. */
  readonly value: number | undefined;
  readonly living: number;
  readonly detail: string;
  readonly advice: string;
}

/** Throws `too-many` where one more bootstrap would be beyond a limit. */
function checkLimits(limits: readonly LivingLimit[]): void {
  for (const { limit, value, living, detail, advice } of limits) {
    if (value === undefined || living < value) continue;
    throw new Problem('too-many', detail, { advice, members: { limit, value } });
  }
}

/** Throws `too-many` at a limit of the deployment: the caller's own, or that for all. */
export function checkOneMore(counts: Counts, owner: string, { livingPerOwner, livingInAll }: Limits): void {
  const { inAll } = counts.all;
  const { living: own } = ofOwner(counts, owner);
  const advice = 'Wait until one of them is removed, or ask your operator to raise the limit.';
  checkLimits([
    {
      ...{ limit: 'livingPerOwner', value: livingPerOwner, living: own, advice },
      detail: `You have ${own} bootstraps, and the limit per owner is ${livingPerOwner}.`,
    },
    {
      ...{ limit: 'livingInAll', value: livingInAll, living: inAll, advice },
      detail: `There are ${inAll} bootstraps, and the limit in all is ${livingInAll}.`,
    },
  ]);
}

/** Throws `too-many` where somebody else cannot own one more. */
export function checkOneMoreOf(
  counts: Counts,
  owner: string,
  { livingPerOwner }: Pick<Limits, 'livingPerOwner'>,
): void {
  const { living } = ofOwner(counts, owner);
  checkLimits([
    {
      ...{ limit: 'livingPerOwner', value: livingPerOwner, living },
      detail: `${owner} has ${living} bootstraps, and the limit per owner is ${livingPerOwner}.`,
      advice: 'Wait until one of theirs is removed, or ask your operator to raise the limit.',
    },
  ]);
}

/** Throws `too-many` at a ceiling of the team or of its organization. */
export const checkRoom = (bounds: readonly Bound[]): void =>
  checkLimits(
    bounds.map((bound) => {
      const { of, id, ceilings, living } = bound;
      const whose = of === 'Team' ? 'has' : 'has in its teams';
      const count = living === 1 ? '1 living bootstrap' : `${living} living bootstraps`;
      return {
        ...{ limit: `livingPer${of}`, value: ceilings.living, living },
        detail: `${of} ${id} ${whose} ${count}, and its ceiling is ${ceilings.living}.`,
        advice: `Wait until one of them is removed, or ${raise(bound)}.`,
      };
    }),
  );
