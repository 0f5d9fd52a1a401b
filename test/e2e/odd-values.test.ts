/** Odd values that programs between the command line and a file or a cloud may change. By night all others: odd-values.nightly.test.ts. */
import { expect } from 'chai';
import { kinds, writtenAs } from './odd-values.js';
import { describeOddValues } from './odd-values-played.js';

describeOddValues(['number', 'quotes', 'newline', 'unicode', 'empty']);

describe('kinds of flags', () => {
  it('are each used by a flag', () => {
    const used = new Set(Object.values(writtenAs));
    expect(Object.keys(kinds).filter((kind) => !used.has(kind as never))).to.deep.equal([]);
  });
});
