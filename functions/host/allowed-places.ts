/** The places that this deployment names: parents, billing accounts, DNS zones. `*` allows what nobody can list. */
import type { Config } from '../config.js';

const named = (allowed: readonly string[]): string[] => allowed.filter((each) => each !== '*');

export const parentsOf = ({ allowed }: Config): string[] => [...new Set(named(allowed.parents))];

export const accountsOf = ({ allowed }: Config): string[] =>
  named(allowed.billingAccounts).map((id) => `billingAccounts/${id.replace(/^billingAccounts\//, '')}`);

export const zonesOf = ({ allowed }: Config): { readonly project: string; readonly zone: string }[] =>
  named(allowed.dnsZones).map((name) => {
    const [project = '', zone = ''] = name.split('/');
    return { project, zone };
  });
