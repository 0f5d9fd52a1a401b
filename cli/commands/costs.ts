/** `plinth costs`: what bootstraps have cost, by owner, team, project, day or month, for people and as CSV. */
import { CostDay, CostGroup, type CostsView } from '../../shared/bootstrap/costs.js';
import type { Fault } from '../../shared/problems.js';
import { type CommandContext, defineCommand } from '../frame/command.js';
import { refusal } from '../frame/required.js';
import { listing } from '../frame/table.js';

export const costs = defineCommand({
  description: [
    'Sums up what your bootstraps have cost so far, with those that were removed in the last 90 days. All amounts are estimates from list prices or those of this deployment. Days and months are in UTC.',
    'Every way to sum up comes to the same total. But --by team also counts what others have begun for your teams. What has no price is named, and is in no amount.',
  ],
  flags: {
    by: 'One row for each owner, team, project, day or month. (default: month)',
    from: 'The first day that counts, such as 2026-11-01.',
    to: 'The last day that counts.',
    all: "Everybody's, for operators.",
    csv: 'Print comma-separated values, with a header.',
  },
  examples: [
    'plinth costs',
    'plinth costs --by project --from 2026-11-01 --to 2026-11-30',
    'plinth costs --all --by owner --csv',
  ],

  async run(call) {
    const asked = askedOf(call);
    const client = await call.connect();
    const costs = await client.costs(asked);
    for (const each of costs.unknown)
      call.output.warn(`There is no price for ${each}: bootstraps with it are left out.`);
    return {
      data: { costs },
      asIs: call.has('csv'),
      show: (style) =>
        call.has('csv')
          ? csvOf(costs)
          : [
              listing(headOf(costs), rowsOf(costs, cents), style),
              '',
              `Total: ${cents(costs.total)} ${costs.currency} (estimate, oldest price of ${[costs.pricesAsOf, ...costs.notes].join('; ')})`,
            ].join('\n'),
    };
  },
});

function askedOf(call: CommandContext) {
  const [by, from, to] = [call.word('by')?.text ?? 'month', call.word('from')?.text, call.word('to')?.text];
  const faults: Fault[] = [...call.faults];
  const group = CostGroup.safeParse(by);
  if (!group.success) faults.push({ path: '--by', message: 'must be owner, team, project, day or month' });
  for (const [path, day] of [['--from', from] as const, ['--to', to] as const]) {
    if (day !== undefined && !CostDay.safeParse(day).success)
      faults.push({ path, message: 'must be a day such as 2026-11-01' });
  }
  if (faults.length > 0 || !group.success) throw refusal(faults);
  return { by: group.data, all: call.has('all'), from, to };
}

const headOf = ({ by, currency }: CostsView): string[] =>
  by === 'project' ? ['PROJECT', 'NAME', 'OWNER', currency] : [by.toUpperCase(), 'BOOTSTRAPS', currency];

/** People read cents. CSV and JSON have all decimals. */
const cents = (amount: string): string => Number(amount).toFixed(2);

const rowsOf = ({ by, rows }: CostsView, shown = (amount: string) => amount): string[][] =>
  rows.map(({ key, name = '', owner = '', bootstraps, amount }) =>
    by === 'project' ? [key, name, owner, shown(amount)] : [key, String(bootstraps), shown(amount)],
  );

/** RFC 4180. A spreadsheet takes a text that begins with one of these for a formula. */
const field = (text: string): string => {
  const harmless = /^(?:[=+@\t\r]|-.)/.test(text) ? `'${text}` : text;
  return /[",\r\n']/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
};

const csvOf = (costs: CostsView): string =>
  [headOf(costs).map((name) => name.toLowerCase()), ...rowsOf(costs)]
    .map((row) => row.map(field).join(','))
    .join('\r\n');
