/** Each alert has a page, each page a walk, and each fits on one screen. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { blocksOf, folder, pageNames, pageText } from './walk.js';

const alerts = readFileSync('terraform/alerts.tf', 'utf8');
const index = readFileSync(join(folder, 'README.md'), 'utf8');
const walks = ['lanes', 'removals', 'keys', 'places', 'money']
  .map((name) => readFileSync(join('test', 'runbooks', `${name}.tools.test.ts`), 'utf8'))
  .join('\n');
/** Enough for a terminal of a usual size, without its headings scrolled away. */
const screenLines = 52;

describe('runbooks', () => {
  const named = [...alerts.matchAll(/Runbook: docs\/operate\/runbooks\/([a-z-]+)\.md"/g)].map(([, page = '']) => page);

  it('each alert names its own page, and the page is there', () => {
    // Of `late` each key is an alert.
    const tables = ['log_alerts = {', 'for_each = {'].map(
      (begin) => alerts.slice(alerts.indexOf(begin)).split('\n  }')[0],
    );
    const inTables =
      (tables[0]?.match(/^ {6}document +=/gm) ?? []).length + (tables[1]?.match(/^ {4}\w+ +=/gm) ?? []).length;
    const single = (alerts.match(/^resource "google_monitoring_alert_policy"/gm) ?? []).length - 2;
    expect(named).to.have.length(inTables + single);
    expect(new Set(named).size).to.equal(named.length);
    expect(pageNames()).to.include.members(named);
  });

  for (const page of pageNames()) {
    it(`${page} has a first command and a way back on one screen, is in the list, and is walked`, () => {
      const text = pageText(page);
      expect(text).to.contain('**What it looks like.**').and.to.contain('**First command.**');
      expect(text).to.contain('**Way back.**');
      expect(text.split('\n').length).to.be.at.most(screenLines);
      expect(blocksOf(page).filter(({ at }) => at === 'anywhere')).not.to.deep.equal([]);
      expect(index).to.contain(`(${page}.md)`);
      expect(walks).to.contain(`'${page}'`);
    });
  }

  it('name no variable that their reader is not told of', () => {
    const usual = ['PROJECT', 'REGION', 'NAME'];
    const untold = pageNames().flatMap((page) => {
      const text = pageText(page);
      const used = blocksOf(page).flatMap(({ script }) =>
        [...script.matchAll(/\$([A-Z_]+)/g)].map(([, name = '']) => name),
      );
      const prose = text.replaceAll(/^```[\s\S]*?^```/gm, '');
      return [...new Set(used)]
        .filter((name) => !usual.includes(name) && !prose.includes(name))
        .map((name) => `${page}: ${name}`);
    });
    expect(untold).to.deep.equal([]);
  });
});
