/** The setting of pools: what it means, and that all its faults are told at once. */
import { expect } from 'chai';
import { readConfig } from '../../functions/config.js';
import { Problem } from '../../shared/problems.js';

const account = '0123AB-4567CD-89EF01';
const good = { parent: 'folders/1', billingAccount: account, region: 'europe-west4', size: 5 };

const read = (pools: unknown, more: Readonly<Record<string, string>> = {}) =>
  readConfig({
    PLINTH_PROJECT: 'plinth-test',
    PLINTH_DEPLOYMENT: 'test',
    PLINTH_MACHINE_ACCESS: 'iap',
    PLINTH_PARENTS: 'folders/1',
    PLINTH_BILLING_ACCOUNTS: account,
    PLINTH_POOLS: typeof pools === 'string' ? pools : JSON.stringify(pools),
    ...more,
  }).pools;

const refusal = (pools: unknown): string => {
  try {
    read(pools);
  } catch (error) {
    if (error instanceof Problem) return error.detail;
    throw error;
  }
  throw new Error('it was taken');
};

describe('the setting of pools', () => {
  it('means none unless it is set', () => {
    expect(read('')).to.deep.equal([]);
  });

  it('takes pools, whose projects wait a week unless it says otherwise', () => {
    const other = { ...good, billingAccount: `billingAccounts/${account}`, region: 'europe-west1', maxAge: '30d' };
    const pools = read([good, other]);
    expect(pools.map(({ maxAgeSeconds }) => maxAgeSeconds / 86_400)).to.deep.equal([7, 30]);
    expect(pools.map(({ key }) => key)).to.deep.equal([
      `folders/1 ${account} europe-west4`,
      `folders/1 ${account} europe-west1`,
    ]);
  });

  it('tells all its faults at once, each with its place', () => {
    const detail = refusal([
      { parent: '1', billingAccount: 'x', region: 'Europe', size: 0, maxAge: '5m', more: true },
      { ...good, size: 201 },
    ]);
    for (const place of ['0.parent', '0.billingAccount', '0.region', '0.size', '0.maxAge', 'more', '1.size']) {
      expect(detail).to.contain(place);
    }
  });

  for (const [what, pools, words] of [
    ['no JSON', '{', 'must be JSON'],
    ['no list', {}, 'must be a list'],
    ['the same pool twice', [good, { ...good, size: 1 }], '1 is the same pool'],
    ['a parent that bootstraps may not have', [{ ...good, parent: 'folders/2' }], 'not among PLINTH_PARENTS'],
    [
      'an account that bootstraps may not have',
      [{ ...good, billingAccount: 'AAAAAA-BBBBBB-CCCCCC' }],
      'not among PLINTH_BILLING_ACCOUNTS',
    ],
  ] as const) {
    it(`refuses ${what}`, () => {
      expect(refusal(pools)).to.contain(words);
    });
  }
});
