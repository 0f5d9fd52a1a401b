/** What the bench draws. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { costSvg } from '../../bench/documents.js';
import { type Bar, criticalPath, timelineSvg } from '../../bench/timeline.js';

const instance = (...needs: string[]) => ({ needs });

describe('the critical path of a bootstrap', () => {
  it('goes back from what ended last, each time to the need that was done last', () => {
    const plan = new Map([
      ['project', instance()],
      ['secrets', instance()],
      ['network', instance('project')],
      ['vm', instance('network', 'project')],
      ['config', instance('vm', 'secrets')],
      ['role', instance('project')],
    ]);
    const ends = { project: 10, secrets: 20, network: 30, vm: 60, config: 61, role: 15 };
    const times = new Map(Object.entries(ends).map(([id, endedAt]) => [id, { startedAt: 0, endedAt }]));
    expect(criticalPath(plan as never, times)).to.deep.equal(['project', 'network', 'vm', 'config']);
  });
});

const mostBytes = 20_000;
const loads = /<script|<image|<foreignObject|href=|url\(|@import/;

describe('the pictures of the bench', () => {
  it('in the docs are small, load nothing, and are all shown', () => {
    const folder = 'docs/build/drawings';
    const page = readFileSync('docs/build/bench.md', 'utf8');
    const shown = [...page.matchAll(/!\[[^\]]+\]\(drawings\/([^)]+)\)/g)].map(([, name = '']) => name);
    expect(readdirSync(folder).toSorted()).to.deep.equal(shown.toSorted()).and.not.be.empty;
    for (const name of shown) {
      const svg = readFileSync(join(folder, name), 'utf8');
      expect(svg.length, name).to.be.at.most(mostBytes);
      expect(svg, name).to.not.match(loads);
    }
  });

  const bars: readonly Bar[] = [
    { id: 'vm:k0s-1', readyAt: 1000, startedAt: 2000, endedAt: 30_000, isCritical: true },
    { id: 'a <role> & more', readyAt: 0, startedAt: 0, endedAt: 1000, isCritical: false },
  ];

  it('are SVG that loads nothing, with each instance in its words', () => {
    const svg = timelineSvg('A bootstrap', bars);
    expect(svg)
      .to.match(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/)
      .and.match(/<\/svg>\n$/);
    expect(svg).to.include('>vm:k0s-1<').and.include('>a &lt;role&gt; &amp; more<');
    expect(svg)
      .to.not.match(loads)
      .and.not.match(/NaN|Infinity/);
    expect(svg.match(/fill="#c0392b"/g)).to.have.length(1);
  });

  it('show what a bootstrap costs against its size', () => {
    const figure = (title: string, name: string, value: number, instances: number) => ({
      name: `${title}: ${name}`,
      value,
      unit: '',
      baseline: { name: 'instances', value: instances, unit: '' },
    });
    const svg = costSvg([figure('two', 'commits', 60, 44), figure('one', 'commits', 40, 33)]);
    expect(svg)
      .to.include('>commits<')
      .and.not.match(/NaN|Infinity/);
    expect(svg).to.match(/<polyline points="402\.5,126\.7 520,40" stroke="#7b5ea7"/);
  });
});
