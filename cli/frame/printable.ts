/** Makes text from elsewhere safe to print: whoever wrote it, a person, a machine or Google. */
import { stripVTControlCharacters } from 'node:util';
import { visible } from '../../shared/visible-text.js';

/** Text from elsewhere must not move the cursor, colour the screen, turn the direction, or hide. */
export const printable = (text: string): string => visible(stripVTControlCharacters(text));

/** A line of the command line itself, which may be painted. What a command forgot to make printable is so afterwards. */
export const paintedLine = (line: string): string =>
  line
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these colours are our own
    .split(/(\t|\u001b\[[\d;]*m)/)
    .map((part, at) => (at % 2 === 1 ? part : printable(part)))
    .join('');
