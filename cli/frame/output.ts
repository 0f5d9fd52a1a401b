/** What the commands print, and where: results on stdout, everything else on stderr. Prose for people, or JSON lines. */
import pc from 'picocolors';
import { type Fault, type Problem, problemKinds } from '../../shared/problems.js';
import { visibleJson } from '../../shared/visible-text.js';
import type { Settings } from '../settings.js';
import type { OutputStream } from './io.js';
import { paintedLine, printable } from './printable.js';
import { wrapLine } from './wrap-line.js';

export { printable } from './printable.js';

export type Style = ReturnType<typeof pc.createColors>;

export interface Output {
  readonly json: boolean;
  readonly verbose: boolean;
  /** The style of stderr. */
  readonly style: Style;
  /** stderr is a terminal on which a progress display can be drawn. */
  readonly live: boolean;
  /** Prints a line on stderr. */
  say(text: string): void;
  warn(text: string): void;
  /** Only with `--verbose`. */
  trace(text: string): void;
  /** Prints one line of JSON on stdout. Only with `--json`. */
  event(data: object): void;
  /** Prints a piece of a long result on stdout as it arrives. Prints nothing with `--json`. */
  piece(text: string): void;
  /** Prints the result on stdout, as prose or as JSON. */
  result(data: Readonly<Record<string, unknown>>, exitCode: number, shown: Shown): void;
  /** Prints on stderr what went wrong, why, and what to do. */
  problem(problem: Problem): void;
  /** While a progress display is up, it prints the lines. */
  through(display: ((line: string) => void) | undefined): void;
}

/** How people see a result. */
export interface Shown {
  readonly show?: ((style: Style) => string) | undefined;
  /** For programs: its lines are not broken. */
  readonly asIs?: boolean | undefined;
}

export interface OutputParts {
  readonly settings: Settings;
  readonly json: boolean;
  readonly verbose: boolean;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
}

export function createOutput({ settings, json, verbose, stdout, stderr }: OutputParts): Output {
  const coloured = (stream: OutputStream) => stream.isTTY === true && !settings.noColor && !settings.dumbTerminal;
  const style = pc.createColors(coloured(stderr));
  let display: ((line: string) => void) | undefined;
  const say = (text: string): void => {
    for (const line of linesOf(text, stderr)) {
      if (display === undefined) stderr.write(`${line}\n`);
      else display(line);
    }
  };
  return {
    json,
    verbose,
    style,
    live: stderr.isTTY === true && !settings.dumbTerminal && !json,
    say,
    warn: (text) => say(`${style.yellow('Warning:')} ${printable(text)}`),
    trace: (text) => {
      if (verbose) say(style.dim(`  ${printable(text)}`));
    },
    event: (data) => {
      if (json) stdout.write(`${visibleJson(data)}\n`);
    },
    piece: (text) => {
      if (!json) stdout.write(stdout.isTTY === true ? text.split('\n').map(printable).join('\n') : text);
    },
    result: (data, exitCode, { show, asIs = false }) => {
      if (json) stdout.write(`${visibleJson({ type: 'result', exitCode, ...data })}\n`);
      else if (show !== undefined) {
        const text = show(pc.createColors(coloured(stdout)));
        stdout.write(`${asIs ? programText(text, stdout) : linesOf(text, stdout).join('\n')}\n`);
      }
    },
    problem: (problem) => {
      say(problemText(problem, style));
    },
    through: (to) => {
      display = to;
    },
  };
}

/** On a terminal, lines fit its width. */
const linesOf = (text: string, { isTTY, columns = 0 }: OutputStream): string[] =>
  text
    .split('\n')
    .map(paintedLine)
    .flatMap((line) => (isTTY === true && columns > 0 ? wrapLine(line, columns) : [line]));

/** A program gets each byte. */
const programText = (text: string, { isTTY }: OutputStream): string =>
  isTTY === true ? text.split('\n').map(paintedLine).join('\n') : text;

function problemText(problem: Problem, style: Style): string {
  const errors = problem.errors ?? [];
  // The person asked to detach, so it is no error.
  const label = problem.kind.exit === problemKinds.detached.exit ? '' : `${style.red('Error:')} `;
  const head = `${label}${problem.kind.title}.`;
  // Leave out a detail that only repeats the faults.
  const repeats =
    errors.length > 0 &&
    errors.every(({ path, message }) => problem.detail.includes(path) && problem.detail.includes(message));
  return [
    ...(repeats ? [head] : [`${label}${printable(problem.detail)}`]),
    ...errors.map((fault) => `  ${faultText(fault)}`),
    ...(problem.advice === undefined ? [] : problem.advice.split('\n').map(printable)),
  ].join('\n');
}

const faultText = ({ path, message }: Fault): string => printable(`${path} ${message}`);
