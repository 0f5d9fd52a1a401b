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
}

/** What was not measured. It stands in the place of the figures, so that nobody misses them silently. */
export interface Gap {
  readonly name: string;
  readonly why: string;
  /** `left out`: this machine lacks what it needs. */
  readonly kind: 'failed' | 'left out';
}

export type Row = Figure | Gap;

export const isGap = (row: Row): row is Gap => 'why' in row;
export const isFigure = (row: Row): row is Figure => !isGap(row);

export interface Measurement {
  readonly name: string;
  readonly title: string;
  /** A heap as a function has it. Without a limit, V8 lets garbage lie where there is room. None with `--count`. */
  readonly heapMebibytes?: number;
  /** After so long it is ended, and keeps what it has measured until then. */
  readonly mostSeconds: number;
  /**
   * Each row as soon as it is known. `say` shows how far it is. `count`: how many, of what the measurement says, where that is
   * not to be as usual.
   */
  measure(say: (text: string) => void, count?: number): AsyncIterable<Row>;
}

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A part of a measurement: if it fails, a row tells why, and the other parts are measured all the same. */
export async function* part(name: string, measure: () => Promise<readonly Row[]>): AsyncGenerator<Row> {
  try {
    yield* await measure();
  } catch (error) {
    yield { name, why: reasonOf(error), kind: 'failed' };
  }
}

export const ratioOf = ({ value, baseline }: Figure): number | undefined =>
  baseline === undefined ? undefined : value / baseline.value;

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

export function isMissed(figure: Figure): boolean {
  const { aim, atLeast } = figure;
  const ratio = ratioOf(figure) ?? Number.NaN;
  return (aim !== undefined && !(ratio <= aim)) || (atLeast !== undefined && !(ratio >= atLeast));
}

function aimText(figure: Figure): string {
  const { aim, atLeast } = figure;
  const text = atLeast !== undefined ? `≥ ${atLeast}` : aim !== undefined ? `≤ ${aim}` : '';
  return isMissed(figure) ? `${text} MISSED` : text;
}

function cellsOf(figure: Figure): string[] {
  const { name, value, unit, baseline } = figure;
  const ratio = ratioOf(figure);
  return [
    name,
    shown(value, unit),
    baseline === undefined ? '' : `${baseline.name}: ${shown(baseline.value, baseline.unit)}`,
    ratio === undefined ? '' : ratio.toFixed(ratio < 0.1 ? 4 : 2),
    aimText(figure),
  ];
}

/** For people: in columns. */
export function columns(rows: readonly (readonly string[])[]): string {
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

/** One line a figure, and beneath them one line a gap. */
export function tableOf(rows: readonly Row[]): string {
  const gaps = rows.filter(isGap);
  const figures = rows.filter(isFigure);
  return [
    ...(figures.length === 0
      ? []
      : [columns([['figure', 'value', 'baseline', 'ratio', 'aim'], ...figures.map(cellsOf)])]),
    ...gaps.map(({ name, why, kind }) => `${name}: ${kind.toUpperCase()}: ${why}`),
  ].join('\n');
}
