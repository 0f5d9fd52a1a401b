/** The progress display of a terminal: a line for each running instance and one bar for all, redrawn in place. */
import { formatSeconds } from '../../shared/bootstrap/duration.js';
import type { Progress } from '../follow/progress.js';
import { clip, widthOf } from './cells.js';
import type { Io } from './io.js';
import type { Style } from './output.js';

export interface Display {
  /** Prints a line above the display. */
  line(text: string): void;
  stop(): void;
}

const frameMs = 100;
const spinner = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const [hideCursor, showCursor, toLineEnd, toScreenEnd] = ['\u001b[?25l', '\u001b[?25h', '\u001b[K', '\u001b[J'];
/** Terminals that know these two sequences show everything between them at once. */
const [beginFrame, endFrame] = ['\u001b[?2026h', '\u001b[?2026l'];

/** After a line that fills its row, the cursor is still on the last cell. Clearing the rest would erase that cell. */
const restOfLine = (line: string, columns: number): string => {
  const width = widthOf(line);
  return width > 0 && width % columns === 0 ? '' : toLineEnd;
};

export function startDisplay({ stderr: stream, events }: Io, style: Style, progress: Progress): Display {
  const startedAt = Date.now();
  let drawn: string[] = [];
  let drawnText = '';

  const size = () => ({ columns: Math.max(stream.columns || 80, 20), rows: Math.max(stream.rows || 24, 4) });
  /** Moves to the first cell of what was drawn. Lines may have wrapped since, if the window was made narrower. */
  const toTop = (): string => {
    const { columns } = size();
    const rows = drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / columns)), 0);
    return rows === 0 ? '' : `\u001b[${rows}A\r`;
  };

  const frame = (): string[] => {
    const { columns: width, rows } = size();
    const columns = width - 1;
    const now = Date.now();
    const turn = spinner[Math.floor((now - startedAt) / frameMs) % spinner.length] ?? '';
    const running = progress.running(now);
    const room = Math.max(1, rows - 3);
    const shown = running.length > room ? running.slice(0, room - 1) : running;
    const titles = Math.min(Math.max(0, ...shown.map(({ title }) => widthOf(title))), Math.floor(columns * 0.4));
    const lines = shown.map(({ title, note, retry, seconds }) => {
      const time = formatSeconds(Math.floor(seconds));
      const what = retry === undefined ? (note ?? '') : `tries again: ${retry}`;
      const middle = columns - titles - time.length - 8;
      return `  ${style.cyan(turn)} ${clip(title, titles)}  ${style.dim(clip(what, Math.max(middle, 0)))}  ${time}`;
    });
    if (shown.length < running.length) lines.push(style.dim(`    and ${running.length - shown.length} more`));
    return [...lines, bar(columns, Math.max(0, now - progress.begunAtMs) / 1000)];
  };

  const bar = (columns: number, seconds: number): string => {
    const { done, total } = progress;
    const whole = `${done}/${total}  ${formatSeconds(Math.floor(seconds))}`;
    const left = leftText(progress.ready, Date.now());
    const count = whole.length + left.length + 4 <= columns ? `${whole}${left}` : whole;
    const width = Math.max(0, Math.min(40, columns - count.length - 7));
    const filled = total === 0 ? 0 : Math.floor((done / total) * width);
    return `  ${style.green('█'.repeat(filled))}${style.dim('░'.repeat(width - filled))}  ${count}`;
  };

  const draw = (above: string[] = []): void => {
    const lines = frame();
    const text = lines.join('\n');
    if (above.length === 0 && text === drawnText) return;
    const { columns } = size();
    const all = [...above, ...lines].map((line) => `${line}${restOfLine(line, columns)}\n`).join('');
    stream.write(`${beginFrame}${toTop()}${all}${toScreenEnd}${endFrame}`);
    [drawn, drawnText] = [lines, text];
  };

  stream.write(hideCursor);
  const timer = setInterval(draw, frameMs);
  const restore = () => stream.write(showCursor);
  events.once('exit', restore);
  draw();
  return {
    line: (text) => draw([text]),
    stop() {
      clearInterval(timer);
      events.off('exit', restore);
      stream.write(`${toTop()}${toScreenEnd}${showCursor}`);
      drawn = [];
    },
  };
}

/** `  about 8m left, nine in ten within 12m`: seconds in the last minute and a half, and nothing once it takes longer than it ever should. */
function leftText(ready: Progress['ready'], nowMs: number): string {
  if (ready === undefined || ready.p90Ms - nowMs < 1000) return '';
  const text = (ms: number) => (ms < 90_000 ? `${Math.max(1, Math.round(ms / 1000))}s` : `${Math.round(ms / 60_000)}m`);
  const [left, most] = [ready.p50Ms - nowMs, text(ready.p90Ms - nowMs)];
  if (left < 1000) return `  nine in ten within ${most}`;
  return `  about ${text(left)} left${text(left) === most ? '' : `, nine in ten within ${most}`}`;
}
