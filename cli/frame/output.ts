/** What the commands print, and where: results on stdout, everything else on stderr. Prose for people, or JSON lines. */
import pc from 'picocolors';
import { redacted } from '../../shared/bootstrap/options.js';
import { type Fault, Problem, problemKinds } from '../../shared/problems.js';
import type { SecretRedactor } from '../../shared/secret-redactor.js';
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
  /** Prints on stderr what went wrong, why, and what to do. `withoutFaults`: the result has named them. */
  problem(problem: Problem, withoutFaults?: boolean): void;
  /** While a progress display is up, it prints the lines. */
  through(display: ((line: string) => void) | undefined): void;
}

/** How people see a result. */
export interface Shown {
  readonly show?: ((style: Style) => string) | undefined;
  /** For programs: its lines are not broken. */
  readonly asIs?: boolean | undefined;
  /** Secrets that the command was asked for. They are printed. */
  readonly reveals?: readonly string[] | undefined;
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
  const { redactor } = settings;
  const { redact, redactExcept } = redactor;
  let display: ((line: string) => void) | undefined;
  const pieces = createPieces(redactor, (text) => {
    stdout.write(stdout.isTTY === true ? text.split('\n').map(printable).join('\n') : text);
  });
  const say = (text: string): void => {
    pieces.end();
    // Before lines are broken: a break would hide a secret from the redactor.
    for (const line of linesOf(redact(text), stderr)) {
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
    warn: (text) => say(`${style.yellow('Warning:')} ${printable(redact(text))}`),
    trace: (text) => {
      if (verbose) say(style.dim(`  ${printable(redact(text))}`));
    },
    event: (data) => {
      if (json) stdout.write(`${visibleJson(redact(data))}\n`);
    },
    piece: (text) => {
      if (!json) pieces.add(text);
    },
    result: (data, exitCode, { show, asIs = false, reveals = [] }) => {
      pieces.end();
      const shown = { type: 'result', exitCode, ...data };
      if (json) stdout.write(`${visibleJson(redactExcept(shown, reveals))}\n`);
      else if (show !== undefined) {
        const text = redactExcept(show(pc.createColors(coloured(stdout))), reveals);
        stdout.write(`${asIs ? programText(text, stdout) : linesOf(text, stdout).join('\n')}\n`);
      }
    },
    problem: (problem, withoutFaults = false) => {
      const { code, detail, advice, errors } = problem;
      const shown = redact({
        detail,
        ...(advice !== undefined && { advice }),
        ...(errors !== undefined && !withoutFaults && { errors }),
      });
      say(problemText(new Problem(code, shown.detail, shown), style));
    },
    through: (to) => {
      display = to;
    },
  };
}

/** So much of a secret tells something. */
const leastHalf = 4;

/** A text in pieces. What may be the beginning of a secret waits for the next one. */
function createPieces({ redact, shownLength }: SecretRedactor, write: (text: string) => void) {
  let held = '';
  return {
    add(text: string): void {
      const bytes = Buffer.from(held + text);
      const length = shownLength(bytes);
      held = bytes.subarray(length).toString();
      if (length > 0) write(redact(bytes.subarray(0, length).toString()));
    },
    end(): void {
      if (held !== '') write(held.length < leastHalf ? held : redacted);
      held = '';
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
