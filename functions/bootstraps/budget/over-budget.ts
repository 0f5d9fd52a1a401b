/** Whether a bootstrap costs more than it was admitted for, or when it will, as far as its record knows. */
import { addSeconds } from '../../../shared/add-seconds.js';
import { amountText } from '../../../shared/bootstrap/money.js';
import type { Context } from '../../context.js';
import { spentOf } from '../../cost/of-bootstrap.js';
import type { BootstrapRecord } from '../../engine/record/documents.js';
import { removeAtOf } from '../../engine/record/removal-rule.js';
import { spendOf } from '../../engine/record/spend.js';
import { ceilingsOfTeam } from '../../organizations/limits.js';

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

interface Passed {
  readonly limit: NonNullable<BootstrapRecord['overspent']>[number];
  readonly text: string;
}

/** `passed`: all limits that it is beyond. `fuseAt`: when it may be beyond another one, if that is before its end. */
export interface Judged {
  readonly passed: readonly Passed[];
  readonly fuseAt?: string;
}

export function judge(
  { prices, ceilings }: Context['config'],
  data: BootstrapRecord,
  at: string,
  byMonth: boolean,
): Judged {
  const spent = spentOf(prices, data, new Date(at));
  if (spent === undefined || data.price === undefined) return { passed: [] };
  const { microsAnHour, micros } = spent;
  const passed: Passed[] = [];
  if (ceilings.microsAnHour !== undefined && microsAnHour > ceilings.microsAnHour) {
    const text = `The project costs ${amountText(microsAnHour)} USD an hour, and ${amountText(ceilings.microsAnHour)} is the most here.`;
    passed.push({ limit: 'anHour', text });
  }
  const admitted = Object.values(spendOf(data)).reduce((sum, each) => sum + each, 0);
  const limits = limitsOf(data.price.maxMicros, byMonth ? admitted : undefined);
  if (limits.length === 0) return { passed };
  const limit = Math.min(...limits);
  if (micros >= limit) {
    const text = `The project has cost ${amountText(micros)} USD by the estimate, and was admitted for ${amountText(limit)}.`;
    return { passed: [...passed, { limit: 'inAll', text }] };
  }
  if (microsAnHour === 0) return { passed };
  const fuseAt = addSeconds(new Date(at), Math.ceil(((limit - micros) / microsAnHour) * 3600));
  return fuseAt < removeAtOf(data) ? { passed, fuseAt } : { passed };
}

/** Where VMs are to be stopped, that it was told counts for nothing. */
export const notToldOf = (
  { passed }: Judged,
  { overspent = [] }: BootstrapRecord,
  { beyond }: Context['config']['ceilings'],
): readonly Passed[] => (beyond === 'stop' ? passed : passed.filter(({ limit }) => !overspent.includes(limit)));

const limitsOf = (...limits: readonly (number | undefined)[]): number[] => limits.flatMap((limit) => limit ?? []);
