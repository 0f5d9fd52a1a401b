/** Plain English: no sentence is over 35 words, in README, each page of docs, and the help of the command line. Generated reference pages are left out. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadCommands } from '../../cli/commands/index.js';
import { argumentHelp } from '../../cli/frame/arguments.js';
import { exitCodes } from '../../cli/frame/exit-codes.js';
import { sharedFlags } from '../../cli/frame/flags.js';
import { flagOf, optionNames } from '../../shared/bootstrap/options.js';
import { blocksOf, sentencesOf, wordsIn } from '../support/prose.js';

const commands = await loadCommands();

const mostWords = 35;

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md') && !file.startsWith('reference'))
    .map((file) => join('docs', file))
    .sort(),
];

const help = (): string[] => [
  ...commands.flatMap(({ summary, description, flags = {}, passes }) => [
    summary,
    ...description,
    ...Object.values(flags),
    ...(passes === undefined ? [] : [passes.help]),
  ]),
  ...Object.values(argumentHelp),
  ...Object.values(sharedFlags),
  ...exitCodes.map(({ inFull }) => inFull),
  ...optionNames.map((option) => flagOf(option).help),
];

const tooLong = (sentences: readonly string[]): string[] =>
  sentences.filter((sentence) => wordsIn(sentence) > mostWords);

describe('the prose of', () => {
  for (const page of pages) {
    it(`${page} has no sentence over ${mostWords} words`, () => {
      expect(tooLong(blocksOf(readFileSync(page, 'utf8')).flatMap(sentencesOf))).to.deep.equal([]);
    });
  }

  it(`help has no sentence over ${mostWords} words`, () => {
    expect(tooLong(help().flatMap(sentencesOf))).to.deep.equal([]);
  });

  it('README fits on 120 lines', () => {
    expect(readFileSync('README.md', 'utf8').trimEnd().split('\n').length).to.be.at.most(120);
  });

  it('the glossary holds at most 40 words', () => {
    const words = readFileSync('docs/glossary.md', 'utf8').match(/^\*\*.+?\*\*/gm) ?? [];
    expect(words.length).to.be.within(1, 40);
  });
});

describe('the measure of prose', () => {
  it('leaves out code, tables and headings', () => {
    const text =
      '# A heading\n\nOne two three.\n\n```\nfour; five\n```\n\n| six; | seven |\n| --- | --- |\n\nEight `nine; ten`.\n';
    expect(blocksOf(text).flatMap(sentencesOf)).to.deep.equal(['One two three.', 'Eight code.']);
  });

  it('takes each item of a list for itself, and links by their words', () => {
    const text = '- one [two](three.md)\n- four. Five\n  six\n\n1. seven\n2. eight';
    expect(blocksOf(text).flatMap(sentencesOf)).to.deep.equal(['one two', 'four.', 'Five six', 'seven', 'eight']);
  });

  it('counts words', () => {
    expect(sentencesOf(`Four words; no more. ${'word '.repeat(mostWords)}word.`).map(wordsIn)).to.deep.equal([4, 36]);
  });
});
