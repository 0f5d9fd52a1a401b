/** Reads commands and flags as cobra does, with its complaints. Unknown ones are refused. */

export interface Flag {
  readonly name: string;
  readonly short?: string;
  /** Default: `text`. */
  readonly kind?: 'text' | 'switch';
}

export type Given = Readonly<Record<string, string>>;

/** Flags that take a text, and switches. */
export const texts = (...names: string[]): Flag[] => names.map((name) => ({ name }));
export const switches = (...names: string[]): Flag[] => names.map((name) => ({ name, kind: 'switch' }));

export interface Command {
  readonly name: string;
  readonly short: string;
  readonly flags?: readonly Flag[];
  readonly commands?: readonly Command[];
  /** How many words it takes apart from its flags. `all` passes everything on, even flags. Default 0. */
  readonly words?: number | 'all';
  run?(given: Given, words: readonly string[]): Promise<number> | number;
}

const refuse = (message: string): never => {
  throw new Error(message);
};

const help: Flag = { name: 'help', short: 'h', kind: 'switch' };

/** Runs the command that the words name. Returns the exit code. */
export async function runCommand(root: Command, argv: readonly string[]): Promise<number> {
  let command = root;
  let path = root.name;
  let rest = [...argv];
  while (command.commands !== undefined && rest[0] !== undefined && !rest[0].startsWith('-')) {
    const word = rest[0];
    const found = command.commands.find(({ name }) => name === word);
    if (found === undefined) return refuse(`unknown command "${word}" for "${path}"`);
    command = found;
    path += ` ${word}`;
    rest = rest.slice(1);
  }
  if (command.words === 'all') return (await command.run?.({}, rest)) ?? 0;
  const { given, words } = readFlags([...(command.flags ?? []), help], rest);
  if (given['help'] === 'true' || command.run === undefined) {
    process.stdout.write(usageOf(command, path));
    return 0;
  }
  if (words.length > (command.words ?? 0)) return refuse(`unknown command "${words[0]}" for "${path}"`);
  return command.run(given, words);
}

function readFlags(flags: readonly Flag[], argv: readonly string[]): { given: Given; words: string[] } {
  const given: Record<string, string> = {};
  const words: string[] = [];
  const rest = [...argv];
  const take = (flag: Flag, shown: string, value: string | undefined): void => {
    if (flag.kind === 'switch') {
      const said = value ?? 'true';
      if (!['true', 'false', '1', '0', 't', 'f'].includes(said)) {
        refuse(
          `invalid argument "${said}" for "--${flag.name}" flag: strconv.ParseBool: parsing "${said}": invalid syntax`,
        );
      }
      given[flag.name] = String(['true', '1', 't'].includes(said));
    } else given[flag.name] = value ?? rest.shift() ?? refuse(`flag needs an argument: ${shown}`);
  };
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === '--') {
      words.push(...rest.splice(0));
    } else if (word.startsWith('--')) {
      const [name = '', value] = cut(word.slice(2), '=');
      const flag = flags.find((each) => each.name === name) ?? refuse(`unknown flag: --${name}`);
      take(flag, `--${name}`, value);
    } else if (word.length > 1 && word.startsWith('-')) {
      const letters = word.slice(1);
      for (let i = 0; i < letters.length; i += 1) {
        const letter = letters[i] ?? '';
        const flag =
          flags.find((each) => each.short === letter) ??
          refuse(`unknown shorthand flag: '${letter}' in -${letters.slice(i)}`);
        if (flag.kind === 'switch') take(flag, letter, undefined);
        else {
          const value = letters.slice(i + 1).replace(/^=/, '');
          take(flag, `'${letter}' in -${letters}`, value === '' ? undefined : value);
          break;
        }
      }
    } else words.push(word);
  }
  return { given, words };
}

/** Cuts at the first match only. */
function cut(text: string, by: string): [string, string | undefined] {
  const at = text.indexOf(by);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + by.length)];
}

const usageOf = ({ short, commands = [], flags = [] }: Command, path: string): string =>
  [
    `${short}\n`,
    `Usage:\n  ${path}${commands.length > 0 ? ' [command]' : ' [flags]'}`,
    ...(commands.length > 0
      ? ['\nAvailable Commands:', ...commands.map((each) => `  ${each.name.padEnd(12)}${each.short}`)]
      : []),
    '\nFlags:',
    ...[...flags, help].map((flag) => `  ${flag.short === undefined ? '    ' : `-${flag.short}, `}--${flag.name}`),
    '',
  ].join('\n');
