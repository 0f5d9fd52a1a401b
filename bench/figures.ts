/** What a measurement brings home: figures, each beside what it is to be judged by. */

export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** Measured in the same run, on the same machine: what makes the value mean something elsewhere. */
  readonly baseline?: { readonly name: string; readonly value: number; readonly unit: string };
  /** The ratio shall be at most this. */
  readonly aim?: number;
  /** Or at least this: more is better. */
  readonly atLeast?: number;
  /** The ratio to the same figure of an earlier release shall be at most this. */
  readonly aimBeside?: number;
}

export interface Measurement {
  readonly name: string;
  readonly title: string;
  /** It is run in the earlier release, too, if one is named. */
  readonly isBeside?: boolean;
  /** `say` shows how far it is. `count`: how many, of what the measurement says, where that is not to be as usual. */
  measure(say: (text: string) => void, count?: number): Promise<readonly Figure[]>;
}

export const ratioOf = ({ value, baseline }: Figure): number | undefined =>
  baseline === undefined ? undefined : value / baseline.value;

/** The figures that both releases have. `release`: what the earlier one is called. */
export const besideRelease = (now: readonly Figure[], then: readonly Figure[], release: string): Figure[] =>
  now.flatMap(({ name, value, unit, aimBeside }) => {
    const before = then.find((each) => each.name === name);
    if (before === undefined) return [];
    const baseline = { name: `of ${release}`, value: before.value, unit };
    return [{ name: `${name}, again`, value, unit, baseline, ...(aimBeside === undefined ? {} : { aim: aimBeside }) }];
  });

/** Nearest rank; `share` is 0.5 for the median. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}
export const median = (values: readonly number[]): number => quantile(values, 0.5);

const shown = (value: number, unit: string): string => {
  const digits = Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0;
  return `${Number.isInteger(value) ? value : value.toFixed(digits)} ${unit}`.trim();
};

function aimText(figure: Figure): string {
  const { aim, atLeast } = figure;
  const ratio = ratioOf(figure);
  if (atLeast !== undefined) return `≥ ${atLeast}${ratio === undefined || ratio < atLeast ? ' MISSED' : ''}`;
  return aim === undefined ? '' : `≤ ${aim}${ratio === undefined || ratio > aim ? ' MISSED' : ''}`;
}

/** For people: one line a figure, in columns. */
export function tableOf(figures: readonly Figure[]): string {
  const rows = [
    ['figure', 'value', 'baseline', 'ratio', 'aim'],
    ...figures.map((figure) => {
      const { name, value, unit, baseline } = figure;
      const ratio = ratioOf(figure);
      return [
        name,
        shown(value, unit),
        baseline === undefined ? '' : `${baseline.name}: ${shown(baseline.value, baseline.unit)}`,
        ratio === undefined ? '' : ratio.toFixed(ratio < 0.1 ? 4 : 2),
        aimText(figure),
      ];
    }),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
