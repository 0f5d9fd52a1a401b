/** A measurement that breaks off keeps what it has measured, and its row says why. */
import { expect } from 'chai';
import { rowsOf } from './apart.js';
import { type Figure, part, type Row, tableOf } from './figures.js';

const figure: Figure = { name: 'a bootstrap', value: 6, unit: 's' };
const printed = `console.log(${JSON.stringify(JSON.stringify(figure))});`;

async function run(program: string, stop = new AbortController()) {
  const rows: Row[] = [];
  const why = await rowsOf(['-e', program], stop.signal, (row) => {
    rows.push(row);
    if (program.includes('forever')) stop.abort('It was told to stop.');
  });
  return { rows, why };
}

describe('a measurement in a process of its own', () => {
  it('tells its rows', async () => {
    expect(await run(printed)).to.deep.equal({ rows: [figure], why: undefined });
  });

  it('keeps the rows that it told before it failed', async () => {
    expect(await run(`${printed} process.exitCode = 3;`)).to.deep.equal({ rows: [figure], why: 'It ended with 3.' });
  });

  it('is ended when it is told to stop, and keeps its rows', async () => {
    const forever = `${printed} const forever = setInterval(() => {}, 1000);`;
    expect(await run(forever)).to.deep.equal({ rows: [figure], why: 'It was told to stop.' });
  });

  it('says what it printed beside its rows', async () => {
    const { rows, why } = await run(`console.log('Hello');${printed}`);
    expect(rows).to.deep.equal([figure]);
    expect(why).to.contain('Hello');
  });
});

describe('a part of a measurement', () => {
  it('says in its row why it failed', async () => {
    const rows: Row[] = [figure];
    for await (const row of part('20 at once', () => Promise.reject(new Error('The store is gone.')))) rows.push(row);
    expect(tableOf(rows).split('\n').at(-1)).to.equal('20 at once: FAILED: The store is gone.');
  });
});
