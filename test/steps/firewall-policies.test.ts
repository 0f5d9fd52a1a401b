/** Which hierarchical firewall rule closes SSH to a jumpbox, with answers of Google as literals. */
import { expect } from 'chai';
import { closingRule } from '../../functions/steps/cloud/firewall-policies.js';

type Effective = Parameters<typeof closingRule>[0];
type Rule = NonNullable<NonNullable<Effective['firewallPolicys']>[number]['rules']>[number];

const everywhere = ['0.0.0.0/0'];
const iap = ['35.235.240.0/20'];
const ssh = [{ ipProtocol: 'tcp', ports: ['22'] }];
const rule = (action: string, match: Rule['match'], more: Partial<Rule> = {}): Rule => ({
  priority: 1000,
  direction: 'INGRESS',
  action,
  match: { layer4Configs: ssh, ...match },
  ...more,
});
const policy = (name: string, ...rules: Rule[]) => ({ displayName: name, type: 'HIERARCHY', rules });
const judge = (sources: readonly string[], ...firewallPolicys: ReturnType<typeof policy>[]) =>
  closingRule({ firewallPolicys }, sources, 22);

describe('hierarchical firewall policies, judged', () => {
  const closed: readonly (readonly [title: string, sources: readonly string[], rules: readonly Rule[]])[] = [
    ['from everywhere', everywhere, [rule('deny', { srcIpRanges: everywhere })]],
    ['for every protocol', iap, [rule('deny', { srcIpRanges: everywhere, layer4Configs: [{ ipProtocol: 'all' }] })]],
    ['for a range of ports', iap, [rule('deny', { layer4Configs: [{ ipProtocol: 'tcp', ports: ['20-30'] }] })]],
    ['from a range around the source', iap, [rule('deny', { srcIpRanges: ['35.192.0.0/10'] })]],
    [
      'by the lower number, though a later one admits it',
      iap,
      [rule('allow', { srcIpRanges: iap }, { priority: 20 }), rule('deny', { srcIpRanges: iap }, { priority: 10 })],
    ],
  ];
  for (const [title, sources, rules] of closed) {
    it(`close it ${title}`, () => {
      expect(judge(sources, policy('guard', ...rules))).to.match(/^the rule \d+ of the firewall policy guard$/);
    });
  }

  const open: readonly (readonly [title: string, sources: readonly string[], rules: readonly Rule[]])[] = [
    ['from a part of the world alone', everywhere, [rule('deny', { srcIpRanges: ['10.0.0.0/8'] })]],
    ['for another port', iap, [rule('deny', { layer4Configs: [{ ipProtocol: 'tcp', ports: ['3389'] }] })]],
    ['on the way out', iap, [rule('deny', {}, { direction: 'EGRESS' })]],
    ['while it is off', iap, [rule('deny', {}, { disabled: true })]],
    ['for the machines of one account', iap, [rule('deny', {}, { targetServiceAccounts: ['a@b'] })]],
    ['from a country', iap, [rule('deny', { srcRegionCodes: ['XX'] })]],
    [
      'after IAP is admitted',
      iap,
      [rule('allow', { srcIpRanges: iap }, { priority: 10 }), rule('deny', {}, { priority: 20 })],
    ],
    ['but leave it to the next', iap, [rule('goto_next', {})]],
  ];
  for (const [title, sources, rules] of open) {
    it(`are not known to close it when they deny ${title}`, () => {
      expect(judge(sources, policy('guard', ...rules))).to.equal(undefined);
    });
  }

  it('decide in their order: the organization before the folder', () => {
    const admits = policy('of-organization', rule('allow', { srcIpRanges: iap }));
    const denies = policy('of-folder', rule('deny', {}, { description: 'no SSH' }));
    expect(judge(iap, admits, denies)).to.equal(undefined);
    expect(judge(iap, denies, admits)).to.equal('the rule 1000 (“no SSH”) of the firewall policy of-folder');
  });

  it('are none where Google tells of none', () => expect(closingRule({}, iap, 22)).to.equal(undefined));
});
