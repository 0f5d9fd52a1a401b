/** Follows a bootstrap to its end: live on a terminal, line by line in a pipe, or event by event as JSON. */

import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { formatSeconds } from '../../shared/bootstrap/duration.js';
import type { StreamItem } from '../../shared/bootstrap/routes.js';
import { shellWord } from '../../shared/command-words.js';
import { Problem } from '../../shared/problems.js';
import type { FileKeeper } from '../files/file-keeper.js';
import { clip, widthOf } from '../frame/cells.js';
import type { CommandContext } from '../frame/command.js';
import { joinedSignal } from '../frame/joined-signal.js';
import { printable, type Style } from '../frame/output.js';
import { startDisplay } from '../frame/terminal.js';
import { uploadEnd, uploadLine, uploadRow, uploadTitle } from '../machines/upload-text.js';
import type { Uploader, UploadStep } from '../machines/uploader.js';
import type { Client } from '../service/client.js';
import { createLogLines } from './log-lines.js';
import { startPlainLines } from './plain-lines.js';
import { createProgress, type Progress, type Said, type Timing } from './progress.js';

export interface Followed {
  readonly view: BootstrapView;
  /** Slowest first. */
  readonly timings: readonly Timing[];
}

type Follower = Pick<CommandContext, 'io' | 'output' | 'interrupted' | 'given'>;

/** What this machine does for a bootstrap while following it. */
export interface Helper {
  readonly files?: Pick<FileKeeper, 'look' | 'rest'>;
  uploads?(tell: (step: UploadStep) => void): Uploader;
}

/** Throws a Problem with code `detached` when interrupted. The end, even a failure, is in the view. */
export async function followToEnd(
  { io, output, interrupted, given }: Follower,
  client: Client,
  view: BootstrapView,
  timer: boolean,
  helper?: Helper,
): Promise<Followed> {
  const progress = createProgress(view);
  const display = output.live ? startDisplay(io, output.style, progress) : undefined;
  if (display !== undefined) output.through((line) => display.line(line));
  const plain = output.live || output.json ? undefined : startPlainLines(progress, output.say);
  const say = (line: string, at?: string) => (plain === undefined ? output.say(line) : plain.line(line, at));
  const titles = new Map(view.instances.map(({ id, title }) => [id, title]));
  const log = createLogLines((id) => titles.get(id) ?? id, output.style, `${base} logs ${shellWord(view.name)}`);
  const uploads = helper?.uploads?.(teller(output, progress, display !== undefined, say));
  const ends = joinedSignal(interrupted, ...(uploads === undefined ? [] : [uploads.failed]));
  if (view.instances.some(({ state }) => state === 'client')) uploads?.look();
  try {
    for await (const item of client.follow(view.id, ends.signal)) {
      const said = progress.apply(item);
      if (item.type === 'instance' && item.state === 'client' && progress.current) uploads?.look();
      if (item.type === 'instance' && isConfig(item) && progress.current) helper?.files?.look();
      if (item.type === 'log') {
        // The run that followed an earlier generation has already shown its logs.
        if (given.sshQuiet === true || item.generation < view.generation) continue;
        if (output.json) output.event(item);
        else for (const line of log.of(item)) say(line, item.at);
        continue;
      }
      if (item.type === 'instance' && !output.json) for (const line of log.rest(item.instance)) say(line, item.at);
      if (output.json) {
        if (isWanted(item, progress.current, output.verbose)) output.event(item);
      } else if (said !== undefined) {
        const columns = display === undefined ? undefined : io.stderr.columns || 80;
        const line = lineOf(said, { output, columns, timer });
        // Progress is of this moment, whenever its instance began.
        if (line !== undefined) say(line, 'at' in item && item.type !== 'progress' ? item.at : undefined);
      }
    }
  } catch (error) {
    if (interrupted.aborted) throw detached(view.name, view.removal !== undefined);
    if (uploads?.failed.aborted) throw notBrought(uploads.failed.reason, view.name);
    throw error;
  } finally {
    ends.release();
    await uploads?.close();
    await helper?.files?.rest();
    plain?.stop();
    output.through(undefined);
    display?.stop();
  }
  return { view: await client.get(view.id), timings: progress.timings() };
}

/** From then on, the files of a datacenter can be fetched. */
const isConfig = ({ instance, state }: { readonly instance: string; readonly state: string }): boolean =>
  instance.startsWith('config:') && state === 'done';

/** Reports uploads at most once a second as JSON, and every ten seconds in a pipe. Retries and ends are always reported. */
function teller(output: Follower['output'], progress: Progress, live: boolean, say: (line: string) => void) {
  let toldAt = 0;
  return (step: UploadStep): void => {
    progress.beside(uploadTitle(step), uploadRow(step), Date.now());
    const end = uploadEnd(step);
    const rest = output.json ? 1000 : 10_000;
    const isDue = end !== undefined || step.state === 'trying again' || Date.now() - toldAt >= rest;
    if (!isDue) return;
    toldAt = Date.now();
    const { file, ...how } = step;
    if (output.json) output.event({ type: 'upload', name: file.name, sha256: file.sha256, ...how });
    else if (end !== undefined) say(end.replace('✓', output.style.green('✓')));
    else if (!live) say(uploadLine(step));
  };
}

