/** The pages of help, of a command and of a group of commands. */
import {
  type FlagGroup,
  flagGroups,
  flagName,
  flagOf,
  isSecret,
  type Option,
  variableOf,
} from '../../shared/bootstrap/options.js';
import { argumentHelp, bracketed } from './arguments.js';
import { type Command, type CommandName, passedText } from './command.js';
import { exitCodes } from './exit-codes.js';
import { allFlags, commonFlags, inheritedOptions, sharedFlags } from './flags.js';

/** `int` and `string` as the reference names them. A list may be repeated. */
export const typeName = { string: 'string', int: 'int', bool: 'bool', list: 'stringArray' } as const;

const left = (name: string): string => {
  const flag = allFlags[name] ?? { kind: 'bool' as const };
  const value = flag.kind === 'bool' ? '' : ` <${typeName[flag.kind]}>`;
  return `${flag.short === undefined ? '    ' : `-${flag.short}, `}--${name}${value}`;
};

/** The default as help and reference show it. Undefined if it isn't worth showing. */
export function defaultText(option: Option): string | undefined {
  const value: unknown = flagOf(option).default;
  if (value === undefined || value === false || (Array.isArray(value) && value.length === 0)) return undefined;
  return Array.isArray(value) ? value.join(', ') : String(value);
}

/** Of all that is to say about a flag, help says the first sentence unless it is asked for the whole. */
function describeOption(option: Option, command?: Command, whole = true): string {
  const flag = flagOf(option);
  const fallback = defaultText(option);
  return [
    whole ? flag.help : flag.help.replace(/\. .*$/s, '.'),
    ...(flag.kind === 'list' ? ['Repeatable.'] : []),
    ...(isNeeded(option, command) ? ['(required)'] : []),
    ...(fallback === undefined ? [] : [`(default: ${fallback})`]),
    ...(isSecret(option) ? [`[${variableOf(option)}]`] : []),
  ].join(' ');
}

const isNeeded = (option: Option, command?: Command): boolean =>
  flagOf(option).required === true && command?.givenElsewhere !== true;

interface Section {
  readonly title?: string;
  readonly body: string;
}

/** The help of a command. `whole`: with all that is to say about its flags. */
export const commandHelp = (command: Command, columns: number, whole: boolean): string =>
  pageOf([
    ...paragraphs(command.description.slice(0, 1), columns),
    usageSection(`${command.usage} [flags]`),
    ...neededSection(command, columns),
    ...paragraphs(command.description.slice(1), columns),
    ...rowSections(command, columns, whole),
    { title: 'Examples', body: command.examples.map((example) => `  $ ${example}`).join('\n') },
    ...outro(command, columns, whole),
  ]);

/** The help of plinth, or of the commands that begin with the same words. `all`: every command, whose column it keeps to. */
export function groupHelp(
  group: readonly CommandName[],
  all: readonly CommandName[],
  columns: number,
  whole: boolean,
): string {
  const width = Math.max(...all.map(({ usage }) => usage.length));
  return pageOf([
    ...paragraphs(about, columns),
    usageSection('<command> [options]'),
    {
      title: 'Commands',
      body: group.map(({ usage, summary }) => `  ${usage.padEnd(width)}  ${summary}`).join('\n'),
    },
    ...rowSections(undefined, columns, whole),
    ...outro(undefined, columns, whole),
  ]);
}

const pageOf = (sections: readonly Section[]): string =>
  sections.map(({ title, body }) => (title === undefined ? body : `${title}:\n${body}`)).join('\n\n');

const usageSection = (usage: string): Section => ({ title: 'Usage', body: `  $ plinth ${usage}` });

const about = [
  'plinth makes throw-away cloud projects for platform clusters, and removes them on time. It governs organizations and their teams.',
];

const paragraphs = (texts: readonly string[], columns: number): Section[] =>
  texts.length === 0 ? [] : [{ body: texts.map((text) => wrap(text, columns).join('\n')).join('\n\n') }];

