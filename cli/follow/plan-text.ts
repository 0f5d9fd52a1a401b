/** A plan for people: what becomes of each thing, what it costs, and the hash to agree to. */

import { forecastText } from '../../shared/bootstrap/forecast-text.js';
import { type BootstrapOptions, flagName, isSecret, type Option, optionNames } from '../../shared/bootstrap/options.js';
import type { PlanDocument } from '../../shared/bootstrap/plan.js';
import type { PlanReply } from '../../shared/bootstrap/routes.js';
import { Problem } from '../../shared/problems.js';
import { planRows, writePlan } from '../files/plan-file.js';
import type { CommandContext } from '../frame/command.js';
import type { Style } from '../frame/output.js';
import { listing, table } from '../frame/table.js';
import { planCostText } from './cost-text.js';

/** Where the service does not answer, a dry run shows what the flags alone say. `--plan` writes nothing then. */
export async function planOrFlags(call: CommandContext, ask: () => Promise<PlanReply>, options: BootstrapOptions) {
  try {
    return showPlan(call, await ask());
  } catch (error) {
    const isAway = error instanceof Problem && error.code === 'unavailable';
    if (!isAway || call.word('plan') !== undefined || call.interrupted.aborted) throw error;
    return showFlags(call, options, error);
  }
}

/** What stands, what would be made and what it costs is the service's to say, so there is no hash. */
function showFlags({ given }: CommandContext, options: BootstrapOptions, { detail, advice }: Problem) {
  const values = optionNames.flatMap((option): [string, string][] => {
    const value = (options as Partial<Record<Option, unknown>>)[option];
    if (value === undefined || isSecret(option)) return [];
    return [[flagName(option), typeof value === 'string' ? value : JSON.stringify(value)]];
  });
  const secrets = optionNames.filter((option) => isSecret(option) && given[option] !== undefined).map(flagName);
  return {
    data: { dryRun: true, offline: true, values: Object.fromEntries(values), secrets },
    problem: new Problem(
      'unavailable',
      `${detail} This dry run knows only the flags: not what stands, what would be made, what it costs, or a hash.`,
      advice === undefined ? {} : { advice },
    ),
    show: (style: Style) =>
      [
        style.bold('What the flags say'),
        ...table(values),
        ...(secrets.length === 0 ? [] : ['', style.bold('Secrets'), ...table(secrets.map((name) => [name]))]),
      ].join('\n'),
  };
}

/** Writes the file that `--plan` names, too. */
export function showPlan(call: CommandContext, { instances, warnings, plan, changes = [], forecast, cost }: PlanReply) {
  const file = writePlan(call, plan);
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
          changes.map((change) => [change.option, changeText(change)]),
          style,
        ),
        `Cost: ${planCostText(cost)}`,
        ...(forecast === undefined ? [] : [`Time: ${forecastText(forecast)}`]),
        planEnd(plan, file),
      ].join('\n'),
  };
}

/** `4h → 8h` */
export function changeText({ from, to }: NonNullable<PlanReply['changes']>[number]): string {
  const text = (value: unknown) => (value === null || value === undefined ? 'not set' : String(value));
  return `${text(from)} → ${text(to)}`;
}

export const planEnd = ({ hash }: PlanDocument, file: string | undefined): string =>
  file === undefined ? `Plan: ${hash}` : `Plan: ${hash}, written to ${file}. --apply carries it out.`;
