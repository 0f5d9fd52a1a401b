/** Makes text from elsewhere safe to print. */
import { stripVTControlCharacters } from 'node:util';

/** Text from elsewhere must not move the cursor or colour the screen. */
export const printable = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  stripVTControlCharacters(text).replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');
