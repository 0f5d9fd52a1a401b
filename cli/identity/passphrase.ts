/** Asks for a passphrase on the terminal, unseen. */
import type { Io } from '../frame/io.js';

const [enter, backspace, interrupt, endOfText] = ['\r\n', '\u007f\b', '\u0003', '\u0004'];

/** Undefined on Ctrl-C, which a terminal in this mode passes on as a key. */
export function askPassphrase(question: string, { stdin, stderr }: Io): Promise<string | undefined> {
  // First the mode: an answer may come at once.
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
