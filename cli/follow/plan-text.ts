/** A plan for people: what becomes of each thing, what it costs, and the hash to agree to. */
import type { PlanDocument } from '../../shared/bootstrap/plan.js';
import type { PlanReply } from '../../shared/bootstrap/routes.js';
import { planCostText } from '../cost.js';
import { planRows, writePlan } from '../files/plan-file.js';
import type { Call } from '../frame/command.js';
import type { Style } from '../frame/output.js';
import { listing, table } from '../frame/table.js';
import { forecastText } from './forecast-text.js';

/** Writes the file that `--plan` names, too. */
export function showPlan(call: Call, { instances, warnings, plan, changes = [], forecast, cost }: PlanReply) {
  const file = writePlan(call, plan);
  const text = (value: unknown) => (value === null || value === undefined ? 'not set' : String(value));
  const part = (title: string, rows: readonly (readonly string[])[], style: Style) =>
    rows.length === 0 ? [] : [style.bold(title), ...table(rows), ''];
  return {
    data: {
      dryRun: true,
      instances,
      warnings,
      plan,
      changes,
      ...(forecast !== undefined && { forecast }),
      cost,
      ...(file !== undefined && { file }),
    },
    show: (style: Style) =>
      [
        listing(['ACTION', 'WHAT', 'THINGS'], planRows(plan), style),
        '',
        ...part(
          'Secrets',
          plan.secrets.map(({ name, action }) => [action, name]),
          style,
        ),
        ...part(
          'Options',
          changes.map(({ option, from, to }) => [option, `${text(from)} → ${text(to)}`]),
          style,
        ),
        `Cost: ${planCostText(cost)}`,
        ...(forecast === undefined ? [] : [`Time: ${forecastText(forecast)}`]),
        planEnd(plan, file),
      ].join('\n'),
  };
}

export const planEnd = ({ hash }: PlanDocument, file: string | undefined): string =>
  file === undefined ? `Plan: ${hash}` : `Plan: ${hash}, written to ${file}. --apply carries it out.`;
