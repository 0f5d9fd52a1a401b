/** The lines of a pipe: each with its time since this run began. Where nothing is said for a while, one tells what is under way. */
import { formatSeconds } from '../../shared/bootstrap/duration.js';
import { printable } from '../frame/output.js';
import type { Progress } from './progress.js';

/** A reader of a pipe, and whatever ends silent programs, waits no longer for a sign of life. */
const silenceMs = 10_000;

export interface PlainLines {
  /** `at`: when that happened, by the service's clock. Default: now. */
  line(text: string, at?: string): void;
  stop(): void;
}

export function startPlainLines(progress: Progress, say: (line: string) => void): PlainLines {
  let saidAtMs = Date.now();
  const line = (text: string, at?: string): void => {
    saidAtMs = Date.now();
    const ms = (at === undefined ? saidAtMs : Date.parse(at)) - progress.begunAtMs;
    say(`[${formatSeconds(Math.max(0, Math.floor(ms / 1000)))}] ${text}`);
  };
  const timer = setInterval(() => {
    if (Date.now() - saidAtMs >= silenceMs) line(stillText(progress, Date.now()));
  }, 1000);
  return { line, stop: () => clearInterval(timer) };
}

/** `still: Secrets dc1, 60 s`: what is under way for longest. */
function stillText(progress: Progress, nowMs: number): string {
  const [longest, ...others] = progress.running(nowMs).sort((a, b) => b.seconds - a.seconds);
  if (longest === undefined) return `still: ${progress.done} of ${progress.total} done`;
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  return `still: ${printable(longest.title)}, ${Math.floor(longest.seconds)} s${more}`;
}
