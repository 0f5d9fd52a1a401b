/** What jobs say on machines, as a few dim lines with the title of their step; the rest is in the logs. */
import type { LogEvent } from '../../shared/bootstrap/event.js';
import { printable, type Style } from '../frame/output.js';

export interface LogLines {
  /** Lines that are whole now: the last ones, where it is much. */
  of(event: LogEvent): string[];
  /** What it said last, without an end of line. */
  rest(instance: string): string[];
}

/** Of one instance at once, which is every two seconds. */
const mostLines = 10;
const longestLine = 400;

/** `command` shows all of it. */
export function createLogLines(titleOf: (instance: string) => string, style: Style, command: string): LogLines {
  const rests = new Map<string, string>();
  let hinted = false;
  const shown = (instance: string, line: string): string =>
    style.dim(`  ${printable(titleOf(instance))} │ ${printable(cut(line))}`);
  const leftOut = (instance: string, what: string): string => {
    const where = hinted ? '' : ` (all of it: ${command})`;
    hinted = true;
    return shown(instance, `… ${what} left out${where}`);
  };

  return {
    of({ instance, text, skipped = 0 }) {
      const pieces = `${skipped > 0 ? '' : (rests.get(instance) ?? '')}${text}`.split('\n');
      const rest = pieces.pop() ?? '';
      rests.set(instance, rest.slice(-longestLine));
      const lines = pieces.map(lastDrawn).filter((line) => line !== '');
      const told = lines.slice(-mostLines).map((line) => shown(instance, line));
      const untold = lines.length - told.length;
      if (skipped > 0) return [leftOut(instance, `${Math.ceil(skipped / 1024)} KiB`), ...told];
      return untold === 0 ? told : [leftOut(instance, untold === 1 ? '1 line' : `${untold} lines`), ...told];
    },
    rest(instance) {
      const line = lastDrawn(rests.get(instance) ?? '');
      rests.delete(instance);
      return line === '' ? [] : [shown(instance, line)];
    },
  };
}

/** Progress bars draw one line over and over. */
const lastDrawn = (line: string): string =>
  line
    .split('\r')
    .findLast((part) => part.trim() !== '')
    ?.trimEnd() ?? '';

const cut = (line: string): string => (line.length > longestLine ? `${line.slice(0, longestLine)}…` : line);
