/** Whether plinth may use what this deployment allows: parents, billing accounts, DNS zones. `*` allows what nobody can list. */

import { Problem } from '../../../shared/problems.js';
import type { Config } from '../../config.js';
import { linkAdvice } from '../../steps/cloud/billing.js';
import { noProjectsAdvice } from '../../steps/cloud/project-place.js';
import { onZone } from '../dns/permissions.js';
import { defineFinding, ok, stop, type Verdict } from '../finding.js';

interface Looked {
  readonly name: string;
  /** Undefined: it is as it should be. */
  readonly lack: string | undefined;
  readonly mend: string;
}

const named = (allowed: readonly string[]): string[] => allowed.filter((each) => each !== '*');

function verdictOf(looked: readonly Looked[], nothing: string): Verdict {
  const bad = looked.filter(({ lack }) => lack !== undefined);
  if (looked.length === 0) return ok(nothing);
  if (bad.length === 0) return ok(looked.map(({ name }) => name).join(', '));
  const words = bad.map(({ name, lack }) => `${name}: ${lack}`).join('; ');
  return stop(new Problem('cloud-permission', `${words}.`, { advice: bad.map(({ mend }) => mend).join('\n') }));
}

export const parentsOf = ({ defaultParent, allowed }: Config): string[] => [
  ...new Set([...(defaultParent === undefined ? [] : [defaultParent]), ...named(allowed.parents)]),
];

export const accountsOf = ({ allowed }: Config): string[] =>
  named(allowed.billingAccounts).map((id) => `billingAccounts/${id.replace(/^billingAccounts\//, '')}`);

export const zonesOf = ({ allowed }: Config): { readonly project: string; readonly zone: string }[] =>
  named(allowed.dnsZones).map((name) => {
    const [project = '', zone = ''] = name.split('/');
    return { project, zone };
  });

export const parents = defineFinding({
  code: 'parents',
  title: 'Parents',
  why: 'Bootstraps make their projects beneath them, and their policies are read first.',
  by: 'lane',
  about: [],
  ask: ({ context: { cloud, config } }) =>
    Promise.all(
      parentsOf(config).map(async (name): Promise<Looked> => {
        const may = await cloud.projects.mayCreateIn(name).catch(asLack);
        const lack = typeof may === 'string' ? may : 'not there, or no projects may be made';
        if (may !== true) return { name, lack, mend: noProjectsAdvice(name) };
        const mend = `Grant plinth-run-cloud-step roles/orgpolicy.policyViewer on ${name}, as terraform does.`;
        const read = await cloud.orgPolicy.effective(name, 'gcp.resourceLocations').catch(asLack);
        return { name, lack: typeof read === 'string' ? `policies cannot be read (${read})` : undefined, mend };
      }),
    ),
  judge: (looked) => verdictOf(looked, 'none is named'),
});

/** What Google refuses for good. */
function asLack(error: unknown): string {
  if (error instanceof Problem && error.code !== 'cloud-unavailable') return error.detail;
  throw error;
}

export const accounts = defineFinding({
  code: 'billing-accounts',
  title: 'Billing accounts',
  why: 'They pay for the projects of bootstraps.',
  by: 'lane',
  about: [],
  ask: ({ context: { cloud, config } }) =>
    Promise.all(
      accountsOf(config).map(async (account): Promise<Looked> => {
        const may = await cloud.billing.mayLink(account).catch(asLack);
        const lack = typeof may === 'string' ? may : may ? undefined : 'no project may be linked to it';
        return { name: account.replace('billingAccounts/', ''), lack, mend: linkAdvice(account) };
      }),
    ),
  judge: (looked) => verdictOf(looked, 'none is named'),
});

export const zones = defineFinding({
  code: 'dns-zones',
  title: 'DNS zones',
  why: 'Names of bootstraps are delegated there.',
  by: 'lane',
  about: [],
  ask: ({ context: { cloud, config } }) =>
    Promise.all(
      zonesOf(config).map(async ({ project, zone }): Promise<Looked> => {
        const name = `${project}/${zone}`;
        const held = await cloud.dns.held(project, zone, onZone).catch(asLack);
        const missing = typeof held === 'string' ? held : onZone.filter((each) => !held.includes(each)).join(', ');
        const mend = `Grant plinth-run-cloud-step roles/dns.admin on the zone ${zone} of ${project}, as terraform does.`;
        return { name, lack: missing === '' ? undefined : `plinth lacks ${missing}`, mend };
      }),
    ),
  judge: (looked) => verdictOf(looked, 'none is named'),
});
