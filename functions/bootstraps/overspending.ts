/** Whether a bootstrap costs more than it was admitted for, or when it will, as far as its record knows. */
import { addSeconds } from '../../shared/add-seconds.js';
import { amountText } from '../../shared/bootstrap/money.js';
import type { Context } from '../context.js';
import { spentOf } from '../cost/of-bootstrap.js';
import type { BootstrapRecord } from '../engine/record/documents.js';
import { removeAtOf } from '../engine/record/removal-rule.js';
import { spendOf } from '../engine/record/spend.js';
import { ceilingsOfTeam } from '../organizations/limits.js';

/** Told by sweep and by the hourly look: an alert counts these words. */
export function logUnknownCosts({ log }: Pick<Context, 'log'>, id: string, error: unknown): void {
  log('ERROR', `What ${id} costs could not be found out`, { bootstrap: id, error });
}

/** Whether what it was admitted for is counted towards a month of the deployment, its team or the team's organization. */
export async function isLimitedByMonth(
  context: Pick<Context, 'store' | 'config'>,
  { team }: BootstrapRecord,
): Promise<boolean> {
  const { month, monthOfOwner } = context.config.ceilings;
  if (month !== undefined || monthOfOwner !== undefined) return true;
  const ceilings = team === undefined ? [] : await ceilingsOfTeam(context, team);
  return ceilings.some(({ usdPerMonth }) => usdPerMonth !== undefined);
}

/** `fuseAt`: when to look next. Undefined: nothing limits it, or it ends before it passes its limit. */
export function judge(
  { prices, ceilings }: Context['config'],
  data: BootstrapRecord,
  at: string,
  byMonth: boolean,
): { readonly text: string } | { readonly fuseAt: string } | undefined {
  const spent = spentOf(prices, data, new Date(at));
  if (spent === undefined || data.price === undefined) return undefined;
  const { microsAnHour, micros } = spent;
  if (ceilings.microsAnHour !== undefined && microsAnHour > ceilings.microsAnHour) {
    return {
      text: `The project costs ${amountText(microsAnHour)} USD an hour, and ${amountText(ceilings.microsAnHour)} is the most here.`,
    };
  }
  const admitted = Object.values(spendOf(data)).reduce((sum, each) => sum + each, 0);
  const limits = limitsOf(data.price.maxMicros, byMonth ? admitted : undefined);
  if (limits.length === 0) return undefined;
  const limit = Math.min(...limits);
  if (micros >= limit) {
    return {
      text: `The project has cost ${amountText(micros)} USD by the estimate, and was admitted for ${amountText(limit)}.`,
    };
  }
  if (microsAnHour === 0) return undefined;
  const fuseAt = addSeconds(new Date(at), Math.ceil(((limit - micros) / microsAnHour) * 3600));
  return fuseAt < removeAtOf(data) ? { fuseAt } : undefined;
}

const limitsOf = (...limits: readonly (number | undefined)[]): number[] => limits.flatMap((limit) => limit ?? []);
