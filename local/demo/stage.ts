/**
 * Where the demo speaks. It tells each phase as it begins. In a pipe it gives a sign of life at least every fifteen seconds. On
 * a terminal a countdown stays on one line.
 */

export interface Stage {
  /** People watch it on a terminal. */
  readonly live: boolean;
  say(text?: string): void;
  phase(title: string): void;
  /** A command as somebody would type it. */
  command(text: string): void;
  /** Something that was looked at. Returns a sentence for each that is not so. */
  looked(good: boolean, what: string, fault?: string): readonly string[];
  /** What goes on now: on a terminal in place of what was told last. */
  now(text: string): void;
  /** plinth has the terminal, or tells by itself. */
  quiet<T>(run: () => Promise<T>): Promise<T>;
  close(): void;
}

type Out = Pick<NodeJS.WriteStream, 'write' | 'isTTY' | 'columns'>;

/** `silenceMs`: after so long without a word comes a sign of life. It is well within fifteen seconds, also where a second is late. */
export function createStage(out: Out = process.stdout, silenceMs = 10_000): Stage {
  const live = out.isTTY === true;
  const colour = live && (process.env['NO_COLOR'] ?? '') === '';
  const paint = (code: number, text: string): string => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);
  let saidAtMs = Date.now();
  let [title, titleAtMs, isQuiet, passing] = ['the beginning', Date.now(), false, ''];
  const write = (text: string): void => {
    saidAtMs = Date.now();
    out.write(text);
  };
  const clear = (): string => (passing === '' ? '' : '\r\u001b[K');
  const say = (text = ''): void => {
    const lines = text.split('\n').flatMap((line) => (live ? wrapped(line, out.columns || 80) : [line]));
    write(`${clear()}${lines.join('\n')}\n`);
    passing = '';
  };
  const timer = setInterval(() => {
    if (live || isQuiet || Date.now() - saidAtMs < silenceMs) return;
    say(`still: ${title}, ${Math.floor((Date.now() - titleAtMs) / 1000)} s`);
  }, silenceMs / 10);
  timer.unref();
  return {
    live,
    say,
    phase(text) {
      [title, titleAtMs] = [text, Date.now()];
      const rule = '─'.repeat(Math.max(3, Math.min(out.columns || 80, 80) - text.length - 4));
      say();
      write(`${paint(1, live ? `── ${text} ${rule}` : `── ${text}`)}\n`);
    },
    command: (text) => say(`$ ${text}`),
    looked(good, what, fault = what) {
      say(`  ${good ? '✓' : '✗'} ${what}`);
      return good ? [] : [fault];
    },
    now(text) {
      // In a pipe the sign of life is enough.
      if (!live || text === passing) return;
      write(`${clear()}  ${text}`);
      passing = text;
    },
    async quiet(run) {
      isQuiet = true;
      try {
        return await run();
      } finally {
        [isQuiet, saidAtMs] = [false, Date.now()];
      }
    },
    close: () => clearInterval(timer),
  };
}

/** Between words, and beneath the beginning of the line. */
function wrapped(line: string, columns: number): string[] {
  const indent = ' '.repeat(line.length - line.trimStart().length);
  const lines: string[] = [];
  let rest = line;
  while (rest.length > columns) {
    const at = rest.lastIndexOf(' ', columns);
    if (at <= indent.length) break;
    lines.push(rest.slice(0, at));
    rest = `${indent}  ${rest.slice(at + 1)}`;
  }
  return [...lines, rest];
}
