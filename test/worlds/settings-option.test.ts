/** `--set` of `npm run local`: settings are checked as those of a deployment. */
import { expect } from 'chai';
import { readSettingsOption } from '../../local/stack/settings-option.js';

describe('--set of npm run local', () => {
  const refusals: readonly (readonly [set: string[], ...words: string[]])[] = [
    [['PLINTH_HOSTS'], '--set must be NAME=VALUE, not "PLINTH_HOSTS"'],
    [['PLINTH_LOAD_BALANCER=internal'], 'there is no such setting. Did you mean PLINTH_LOAD_BALANCERS?'],
    [['NOTHING_OF_THE_KIND=1'], 'docs/reference/settings.md lists them all'],
    [['PLINTH_LOAD_BALANCERS=inside'], '--set PLINTH_LOAD_BALANCERS: '],
    // No account may be linked that the deployment does not allow, and a pool needs a size.
    [['PLINTH_POOLS=[{"parent":"folders/1"}]'], '--set PLINTH_POOLS: '],
    [['PLINTH_HOSTS=on', 'PLINTH_HOSTS=off'], '--set PLINTH_HOSTS is given twice'],
    [
      ['PLINTH_HOSTS=x', 'PLINTH_USD_PER_HOUR=x', 'PLINTH_HOTS=on'],
      'PLINTH_HOSTS: must',
      'PER_HOUR: ',
      'PLINTH_HOTS: ',
    ],
  ];
  for (const [set, ...words] of refusals) {
    it(`refuses ${set.join(' and ')}`, () => {
      for (const word of words) expect(() => readSettingsOption(set)).to.throw(word);
    });
  }

  it('takes what a deployment takes', () => {
    const pools = '[{"parent":"folders/1","billingAccount":"01AB23-45CD67-89EF01","region":"europe-west4","size":2}]';
    expect(readSettingsOption([`PLINTH_POOLS=${pools}`, 'PLINTH_CALLER_ROLE='])).to.deep.equal({
      PLINTH_POOLS: pools,
      PLINTH_CALLER_ROLE: '',
    });
    expect(readSettingsOption()).to.deep.equal({});
  });
});
