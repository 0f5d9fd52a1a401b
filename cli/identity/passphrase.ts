/** Asks for a passphrase on the terminal without showing it. */
import type { Io } from '../frame/io.js';

const [enter, backspace, interrupt, endOfText] = ['\r\n', '\u007f\b', '\u0003', '\u0004'];

/** Undefined on Ctrl-C. In raw mode a terminal passes Ctrl-C on as a key. */
export function askPassphrase(question: string, { stdin, stderr }: Io): Promise<string | undefined> {
  // Set raw mode first, because an answer may come at once.
  stdin.setRawMode?.(true);
  stdin.setEncoding('utf8').resume();
  stderr.write(question);
  return new Promise((resolve) => {
    let typed = '';
    const end = (answer: string | undefined): void => {
      stdin.off('data', hear);
      stdin.setRawMode?.(false);
      stdin.pause();
      stderr.write('\n');
      resolve(answer);
    };
    const hear = (keys: string): void => {
      for (const key of keys) {
        if (enter.includes(key)) end(typed);
        else if (key === interrupt || (key === endOfText && typed === '')) end(undefined);
        else if (backspace.includes(key)) typed = [...typed].slice(0, -1).join('');
        else typed += key;
      }
    };
    stdin.on('data', hear);
  });
}
