/** Machine logs as a few dim lines with the title of their step. The full text stays in the logs. */
import type { LogEvent } from '../../shared/bootstrap/event.js';
import { printable, type Style } from '../frame/output.js';

export interface LogLines {
  /** Lines that are now complete. If there are many, only the last ones. */
  of(event: LogEvent): string[];
  /** The last unfinished line. */
  rest(instance: string): string[];
}

/** A log event of one instance arrives every two seconds. This is the most that one event may show. */
const mostLines = 10;
const longestLine = 400;

/** `command` shows the full log. */
export function createLogLines(titleOf: (instance: string) => string, style: Style, command: string): LogLines {
  const rests = new Map<string, string>();
  let hinted = false;
  const shown = (instance: string, line: string): string =>
    `  ${style.dim(`${printable(titleOf(instance))} │ ${printable(cut(line))}`)}`;
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

/** Progress bars redraw one line many times. Only the last version counts. */
const lastDrawn = (line: string): string =>
  line
    .split('\r')
    .findLast((part) => part.trim() !== '')
    ?.trimEnd() ?? '';

const cut = (line: string): string => (line.length > longestLine ? `${line.slice(0, longestLine)}…` : line);
