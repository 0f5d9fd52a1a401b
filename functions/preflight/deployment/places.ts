/** Whether plinth may use what this deployment allows: parents, billing accounts, DNS zones. */
import { Problem } from '../../../shared/problems.js';
import { noneIfHidden } from '../../cloud/errors.js';
import type { Cloud } from '../../cloud/index.js';
import { defineFinding, ok, stop, type Verdict } from '../../engine/finding.js';
import { accountsOf, parentsOf, zonesOf } from '../../host/allowed-places.js';
import { onZone, toMakeZones } from '../dns/permissions.js';
import { applyTerraform } from './mends.js';

/** It may also be that the place is not there. */
const mendOf = (role: string, name: string): string =>
  `${applyTerraform}: plinth-run-cloud-step needs ${role} on ${name}, which must be there.`;

interface Looked {
  readonly name: string;
  /** Undefined: it is as it should be. */
  readonly lack: string | undefined;
  readonly mend: string;
}

function verdictOf(looked: readonly Looked[], nothing: string): Verdict {
  const bad = looked.filter(({ lack }) => lack !== undefined);
  if (looked.length === 0) return ok(nothing);
  if (bad.length === 0) return ok(looked.map(({ name }) => name).join(', '));
  const words = bad.map(({ name, lack }) => `${name}: ${lack}`).join('; ');
  return stop(new Problem('cloud-permission', `${words}.`, { advice: bad.map(({ mend }) => mend).join('\n') }));
}

export const parents = defineFinding({
  code: 'parents',
  title: 'Parents',
  why: 'Bootstraps make their projects beneath them, and their policies are read first.',
  by: 'check',
  about: [],
  ask: ({ context: { cloud, config } }) =>
    Promise.all(
      parentsOf(config).map(async (name): Promise<Looked> => {
        const may = await cloud.projects.mayCreateIn(name).catch(asLack);
        const lack = typeof may === 'string' ? may : 'not there, or no projects may be made';
        if (may !== true) return { name, lack, mend: mendOf('roles/resourcemanager.projectCreator', name) };
        const mend = mendOf('roles/orgpolicy.policyViewer', name);
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
  by: 'check',
  about: [],
  ask: ({ context: { cloud, config } }) =>
    Promise.all(
      accountsOf(config).map(async (account): Promise<Looked> => {
        const may = await cloud.billing.mayLink(account).catch(asLack);
        const lack = typeof may === 'string' ? may : may ? undefined : 'no project may be linked to it';
        return { name: account.replace('billingAccounts/', ''), lack, mend: mendOf('roles/billing.user', account) };
      }),
    ),
  judge: (looked) => verdictOf(looked, 'none is named'),
});

export const zones = defineFinding({
  code: 'dns-zones',
  title: 'DNS zones',
  why: 'Names of bootstraps are delegated there.',
  by: 'check',
  about: [],
  ask: ({ context: { cloud, config } }) =>
    Promise.all(
      zonesOf(config).map(async ({ project, zone }): Promise<Looked> => {
        const name = `${project}/${zone}`;
        const missing = await missingOn(cloud, project, zone).catch(asLack);
        const mend = mendOf('roles/dns.admin', `the zone ${zone} of ${project}`);
        return { name, lack: missing === '' ? undefined : `plinth lacks ${missing}`, mend };
      }),
    ),
  judge: (looked) => verdictOf(looked, 'none is named'),
});

/** A zone that is not there is made where plinth may make zones. */
async function missingOn({ dns, projects }: Cloud, project: string, zone: string): Promise<string> {
  const held = await dns.held(project, zone, onZone);
  const missing = onZone.filter((each) => !held.includes(each));
  if (missing.length === 0) return '';
  const toMake = await projects.held(`projects/${project}`, toMakeZones).catch(noneIfHidden);
  return toMake.length > 0 ? '' : missing.join(', ');
}
