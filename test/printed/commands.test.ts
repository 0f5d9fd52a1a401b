/** Commands that plinth prints, and those of its pages: each runs as it stands. */
import { expect } from 'chai';
import { loadCommands } from '../../cli/commands/index.js';
import type { Command } from '../../cli/frame/command.js';
import { describeCommand } from '../../cli/frame/describe-command.js';
import { createRegistry } from '../../cli/frame/registry.js';
import { readCommand } from '../../cli/run.js';
import { flagName, isSecret, optionNames } from '../../shared/bootstrap/options.js';
import { foreignCommands } from './foreign-commands.js';
import { filledIn, type PrintedText, pageCode, sourceTexts } from './texts.js';

const commands = await loadCommands();

const registry = createRegistry(commands);
const firstWords = new Set([...commands.map(({ words }) => words.split(' ')[0] ?? ''), 'help']);
/** The end of a sentence, or of what a quotation or a bracket encloses. */
const sentenceEnd = /[.:;,?!)”"'`]*(?:\s|$)/;

/** A line of a page that begins with the program and a word is a command, whatever the word. */
const isCommand = (at: string, before: string, first: string): boolean =>
  at.endsWith('.md') && /^(?:\$ )?$/.test(before) && /^[a-z]/.test(first);

/** What follows each `plinth` in a text, as words up to the end of the line. */
const mentions = ({ at, text }: PrintedText) =>
  [...text.matchAll(/(?<![\w./@-])plinth ([^\n]*)/g)]
    .map(({ 1: rest = '', index }) => ({
      at,
      before: text.slice(0, index).split('\n').at(-1) ?? '',
      words: rest.split(/\s+/),
    }))
    .filter(
      ({ words: [first = ''], before }) =>
        firstWords.has(first.replace(sentenceEnd, '')) || isCommand(at, before, first),
    );

const groups = new Set(
  commands.flatMap(({ words }) => words.split(' ').map((_, at, all) => all.slice(0, at).join(' '))),
);
const names = new Set(commands.map((command) => `plinth ${command.words}`));
/** Of a command alone, or with flags that it has. */
const isName = (text: string): boolean =>
  [...names].some((name) => text === name || (text.startsWith(`${name} --`) && !/ [^-]/.test(text.slice(name.length))));

const words = (text: string): number => text.split(' ').length;

/** Whether it runs as it stands. Secrets may come from the environment. */
function isWhole(args: readonly string[], isExample: boolean): boolean {
  const [first, ...helped] = args.filter((arg) => !arg.startsWith('-'));
  if (first === 'help')
    return helped.includes(filledIn) || registry.match(helped) !== undefined || groups.has(helped.join(' '));
  if (args.some((arg) => /[<>…[\]]/.test(arg))) return false;
  const read = readCommand(args, registry);
  // Which command of a group it is, is filled in.
  if (read === undefined && args.at(-1) === filledIn) return groups.has(args.slice(0, -1).join(' '));
  if (read === undefined || !read.fits) return false;
  const { command, written } = read;
  const bare = args
    .filter((arg) => !arg.startsWith('-'))
    .slice(words(command.words), words(command.words) + command.takes.length);
  // In a sentence, a word after the command would be taken for its argument.
  if (!isExample && bare.some((arg) => !arg.includes(filledIn) && !/^(?:demo|my-first)/.test(arg))) return false;
  return requiredBy(command).every((name) => written.includes(name));
}

const required = new Map<Command, readonly string[]>();
const secrets = new Set<string>(optionNames.filter(isSecret).map(flagName));
function requiredBy(command: Command): readonly string[] {
  const known = required.get(command);
  if (known !== undefined) return known;
  const flags = describeCommand(command).flags.filter(({ name, required }) => required && !secrets.has(name));
  const names = flags.map(({ name }) => name.slice(2));
  required.set(command, names);
  return names;
}

/** Undefined: its longest beginning that fits is a whole command, and what follows is prose. */
function faultOf(mentioned: readonly string[], isExample: boolean): string | undefined {
  const ends = mentioned.findIndex((word) => /[.:;,?!)”"]$/.test(word));
  const run = (ends < 0 ? mentioned : mentioned.slice(0, ends + 1)).map((word) =>
    word.replace(/^[“"'(]|[.:;,?!)”"'`]+$/g, ''),
  );
  for (let length = run.length; length > 0; length--) {
    if (!isWhole(run.slice(0, length), isExample)) continue;
    const next = run[length] ?? '';
    return /^(?:--|<(?!\/)|\[)/.test(next) ? `does not take ${next}` : undefined;
  }
  return 'is no whole command';
}

const faultsIn = (texts: readonly PrintedText[], isExample: (text: string) => boolean) =>
  texts.flatMap(mentions).flatMap(({ at, before, words: run }) => {
    const fault = faultOf(run, isExample(before));
    return fault === undefined ? [] : [`${at}: plinth ${run.join(' ').slice(0, 200)}: ${fault}`];
  });

describe('a printed command', function () {
  this.timeout(60_000);
  const sources = sourceTexts('cli', 'functions', 'shared', 'console');
  const pages = pageCode('docs');

  it('of plinth parses, and has all that it needs', () => {
    const texts = sources.filter(({ text }) => !names.has(text));
    // Examples stand alone on their line, or in quotes or brackets.
    expect(faultsIn(texts, (before) => /^[#\s]*$|[("“]$/.test(before)).join('\n')).to.equal('');
  });

  it('of a page parses, or is only a name', () => {
    const texts = pages.filter(
      ({ at, text }) => !at.startsWith('docs/reference/') && !isName(text) && !/ \[/.test(text),
    );
    expect(faultsIn(texts, () => true).join('\n')).to.equal('');
  });

  it('of another program is one that the program has', () => {
    const unknown = [...sources, ...pages].flatMap(({ at, text }) =>
      [...text.matchAll(/(?<![\w./@-])(gcloud|kubectl|sops) ([a-z][a-z -]*)/g)].flatMap(
        ([whole, program = '', said = '']) => {
          const known = foreignCommands[program] ?? [];
          // Other first words are prose, such as `gcloud says`.
          const isProse = !known.some((command) => command.split(' ')[0] === said.split(' ')[0]);
          return isProse || known.some((command) => `${said} `.startsWith(`${command} `)) ? [] : [`${at}: ${whole}`];
        },
      ),
    );
    expect(unknown.join('\n')).to.equal('');
  });
});