function notBrought(error: unknown, name: string): unknown {
  if (!(error instanceof Problem)) return error;
  return new Problem(error.code, error.detail, {
    advice: [
      ...(error.advice === undefined ? [] : [error.advice]),
      `The bootstrap of ${name} waits for its files: the same command again brings them.`,
    ].join('\n'),
    cause: error,
  });
}

const isWanted = (item: StreamItem, current: boolean, verbose: boolean): boolean => {
  if (item.type === 'end' || item.type === 'forecast') return false;
  if (item.type === 'call') return verbose && current;
  return current || item.type === 'progress';
};

interface Manner {
  readonly output: Follower['output'];
  /** The width of the terminal on which a display already shows what is under way. */
  readonly columns: number | undefined;
  readonly timer: boolean;
}

function lineOf(said: Said, { output, columns, timer }: Manner): string | undefined {
  const { style, verbose } = output;
  switch (said.kind) {
    case 'ended': {
      const mark = said.state === 'done' || said.state === 'gone' ? style.green('✓') : style.yellow('–');
      if (said.state === 'client') {
        return `• ${printable(said.title)} waits for this machine: ${printable(said.note ?? '')}`;
      }
      const state = said.state === 'done' ? '' : ` ${said.state}`;
      const took = timer && said.seconds !== undefined ? ` ${style.dim(`(${formatSeconds(said.seconds)})`)}` : '';
      const head = `${mark} ${printable(said.title)}${state}${took}`;
      if (said.note === undefined) return head;
      // The summary has the whole of it.
      const room = columns === undefined ? undefined : Math.max(0, columns - widthOf(head) - 2);
      const note = room === undefined ? printable(said.note) : clip(said.note, room).trimEnd();
      return `${head}  ${style.dim(note)}`.trimEnd();
    }
    case 'failed': {
      // Advice of several lines is told at the end.
      const advice = said.advice === undefined || said.advice.includes('\n') ? '' : ` ${printable(said.advice)}`;
      return `${style.red('✗')} ${printable(said.title)}: ${printable(said.detail)}${advice}`;
    }
    case 'retry':
      if (verbose) return `↻ ${printable(said.title)}: tries again: ${printable(said.why)}`;
      return columns !== undefined || said.repeated
        ? undefined
        : `↻ ${printable(said.title)}: tries again: ${printable(said.short)}`;
    case 'under way':
      return columns !== undefined ? undefined : `… ${printable(said.title)}: ${printable(said.note)}`;
    case 'call':
      return verbose ? style.dim(`  ${printable(said.text)}`) : undefined;
    case 'warning':
      return `${style.yellow('!')} ${printable(said.text)} ${printable(said.advice)}`;
    case 'action':
      return `• ${printable(said.text)}`;
  }
}

/** How long each instance took, slowest first, as a table for `--timer`. */
export function timingTable(timings: readonly Timing[], style: Style): string {
  const width = Math.max(0, ...timings.map(({ title }) => title.length));
  return [
    style.bold('How long each took'),
    ...timings.map(({ title, seconds }) => `  ${printable(title).padEnd(width)}  ${formatSeconds(seconds)}`),
  ].join('\n');
}

const base = 'plinth beta bootstrap-cloud';

export const detached = (name: string, isGoing = false): Problem => {
  const follow = `Follow it: ${base} status ${shellWord(name)} --follow`;
  return new Problem('detached', `Detached: the ${isGoing ? 'removal' : 'bootstrap'} of ${name} goes on.`, {
    advice: isGoing ? follow : `${follow}\nCancel it: ${base} cancel ${shellWord(name)}`,
  });
};

/** The problem of an unsuccessful end. Undefined for a successful end, or if the bootstrap has not ended. */
export function problemOfEnd(view: BootstrapView): Problem | undefined {
  if (view.state === 'cancelled' && view.vmsStopped !== undefined) {
    const { why, advice } = view.vmsStopped;
    return new Problem('over-ceiling', `The bootstrap of ${view.name} was cancelled half-way. ${why}`, { advice });
  }
  if (view.state === 'cancelled') {
    return new Problem('bootstrap-failed', `The bootstrap of ${view.name} was cancelled; what stands, stands.`, {
      advice: 'Run the same command again to go on with it.',
    });
  }
  if (view.state === 'removal-failed') {
    return new Problem(
      'bootstrap-failed',
      `${view.name} could not be removed. ${view.problem?.detail ?? ''}`.trimEnd(),
      {
        advice: view.problem?.advice ?? 'It is tried again by itself.',
      },
    );
  }
  if (view.state !== 'failed') return undefined;
  const failed = view.instances.flatMap(({ id, title, problem }) =>
    problem === undefined ? [] : [{ id, title, problem }],
  );
  const why =
    failed.length === 0
      ? (view.problem?.detail ?? 'it says not why')
      : failed.map(({ title, problem }) => `${title}: ${problem.detail}`).join(' ');
  const advice = [...new Set(failed.flatMap(({ problem }) => problem.advice ?? []))];
  if (failed.length === 0 && view.problem?.advice !== undefined) advice.push(view.problem.advice);
  return new Problem('bootstrap-failed', `The bootstrap of ${view.name} failed. ${why}`, {
    advice: [
      ...advice,
      ...(advice.some((text) => /run the same command again/i.test(text))
        ? []
        : ['The same command again goes on from where it stopped.']),
    ].join('\n'),
  });
}
