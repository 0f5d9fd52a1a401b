/** What a run has measured so far: for people as a table at its end, for programs as JSON at any moment. */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, resolve } from 'node:path';
import { columns, isFigure, isGap, isMissed, type Row, ratioOf } from './figures.js';

export interface Result {
  readonly name: string;
  readonly rows: Row[];
  seconds: number;
}

/** Within what git ignores. */
export const resultsFile = resolve('dist/bench-results.json');

export const documentOf = (results: readonly Result[]): string =>
  JSON.stringify(
    {
      at: new Date().toISOString(),
      machine: { cores: availableParallelism(), node: process.version },
      results: results.map(({ name, seconds, rows }) => ({
        name,
        seconds,
        figures: rows.filter(isFigure).map((figure) => ({ ...figure, ratio: ratioOf(figure) })),
        gaps: rows.filter(isGap),
      })),
    },
    null,
    2,
  );

/** The file is whole at any moment, so that a run that is killed keeps what it has measured. */
export function writeResults(results: readonly Result[]): void {
  mkdirSync(dirname(resultsFile), { recursive: true });
  writeFileSync(`${resultsFile}.new`, `${documentOf(results)}\n`);
  renameSync(`${resultsFile}.new`, resultsFile);
}

export const failuresOf = (rows: readonly Row[]): number =>
  rows.filter((row) => isGap(row) && row.kind === 'failed').length;

/** How long each measurement took, and where to look. */
export function summaryOf(results: readonly Result[]): string {
  const lines = results.map(({ name, seconds, rows }) => {
    const figures = rows.filter(isFigure);
    const leftOut = rows.filter((row) => isGap(row) && row.kind === 'left out').length;
    const counts = [figures.length, figures.filter(isMissed).length, leftOut, failuresOf(rows)];
    return [name, `${seconds.toFixed(0)} s`, ...counts.map(String)];
  });
  const all = results.reduce((sum, { seconds }) => sum + seconds, 0);
  return columns([
    ['measurement', 'took', 'figures', 'aims missed', 'left out', 'failed'],
    ...lines,
    ['all', `${all.toFixed(0)} s`, '', '', '', ''],
  ]);
}
