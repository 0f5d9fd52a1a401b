/** Each attack in docs/operate/security.md has the test that it names, and each guard of plinth's own can be taken out. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { guards } from '../planted/guards.js';

/** Rows whose guard is no line of plinth's own that could be taken out, by the title of the test. */
const elsewhere: Readonly<Record<string, string>> = {
  'that hide a second request behind two lengths, or a length and chunks, are refused whole': "Node's parser",
  'follow no redirect, and are given up after a day, or when they are not wanted any more':
    "Node's HTTP client, which follows no redirect",
  'gain no right that nobody gave them, by any setting of creators and consent …':
    'every check of a right, and those that matter most are taken out for rows of their own',
  'odd values of flags': 'values are arguments everywhere, so no single line keeps them from a shell',
  'as … is refused on … by every method': "Google's IAM, by the roles that terraform and the steps do not grant",
  'is stored in documents that stay small, however many owners keep projects for a year':
    'each count is a document of its own, so no single line keeps them apart',
  'refuses a URL that was changed, that is over, or whose signer may no longer read': "Google's Cloud Storage",
  "keeps terraform's state in a bucket that only the deployer reaches": "Google's IAM, by terraform",
  'refuses a cookie that is …': "Node's AES-GCM, which opens nothing that was changed",
  "show a script in people's words as its letters":
    "Preact, which makes text alone of text, and the browser, by the page's policy",
};

const page = readFileSync('docs/operate/security.md', 'utf8');
const section = page.slice(page.indexOf('## Attacks'), page.indexOf('## What is stored where'));
const rows = section.split('\n').flatMap((line) => {
  const [, file, title] = /\| \[[^\]]+\]\(\.\.\/\.\.\/(test\/[^)]+)\): (.+) \|$/.exec(line) ?? [];
  return file === undefined || title === undefined ? [] : [{ file, title }];
});

describe('the attacks', () => {
  it('are a table, each with a test', () => {
    const lines = section.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| -'));
    // The first line names the columns.
    expect(rows).to.have.length(lines.length - 1);
    expect(rows).not.to.have.length(0);
  });

  for (const { file, title } of rows) {
    it(`${file}: ${title}`, () => {
      const text = readFileSync(file, 'utf8').replaceAll(/\$\{\w+\}/g, '…');
      expect(text).to.match(/\b(?:it|describe)\(/);
      const named = [...text.matchAll(/\b(?:it|describe)\(\s*(?:'([^'\n]*)'|"([^"\n]*)"|`([^`\n]*)`)/g)].map(
        ([, single, double, template]) => single ?? double ?? template,
      );
      expect(named).to.include(title);
    });
  }

  const beginningOf = (title: string): string => title.replace(/…$/, '');
  const isTakenOut = ({ file, title }: (typeof rows)[number]): boolean =>
    guards.some(({ tests, fails }) => {
      const compiled = file.replace('test/', '').replace(/\.ts$/, '.js');
      const [own, other] = [beginningOf(title), beginningOf(fails)];
      return tests.includes(compiled) && (own.startsWith(other) || other.startsWith(own));
    });

  it('each have a guard that is taken out by night, or one that is not plinth’s own', () => {
    const open = rows.filter((row) => !isTakenOut(row) && elsewhere[row.title] === undefined);
    expect(open.map(({ title }) => title)).to.deep.equal([]);
    const both = rows.filter((row) => isTakenOut(row) && elsewhere[row.title] !== undefined);
    expect(both.map(({ title }) => title)).to.deep.equal([]);
  });

  it('give a reason for each guard that is elsewhere, and for no other', () => {
    const titles = rows.map(({ title }) => title);
    expect(Object.keys(elsewhere).filter((title) => !titles.includes(title))).to.deep.equal([]);
  });

  it('have no guard taken out that no row tells of', () => {
    const files = rows.map(({ file }) => file.replace('test/', '').replace(/\.ts$/, '.js'));
    expect(
      guards.filter(({ tests }) => !tests.some((each) => files.includes(each))).map(({ name }) => name),
    ).to.deep.equal([]);
  });
});