function outro(command: Command | undefined, columns: number, whole: boolean): Section[] {
  if (command === undefined)
    return [
      {
        body: 'More about a command: plinth help and the command, such as plinth help init. With --json, help is data.',
      },
    ];
  const codes = exitCodes.map(({ code, meaning }) => `${code} ${meaning}`.replaceAll(' ', '\u00a0')).join(' · ');
  const more = `plinth help ${command.words} --all tells all about each flag.`;
  return [
    { title: 'Exit codes', body: indent(wrap(codes, columns - 2)).replaceAll('\u00a0', ' ') },
    ...(whole || command.options === undefined ? [] : paragraphs([more], columns)),
  ];
}

interface Row {
  readonly left: string;
  readonly text: string;
}

const optionsIn = (command: Command | undefined): Option[] =>
  (command?.options ?? []).filter((option) => !(inheritedOptions as readonly Option[]).includes(option));

/** The flags without which nothing happens come first. */
function neededSection(command: Command | undefined, columns: number): Section[] {
  const rows = optionsIn(command)
    .filter((option) => isNeeded(option, command))
    .map((option): Row => ({ left: left(flagName(option).slice(2)), text: describeOption(option, command) }));
  return rows.length === 0 ? [] : inColumns([{ title: 'What it needs', rows }], columns);
}

/** Arguments and the other flags, with their meanings in one column. */
function rowSections(command: Command | undefined, columns: number, whole: boolean): Section[] {
  const options = optionsIn(command).filter((option) => !isNeeded(option, command));
  const own = Object.entries(command?.flags ?? {});
  const common: Readonly<Record<string, string>> = {
    ...Object.fromEntries(commonFlags.map((name) => [name, sharedFlags[name]])),
    ...(command === undefined && { version: sharedFlags.version }),
  };
  const flagRows = (flags: readonly (readonly [string, string])[]): Row[] =>
    flags.map(([name, text]) => ({ left: left(name), text }));
  const optionRows = (some: readonly Option[]): Row[] =>
    some.map((option) => ({ left: left(flagName(option).slice(2)), text: describeOption(option, command, whole) }));
  const groups = Object.keys(flagGroups) as FlagGroup[];
  const sections = [
    {
      title: 'Arguments',
      rows: [
        ...(command?.takes ?? []).map((name): Row => ({ left: bracketed(name), text: argumentHelp[name] })),
        ...(command?.mayTake ?? []).map((name): Row => ({ left: `[${name}]`, text: argumentHelp[name] })),
        ...(command?.passes === undefined ? [] : [{ left: passedText(command.passes), text: command.passes.help }]),
      ],
    },
    { title: 'Flags', rows: options.length === 0 ? flagRows(own) : [] },
    ...groups.map((group) => ({
      title: flagGroups[group],
      rows: optionRows(options.filter((option) => flagOf(option).group === group)),
    })),
    {
      title: 'How plinth runs it',
      rows: [
        ...(options.length === 0 ? [] : flagRows(own)),
        ...optionRows(inheritedOptions),
        ...flagRows(Object.entries(common)),
      ],
    },
  ].filter((section) => section.rows.length > 0);
  return inColumns(sections, columns);
}

function inColumns(
  sections: readonly { readonly title: string; readonly rows: readonly Row[] }[],
  columns: number,
): Section[] {
  const width = Math.min(Math.max(...sections.flatMap((section) => section.rows.map((row) => row.left.length))), 36);
  return sections.map((section) => ({
    title: section.title,
    body: section.rows.map((row) => helpRow(row, width, columns)).join('\n'),
  }));
}

function helpRow(row: Row, width: number, columns: number): string {
  const room = columns - width - 4;
  // On a narrow terminal the meanings go below.
  if (room < 30) return [`  ${row.left}`, ...wrap(row.text, columns - 8).map((line) => `        ${line}`)].join('\n');
  const [first = '', ...rest] = wrap(row.text, room);
  const gap = ' '.repeat(width + 4);
  return [`  ${row.left.padEnd(width)}  ${first}`, ...rest.map((line) => `${gap}${line}`)].join('\n');
}

const indent = (lines: readonly string[]) => lines.map((line) => `  ${line}`).join('\n');

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
