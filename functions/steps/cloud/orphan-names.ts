/**
 * What a project that no record knows has in DNS outside of itself: its common instance metadata says where, its own addresses
 * say which records are meant.
 */
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import { Problem } from '../../../shared/problems.js';
import { findProofKey } from '../../engine/proof.js';
import { doneWith, type Outcome, type StepCall } from '../../engine/step.js';
import { recordsOf } from '../topology.js';
import { metadataKeys } from './zone.js';

type Call = Pick<StepCall, 'context' | 'bootstrap'>;

/** Its options as far as they tell of DNS; undefined: nothing is known, or it goes with the project. */
async function findNames(call: Call): Promise<BootstrapOptions | undefined> {
  const { context, bootstrap } = call;
  const { cloud } = context;
  const { projectId, options } = bootstrap;
  const project = await unlessRefused(cloud.projects.get(projectId));
  if (project?.state !== 'ACTIVE') return undefined;
  // Judged here too: nothing of a project that stays is touched.
  const against = bootstrap.orphan?.(project, await findProofKey(context));
  if (against !== undefined)
    throw new Problem('cloud-conflict', `The project ${projectId} is not touched: ${against}.`);
  const { items = [] } = (await unlessRefused(cloud.compute.commonMetadata(projectId))) ?? {};
  const value = (name: string) => items.find(({ key }) => key === name)?.value ?? '';
  const [dnsProjectId, dnsZoneName, baseDomain] = [
    value(metadataKeys.project),
    value(metadataKeys.zone),
    value(metadataKeys.domain),
  ];
  if (dnsProjectId === '' || dnsProjectId === projectId || dnsZoneName === '' || baseDomain === '') return undefined;
  return { ...options, dnsProjectId, dnsZoneName, baseDomain };
}

/** Every name that a bootstrap could have written there, with every address of the project: never another's value. */
export async function namesOf({ context, bootstrap }: Call, options: BootstrapOptions) {
  const addresses = (await unlessRefused(context.cloud.compute.allAddresses(bootstrap.projectId))) ?? [];
  const names = [false, true].flatMap((multiDc) => recordsOf({ ...options, multiDc }).map(({ name }) => name));
  return [...new Set(names)].flatMap((name) => addresses.map((address) => ({ name, address })));
}

/** A zone that plinth may not change any more does not keep a project that costs: what is left there is said. */
export async function undoOfOrphan(
  call: Call,
  undo: (options: BootstrapOptions) => Promise<Outcome>,
): Promise<Outcome> {
  const options = await findNames(call);
  if (options === undefined) return doneWith('nothing is known of names in another project');
  try {
    return await undo(options);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return doneWith(`left in the zone ${options.dnsZoneName} of ${options.dnsProjectId}: ${error.detail}`);
  }
}

const isRefusal = (error: unknown): error is Problem =>
  error instanceof Problem && error.code.startsWith('cloud-') && ['none', 'propagation'].includes(error.kind.retry);

async function unlessRefused<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isRefusal(error)) return undefined;
    throw error;
  }
}
