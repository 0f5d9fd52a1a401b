/** Odd values that programs between the command line and a file or a cloud may change. By night all others: odd-values.nightly.test.ts. */
import { expect } from 'chai';
import { kinds, writtenAs } from './odd-values.js';
import { playOddValues } from './odd-values-played.js';

describe('odd values of flags', function () {
  this.timeout(240_000);
  playOddValues(['number', 'quotes', 'newline', 'unicode', 'empty']);

  it('are told of for each kind of flag', () => {
    const used = new Set(Object.values(writtenAs));
    expect(Object.keys(kinds).filter((kind) => !used.has(kind as never))).to.deep.equal([]);
  });
});
