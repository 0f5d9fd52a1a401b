/** What the wall time of a bootstrap is compared with must itself be right. */
import { expect } from 'chai';
import type { Plan } from '../../functions/engine/plan.js';
import { quantile } from './figures.js';
import { covered, longestChain } from './longest-chain.js';

const planOf = (needs: Readonly<Record<string, readonly string[]>>): Plan =>
  new Map(Object.entries(needs).map(([id, own]) => [id, { id, needs: own }])) as unknown as Plan;

describe('the longest chain', () => {
  it('follows needs, and adds what each instance of it took', () => {
    const plan = planOf({ project: [], network: ['project'], key: [], vm: ['network', 'key'], zone: ['project'] });
    const took: Readonly<Record<string, number>> = { project: 10, network: 5, key: 14, vm: 20, zone: 24 };
    expect(longestChain(plan, (id) => took[id] ?? 0)).to.deep.equal({
      milliseconds: 35,
      instances: ['project', 'network', 'vm'],
    });
  });

  it('is empty where nothing takes time', () => {
    expect(longestChain(planOf({ a: [], b: ['a'] }), () => 0)).to.deep.equal({ milliseconds: 0, instances: [] });
  });

  it('counts what runs side by side once', () => {
    const spans = [
      { from: 20, to: 30 },
      { from: 0, to: 10 },
      { from: 5, to: 12 },
      { from: 22, to: 25 },
    ];
    expect(covered(spans)).to.equal(22);
    expect(covered([])).to.equal(0);
  });
});

describe('quantiles', () => {
  it('are values that were measured', () => {
    const values = [5, 1, 4, 2, 3];
    expect([quantile(values, 0.5), quantile(values, 0.99), quantile(values, 0.01)]).to.deep.equal([3, 5, 1]);
  });
});
