/** Which command is meant. cac sees the words and the usage of commands, and never a flag's value. */
import { cac } from 'cac';
import { nearest } from '../../shared/nearest.js';
import type { CommandName } from './command.js';

export interface Registry<C extends CommandName> {
  /** The command that the words begin with. The rest of the words are its arguments. */
  match(words: readonly string[]): Match<C> | undefined;
  /** The commands that begin with these words. */
  group(words: readonly string[]): readonly C[];
}

export interface Match<C extends CommandName> {
  readonly command: C;
  /** The words after the command's own. */
  readonly rest: readonly string[];
}

/** cac reads each usage, and knows a command by its words, joined. */
export function createRegistry<C extends CommandName>(commands: readonly C[]): Registry<C> {
  const cli = cac('plinth');
  const registered = commands.map((command) => ({ command, own: cli.command(command.usage, command.summary) }));
  return {
    match(words) {
      for (let count = words.length; count > 0; count -= 1) {
        const joined = words.slice(0, count).join(' ');
        const found = registered.find(({ own }) => own.isMatched(joined));
        if (found !== undefined) return { command: found.command, rest: words.slice(count) };
      }
      return undefined;
    },
    group: (words) =>
      registered
        .filter(({ own }) => words.length === 0 || own.name.startsWith(`${words.join(' ')} `))
        .map(({ command }) => command),
  };
}

/** The commands that unknown words probably meant: their end, or a slip of the fingers. */
export function nearestCommands(words: readonly string[], commands: readonly CommandName[]): readonly string[] {
  const said = words.join(' ');
  const names = commands.map((command) => command.words);
  const ending = names.filter((name) => name.endsWith(` ${said}`));
  if (ending.length > 0) return ending;
  const whole = nearest(said, names);
  if (whole !== undefined) return [whole];
  return names.filter((name) => {
    const end = name.split(' ').slice(-words.length).join(' ');
    return end !== name && (nearest(said, [end]) !== undefined || (said.length > 2 && end.startsWith(said)));
  });
}

/** The subcommand that a word after a command probably meant. */
export const nearestBeneath = (
  word: string,
  command: CommandName,
  commands: readonly CommandName[],
): string | undefined => {
  const start = `${command.words} `;
  const beneath = commands.filter(({ words }) => words.startsWith(start)).map(({ words }) => words.slice(start.length));
  const meant = nearest(word, beneath);
  return meant === undefined ? undefined : `${start}${meant}`;
};
