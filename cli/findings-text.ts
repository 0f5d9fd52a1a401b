/** Findings of a preflight for people, grouped by verdict. */
import { type FindingState, findingStates, type PreflightFinding } from '../shared/bootstrap/preflight.js';
import { printable, type Style } from './frame/output.js';
import { table, time } from './frame/table.js';

const headings: Readonly<Record<FindingState, string>> = {
  stop: 'Stops it',
  warning: 'Warnings',
  unknown: 'Not known yet',
  ok: 'Fine',
};

/** Grouped by verdict, stops first. `more`: lines before the verdict on all. */
export function findingsText(
  findings: readonly PreflightFinding[],
  style: Style,
  more: readonly string[] = [],
): string {
  const stops = findings.filter(({ state }) => state === 'stop').length;
  return [
    ...findingGroups(findings, style),
    ...more,
    stops === 0 ? style.bold('Go.') : style.bold(`No go: ${stops} to mend first.`),
  ].join('\n');
}

/** An empty line after each group. */
export function findingGroups(findings: readonly PreflightFinding[], style: Style): string[] {
  const paint = { stop: style.red, warning: style.yellow, unknown: style.dim, ok: style.green };
  return findingStates.flatMap((state) => {
    const those = findings.filter((each) => each.state === state);
    if (those.length === 0) return [];
    const rows = table(those.map((each) => [each.title, each.code, `${each.what}${likelyText(each)}`]));
    return [
      `${paint[state](headings[state])} (${those.length})`,
      ...those.flatMap((each, index) => [rows[index] ?? '', ...notesOf(each)]),
      '',
    ];
  });
}

const likelyText = ({ likely }: PreflightFinding): string =>
  likely === undefined ? '' : ` (likely ${likely.state === 'ok' ? 'fine' : 'too little'}, as of ${time(likely.at)})`;

/** Of what is not known yet, only what can be done about it. */
const notesOf = ({ state, why, mend }: PreflightFinding): string[] =>
  [state === 'stop' || state === 'warning' ? why : undefined, state === 'ok' ? undefined : mend]
    .flatMap((text) => text?.split('\n') ?? [])
    .map((line) => `      ${printable(line)}`);
