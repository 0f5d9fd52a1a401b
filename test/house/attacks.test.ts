/** Each attack in docs/operate/security.md has the test that it names. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';

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
});
