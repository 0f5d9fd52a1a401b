/**
 * What one bootstrap may cost: the price that it is admitted at by the hour, and the most that the caller will pay. Pure. All
 * amounts are whole micro-units.
 */
import { addSeconds } from '../../../shared/add-seconds.js';
import type { LoadBalancers } from '../../../shared/bootstrap/bootstrap.js';
import { formatSeconds } from '../../../shared/bootstrap/duration.js';
import { amountText } from '../../../shared/bootstrap/money.js';
import { calledBy } from '../../../shared/command-words.js';
import { Problem } from '../../../shared/problems.js';
import type { Config } from '../../config.js';
import { hourlyOfPlan, spentOf } from '../../cost/of-bootstrap.js';
import type { BootstrapRecord, PriceRecord } from '../../engine/record/documents.js';
import { removeAtOf } from '../../engine/record/removal-rule.js';
import type { PlanFacts } from '../../engine/step.js';

const over = (limit: string, detail: string, advice: string, members: Readonly<Record<string, unknown>> = {}) =>
  new Problem('over-ceiling', detail, { advice, members: { limit, ...members } });

/** The price that the options are admitted at. Throws `over-ceiling` above the hourly ceiling, or where it has no price. */
export function priceOf(
  { prices, ceilings }: Pick<Config, 'prices' | 'ceilings'>,
  facts: PlanFacts & { readonly loadBalancers?: LoadBalancers },
  maxMicros?: number,
): PriceRecord {
  const hourly = hourlyOfPlan(prices, facts, facts.loadBalancers ?? 'external');
  const most = maxMicros === undefined ? {} : { maxMicros };
  if (typeof hourly !== 'number') {
    const missing = `There is no price for ${hourly.join(', ')}`;
    if (maxMicros !== undefined) {
      const message = 'cannot be kept to: there is no price';
      throw new Problem('bad-input', `${missing}, so --max-cost cannot be kept to.`, {
        errors: [{ path: '--max-cost', message }],
        advice: 'Leave --max-cost out, or ask an operator to give the price in PLINTH_PRICES.',
      });
    }
    const { microsAnHour, monthOfOwner, month, withoutPrice } = ceilings;
    if (withoutPrice === 'refuse' && [microsAnHour, monthOfOwner, month].some((each) => each !== undefined)) {
      throw over(
        'price',
        `${missing}, and this deployment has a ceiling.`,
        'Choose another --region. Or ask an operator to give the price in PLINTH_PRICES, or to set PLINTH_WITHOUT_PRICE=allow.',
        { missing: [...hourly] },
      );
    }
    return { microsAnHour: 0, ...most };
  }
  const { microsAnHour: ceiling } = ceilings;
  if (ceiling !== undefined && hourly > ceiling) {
    throw over(
      'hour',
      `It would cost ${amountText(hourly)} USD an hour, and ${amountText(ceiling)} is the most here.`,
      'Choose --spot-vms or a cheaper --region, or ask an operator to raise the ceiling.',
      { ceiling: amountText(ceiling), asked: amountText(hourly) },
    );
  }
  return { microsAnHour: hourly, ...most };
}

/** Less would be over before the machines answer. */
const leastSeconds = 600;

/** How long the most that the caller pays lasts, from the beginning. Undefined: for ever. */
const boughtSeconds = ({ microsAnHour, maxMicros }: PriceRecord): number | undefined =>
  maxMicros === undefined || microsAnHour === 0
    ? undefined
    : Number((BigInt(maxMicros) * 3600n) / BigInt(microsAnHour));

/** When the caller's most is spent. Undefined: never. */
export function paidUntil({ price, createdAt }: Pick<BootstrapRecord, 'price' | 'createdAt'>): string | undefined {
  const seconds = price && boughtSeconds(price);
  return seconds === undefined ? undefined : addSeconds(new Date(createdAt), seconds);
}

/** The end that a new bootstrap gets, and a warning if `--max-cost` made it earlier. */
export function endFor(
  price: PriceRecord,
  now: Date,
  ttlSeconds: number,
): { readonly deadlineAt: string; readonly warning?: string } {
  const bought = boughtSeconds(price);
  if (bought === undefined || bought >= ttlSeconds) return { deadlineAt: addSeconds(now, ttlSeconds) };
  const { microsAnHour, maxMicros = 0 } = price;
  if (bought < leastSeconds) {
    const least = Math.ceil((microsAnHour * leastSeconds) / 3600);
    const message = `buys only ${formatSeconds(bought)}: it costs ${amountText(microsAnHour)} USD an hour, so give ${amountText(least)} at least`;
    throw new Problem('bad-input', `--max-cost ${message}`, {
      errors: [{ path: '--max-cost', message }],
      advice: `Give --max-cost ${amountText(least)} or more, or --spot-vms.`,
    });
  }
  const deadlineAt = addSeconds(now, bought);
  return {
    deadlineAt,
    warning: `--max-cost ${amountText(maxMicros)} buys ${formatSeconds(bought)}, so the project is removed at ${deadlineAt}, before its time to live is over`,
  };
}

/** A start that the fuse would undo sooner than this is refused. */
const leastRunSeconds = 600;

/**
 * The price at which a bootstrap whose VMs were stopped may start them again: what it really costs. Throws `over-ceiling` while
 * the hourly ceiling or the caller's most does not allow that. Months are counted by `countSpend`.
 */
export function priceOfStart(
  { prices, ceilings }: Pick<Config, 'prices' | 'ceilings'>,
  record: BootstrapRecord,
  at: string,
): PriceRecord | undefined {
  const { price } = record;
  const spent = spentOf(prices, record, new Date(at));
  if (price === undefined || spent === undefined) return price;
  const { micros, microsAnHour } = spent;
  const called = calledBy(record);
  const again = `Then: plinth beta bootstrap-cloud restart-vms ${called}. To remove it now: plinth beta bootstrap-cloud cleanup ${called}`;
  if (ceilings.microsAnHour !== undefined && microsAnHour > ceilings.microsAnHour) {
    const [asked, ceiling] = [amountText(microsAnHour), amountText(ceilings.microsAnHour)];
    throw over(
      'hour',
      `With its VMs started it would cost ${asked} USD an hour, and ${ceiling} is the most here.`,
      `Ask an operator to raise the ceiling. ${again}`,
      { ceiling, asked },
    );
  }
  const { maxMicros } = price;
  if (maxMicros !== undefined && micros + (microsAnHour * leastRunSeconds) / 3600 > maxMicros) {
    const [asked, ceiling] = [amountText(micros), amountText(maxMicros)];
    throw over(
      'maxCost',
      `It has cost ${asked} USD by the estimate, and --max-cost ${ceiling} does not pay for ten minutes more.`,
      `Its owner can raise that: the same beta bootstrap-cloud command with a higher --max-cost, which starts the VMs, too. To remove it now: plinth beta bootstrap-cloud cleanup ${called}`,
      { ceiling, asked },
    );
  }
  return { ...price, microsAnHour: Math.max(price.microsAnHour, microsAnHour) };
}

/** Refuses an end that the caller's most does not pay for. */
export function checkPaid(record: BootstrapRecord, path: string): void {
  const until = paidUntil(record);
  if (until === undefined || removeAtOf(record) <= until) return;
  const message = `would cost more than --max-cost ${amountText(record.price?.maxMicros ?? 0)}, which lasts until ${until}`;
  throw new Problem('bad-input', `${path} ${message}`, {
    errors: [{ path, message }],
    advice: 'Its owner can raise that: the same beta bootstrap-cloud command with a higher --max-cost.',
  });
}
