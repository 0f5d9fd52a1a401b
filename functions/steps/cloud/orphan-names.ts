/**
 * Finds the DNS records of a project without a record, in zones outside of the project. The common instance metadata names the
 * zone, and the project's own addresses identify the records.
 */
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import { Problem } from '../../../shared/problems.js';
import { findProofKey } from '../../engine/proof.js';
import { doneWith, type Outcome, type StepCall } from '../../engine/step.js';
import { recordsOf } from '../topology.js';
import { metadataKeys } from './zone.js';

type Call = Pick<StepCall, 'context' | 'bootstrap'>;

/** What the common metadata says of names. Undefined if the project is gone. */
async function findMetadata(call: Call): Promise<((name: string) => string) | undefined> {
  const { context, bootstrap } = call;
  const { cloud } = context;
  const { projectId } = bootstrap;
  const project = await unlessRefused(cloud.projects.get(projectId));
  if (project?.state !== 'ACTIVE') return undefined;
  // Check here too. plinth touches nothing of a project that stays.
  const against = bootstrap.orphan?.(project, await findProofKey(context));
  if (against !== undefined)
    throw new Problem('cloud-conflict', `The project ${projectId} is not touched: ${against}.`);
  const { items = [] } = (await unlessRefused(cloud.compute.commonMetadata(projectId))) ?? {};
  return (name) => items.find(({ key }) => key === name)?.value ?? '';
}

/**
 * The options of the project as far as DNS matters. Undefined if nothing is known, or if the zone disappears with the project.
 */
async function findNames(call: Call): Promise<BootstrapOptions | undefined> {
  const { projectId, options } = call.bootstrap;
  const value = await findMetadata(call);
  if (value === undefined) return undefined;
  const [dnsProjectId, dnsZoneName, baseDomain] = [
    value(metadataKeys.project),
    value(metadataKeys.zone),
    value(metadataKeys.domain),
  ];
  if (dnsProjectId === '' || dnsProjectId === projectId || dnsZoneName === '' || baseDomain === '') return undefined;
  return { ...options, dnsProjectId, dnsZoneName, baseDomain };
}

/**
 * Every name that a bootstrap could have written there, with every address of the project. So no one else's record matches.
 */
export async function namesOf({ context, bootstrap }: Call, options: BootstrapOptions) {
  const addresses = (await unlessRefused(context.cloud.compute.allAddresses(bootstrap.projectId))) ?? [];
  const names = [false, true].flatMap((multiDc) => recordsOf({ ...options, multiDc }).map(({ name }) => name));
  return [...new Set(names)].flatMap((name) => addresses.map((address) => ({ name, address })));
}

/** If plinth may no longer change the zone, that must not keep a project that costs money. The outcome says what is left. */
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

/** The record set that delegates to the project's own zone, as its metadata and that zone say. */
export interface Delegated {
  readonly project: string;
  readonly zone: string;
  /** With the final dot. */
  readonly name: string;
  readonly nameServers: readonly string[];
}

/** Without its own zone no name servers are known, and nothing proves whose a record set is. */
async function findDelegation(call: Call): Promise<Delegated | undefined> {
  const { context, bootstrap } = call;
  const value = await findMetadata(call);
  const [project = '', zone = ''] = value?.(metadataKeys.parent).split('/') ?? [];
  if (value === undefined || project === '' || zone === '' || project === bootstrap.projectId) return undefined;
  const name = `${value(metadataKeys.domain)}.`;
  const own = await unlessRefused(context.cloud.dns.zone(bootstrap.projectId, value(metadataKeys.zone)));
  return { project, zone, name, nameServers: own?.dnsName === name ? (own.nameServers ?? []) : [] };
}

/** `noted`: what the bootstrap noted when it wrote it. That counts alone, if it is not lost with the record. */
export async function delegationOfOrphan(
  call: Call,
  noted: readonly Delegated[],
  undo: (delegated: readonly Delegated[]) => Promise<Outcome>,
): Promise<Outcome> {
  const seen = await findDelegation(call);
  const found = noted[0] ?? seen;
  if (found === undefined) return doneWith('nothing is known of a delegation in another project');
  const left = `left in the zone ${found.zone} of ${found.project}: the NS record ${found.name}`;
  if (found.nameServers.length === 0) return doneWith(`${left}, if there is one. Its own zone is gone.`);
  try {
    return await undo(noted.length > 0 ? noted : [found]);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return doneWith(`${left} ${error.detail}`);
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
