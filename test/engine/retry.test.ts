import { expect } from 'chai';
import { propagationBudgetSeconds, retryDelay } from '../../functions/engine/run/retry.js';
import { Problem, type ProblemCode } from '../../shared/problems.js';

describe('retries', () => {
  /** Seconds of each wait until the budget is used up. */
  const waitsOf = (error: unknown, kind: string): number[] => {
    const waits: number[] = [];
    let propagationSeconds = 0;
    // No budget is so long.
    while (waits.length < 1000) {
      const delay = retryDelay(error, { failures: { [kind]: waits.length }, propagationSeconds }, 0);
      if (delay === undefined) return waits;
      waits.push(delay);
      if (kind === 'propagation') propagationSeconds += delay;
    }
    throw new Error('It is tried without end.');
  };
  const problem = (code: ProblemCode, retryAfterSeconds?: number) =>
    new Problem(code, 'x', retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
  const sum = (all: number[]) => all.reduce((a, b) => a + b, 0);

  it('backs off from what passes', () => {
    expect(waitsOf(problem('cloud-unavailable'), 'transient')).to.deep.equal([1, 2, 4, 8, 16, 30, 30, 30]);
  });

  it('waits as long as it is asked to', () => {
    expect(waitsOf(problem('cloud-rate', 45), 'rate').slice(0, 2)).to.deep.equal([45, 45]);
  });

  it('gives what was made just now ten minutes', () => {
    const waits = waitsOf(problem('cloud-propagation'), 'propagation');
    expect(sum(waits)).to.be.within(propagationBudgetSeconds, propagationBudgetSeconds + 20);
  });

  it('tries a place without capacity a few times', () => {
    expect(waitsOf(problem('cloud-capacity'), 'capacity')).to.deep.equal([15, 30, 60]);
  });

  it('never tries again what is refused', () => {
    for (const code of ['cloud-permission', 'cloud-input', 'cloud-quota', 'cloud-conflict', 'bad-input'] as const) {
      expect(waitsOf(problem(code), 'none'), code).to.deep.equal([]);
    }
  });

  it('tries a fault of our own a few times', () => {
    expect(waitsOf(new TypeError('x'), 'internal')).to.deep.equal([1, 2, 4]);
  });

  it('spreads those who failed together', () => {
    const history = { failures: {}, propagationSeconds: 0 };
    const error = problem('cloud-unavailable');
    expect([retryDelay(error, history, 0), retryDelay(error, history, 0.9)]).to.deep.equal([1, 1.45]);
  });
});
