/** What may fail once: only tests that test/flaky.json names, with a reason, until a day that is not past. */
import { expect } from 'chai';
import { excusesFor, readFlakyTests } from '../../tools/tests/flaky.js';

const excused = { test: 'a door opens', reason: 'its hinge is being looked at', until: '2026-12-24' };

describe('a test that fails and then passes', () => {
  it('is excused on the last day that is given, and not on the next', () => {
    expect(excusesFor(['a door opens'], [excused], '2026-12-24')).to.deep.equal([excused]);
    expect(excusesFor(['a door opens'], [excused], '2026-12-25')).to.equal(undefined);
  });

  it('excuses no other that failed beside it', () => {
    expect(excusesFor(['a door opens', 'a door shuts'], [excused], '2026-12-24')).to.equal(undefined);
  });

  it('is named with a reason and a day', () => {
    expect(readFlakyTests(JSON.stringify([excused]))).to.deep.equal([excused]);
    for (const bad of [{ ...excused, reason: '' }, { ...excused, until: 'soon' }, { test: excused.test }]) {
      expect(() => readFlakyTests(JSON.stringify([bad])), JSON.stringify(bad)).to.throw();
    }
  });

  it('is on no list whose day is past', () => {
    const today = new Date().toISOString().slice(0, 10);
    expect(readFlakyTests().filter(({ until }) => until < today)).to.deep.equal([]);
  });
});
