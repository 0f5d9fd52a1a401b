/**
 * Whether the project's quotas suffice. Each project has its own, so nothing is known before it is made. plinth's own project
 * says nothing of it.
 */

import { defineFinding, type Intent, type Likely } from '../../engine/finding.js';
import type { BootstrapRecord, InstanceRecord } from '../../engine/record/documents.js';
import { optionsOf } from '../../engine/record/documents.js';
import { QuotaOutput } from '../../steps/cloud/outputs.js';
import { countedNeeds } from '../../steps/topology.js';
import { endOf, lastProject, newestWith } from '../past.js';

interface Known {
  readonly at: string;
  readonly limits: ReadonlyMap<string, number>;
}

export const quota = defineFinding({
  code: 'quota',
  title: 'Quotas of the project',
  why: 'Each project has quotas of its own, which Google shows once it is made.',
  by: 'bootstraps',
  about: ['billingAccount', 'folderId', 'region', 'rootDiskSize', 'multiDc'],
  async ask(asking) {
    const records = await lastProject(asking);
    return newestWith(records, 'quota', (found, record) => knownBy(found, record, asking.intent));
  },
  judge(known, { options, machineAccess, loadBalancers }) {
    const needs = countedNeeds({ options, machineAccess }, known?.limits ?? new Map(), loadBalancers);
    const words = (names: readonly string[]) =>
      names.map((name) => `${name} ${needs[name]} (limit ${known?.limits.get(name)})`).join(', ');
    const mend = 'What Google can be asked beforehand: docs/operate/deploy.md, "Quotas".';
    if (known === undefined) {
      const needed = ['CPUS', 'SSD_TOTAL_GB'].flatMap((name) =>
        needs[name] === undefined ? [] : `${name} ${needs[name]}`,
      );
      return { state: 'unknown', what: `it needs ${needed.join(', ')}`, mend };
    }
    const short = Object.keys(needs).filter((name) => (needs[name] ?? 0) > (known.limits.get(name) ?? Infinity));
    const likely: Likely = { state: short.length > 0 ? 'stop' : 'ok', at: known.at };
    const what = short.length > 0 ? `too little in the last project: ${words(short)}` : 'enough in the last project';
    return { state: 'unknown', what, mend, likely };
  },
});

/** The limits that the check of a project saw, enough or not. */
function knownBy(found: InstanceRecord, record: BootstrapRecord, { options }: Intent): Known | undefined {
  if (optionsOf(record).region !== options.region) return undefined;
  const checked = QuotaOutput.safeParse(found.output).data?.checked ?? found.problem?.short;
  if (checked === undefined) return undefined;
  return { at: endOf(found, record), limits: new Map(checked.map(({ metric, limit }) => [metric, limit])) };
}
