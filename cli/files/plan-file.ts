/** Plans in files: written by `--plan`, agreed to by `--apply`. They hold no secret. */
import type { LocalOptions } from '../../shared/bootstrap/options.js';
import {
  hashOf,
  PlanDocument as Plan,
  type PlanDocument,
  planDifferences,
  progressOf,
  unhidden,
} from '../../shared/bootstrap/plan.js';
import { shellWord } from '../../shared/command-words.js';
import { type Fault, Problem } from '../../shared/problems.js';
import type { CommandContext } from '../frame/command.js';
import { refusal } from '../frame/required.js';
import { expandHome, homePlaceOf, openMode, placeOf, reason, whyUnwritable, writeWhole } from './files.js';
import { readGivenText } from './given-text.js';
import { newKeyFaults } from './kept-places.js';

/** Throws `bad-input` if the file is no plan of this kind, or was changed by hand. Undefined: no `--apply` was given. */
export function readPlan(call: CommandContext, kind: PlanDocument['kind']): PlanDocument | undefined {
  const word = call.word('apply');
  if (word === undefined) return undefined;
  const refused = (message: string) =>
    refusal([...call.faults, { path: '--apply', message: `${word.text}: ${message}` }]);
  if (call.has('dry-run') || call.word('plan') !== undefined) throw refused('goes with neither --dry-run nor --plan');
  let given: unknown;
  try {
    given = JSON.parse(readGivenText(homePlaceOf(word.text, call.settings)));
  } catch (error) {
    throw refused(error instanceof SyntaxError ? 'cannot be read as JSON' : reason(error));
  }
  const read = Plan.safeParse(given);
  if (!read.success || read.data.kind !== kind) throw refused(`is no plan of a ${kind}, as --plan writes it`);
  if (hashOf(read.data) !== read.data.hash) throw refused('does not fit its hash: it was changed after it was written');
  return read.data;
}

/** Why the plan cannot be written, found before the service is asked for it. `local`: of a bootstrap, whose key it keeps. */
export function planFaults({ word, given, settings }: CommandContext, local?: LocalOptions): Fault[] {
  const { text } = word('plan') ?? {};
  if (text === undefined) return [];
  const why = text === '' ? 'it has no name' : whyUnwritable(homePlaceOf(text, settings));
  const own = why === undefined ? [] : [{ path: '--plan', message: `${text} cannot be written: ${why}`.trimStart() }];
  if (local === undefined) return own;
  return [...own, ...newKeyFaults({ given, local }, settings)];
}

/** Where it was written. Undefined: no `--plan` was given. */
export function writePlan(call: CommandContext, plan: PlanDocument): string | undefined {
  const word = call.word('plan');
  if (word === undefined) return undefined;
  const path = expandHome(word.text, call.settings.home);
  writeWhole(placeOf(path, call.settings), `${JSON.stringify(plan, undefined, 2)}\n`, openMode);
  return path;
}

/** Turns the refusal of a plan that no longer fits into one that names each difference. */
export function differing(error: unknown, planned: PlanDocument | undefined): unknown {
  if (!(error instanceof Problem) || error.code !== 'precondition-failed' || planned === undefined) return error;
  const now = Plan.safeParse(error.members?.['plan']);
  if (!now.success) return error;
  return noLongerFits(planned, unhidden(planned, now.data));
}

export function noLongerFits(planned: PlanDocument, now: PlanDocument): Problem {
  const progress = progressOf(planned, now);
  if (progress === undefined) {
    return new Problem('precondition-failed', 'The plan no longer fits, so nothing was done.', {
      errors: planDifferences(planned, now),
      advice: 'Look at the plan again with --dry-run --plan FILE, and apply that one.',
      members: { plan: now },
    });
  }
  const status = `plinth beta bootstrap-cloud status ${shellWord(now.name)}`;
  return progress === 'done'
    ? new Problem('precondition-failed', 'This plan has been carried out, so nothing was done.', {
        advice: `See the project: ${status}`,
        members: { plan: now },
      })
    : new Problem('precondition-failed', 'This plan has been begun and is not finished, so nothing was done.', {
        advice: `See how far it is: ${status}. To resume it, run the command without --apply.`,
        members: { plan: now },
      });
}

/** A table: what becomes of each thing. */
export const planRows = ({ items }: PlanDocument): string[][] =>
  items.flatMap(({ action, title, what }) =>
    (what.length === 0 ? [''] : what).map((thing, i) => (i === 0 ? [action, title, thing] : ['', '', thing])),
  );
