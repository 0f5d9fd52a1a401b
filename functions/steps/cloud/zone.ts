/** Provides the DNS zone of the base domain. It uses an existing zone if it fits, and creates one otherwise. */
import { Problem } from '../../../shared/problems.js';
import { again, defineStep, done, doneWith, type Outcome, type StepCall } from '../../engine/step.js';
import { dnsProjectOf } from '../topology.js';
import { apis } from './apis.js';
import { unlessThere } from './following.js';
import { ZoneOutput } from './outputs.js';
import { settling } from './settling.js';

type Call = Pick<StepCall, 'context' | 'bootstrap'>;

export const zone = defineStep({
  name: 'zone',
  title: 'DNS zone',
  lane: 'cloud',
  needs: { apis },
  holds: ['dnsProjectId', 'dnsZoneName'],
  describe: ({ baseDomain, dnsProjectId, dnsZoneName }) => [
    `DNS zone ${dnsZoneName} for ${baseDomain}${dnsProjectId === undefined ? '' : ` in the project ${dnsProjectId}`}, unless it is there`,
  ],
  output: ZoneOutput,

  async observe(call) {
    const { options, projectId } = call.bootstrap;
    const found = await readZone(call);
    if (found === undefined || !covers(found.dnsName, options.baseDomain)) return undefined;
    if (changedMetadata(call, await readMetadata(call)) !== undefined) return undefined;
    const nameServers = [...(found.nameServers ?? [])];
    return { project: dnsProjectOf(options, projectId), zone: found.name, dnsName: found.dnsName, nameServers };
  },

  async run(call) {
    const { dns, compute } = call.context.cloud;
    const { options, projectId, id } = call.bootstrap;
    const project = dnsProjectOf(options, projectId);
    const found = await readZone(call);
    if (found !== undefined && !covers(found.dnsName, options.baseDomain)) {
      throw new Problem(
        'cloud-conflict',
        `The DNS zone ${options.dnsZoneName} of ${project} is for ${found.dnsName}, and ${options.baseDomain} does not lie in it.`,
        { advice: 'Give another --dns-zone-name, or delete that zone; then run the same command again.' },
      );
    }
    // Write it before the first record. Teardown can then find, from the project alone, what is outside of it.
    const changed = changedMetadata(call, await readMetadata(call));
    if (changed !== undefined) {
      const request = call.requestId(`metadata ${changed.fingerprint ?? ''}`);
      const begun = await settling(compute.setCommonMetadata(projectId, changed, request));
      if (begun.failure !== undefined) throw begun.failure;
    }
    if (found !== undefined) return again(1, 'the metadata is being written');
    const description = `Made by plinth for bootstrap ${id}`;
    const making = inDnsProject(call, () =>
      dns.createZone(project, options.dnsZoneName, `${options.baseDomain}.`, description),
    );
    return unlessThere(
      making.then(() => done),
      'the zone is being made',
    );
  },

  goes: 'project',
  summary: ({ dnsName, nameServers }) => `${dnsName} on ${nameServers.join(', ')}`,
});

const readZone = (call: Call) =>
  inDnsProject(call, () => {
    const { options, projectId } = call.bootstrap;
    return call.context.cloud.dns.zone(dnsProjectOf(options, projectId), options.dnsZoneName);
  });

/** A zone fits if the domain equals its name or is below it. */
const covers = (dnsName: string, domain: string): boolean => `.${domain}.`.endsWith(`.${dnsName}`);

/**
 * The bootstrap's own project may not be ready yet, while another project refuses for good. With a role on single zones only,
 * Google answers 403 for a missing zone too.
 */
export async function inDnsProject<T>({ bootstrap: { options } }: Call, work: () => Promise<T>): Promise<T> {
  const { dnsProjectId, dnsZoneName, baseDomain } = options;
  if (dnsProjectId === undefined) return settling(work());
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (isDisabled(error)) {
      throw new Problem('cloud-permission', error.detail, {
        advice: `Check --dns-project-id, and enable dns.googleapis.com in ${dnsProjectId}; then run the same command again.`,
        cause: error,
      });
    }
    if (error.code !== 'cloud-permission') throw error;
    throw new Problem(
      'cloud-permission',
      `${error.detail} Either ${dnsProjectId} has no zone ${dnsZoneName}, or plinth has no role on it that allows this.`,
      {
        advice: `Check --dns-project-id and --dns-zone-name. If they are right, ask an administrator of ${dnsProjectId} to make the zone ${dnsZoneName}, for ${baseDomain} or a domain above, if it is missing, and to grant plinth's service account roles/dns.admin on that zone, or on the project, and there too a role that holds dns.managedZones.setIamPolicy; then run the same command again.`,
        cause: error,
      },
    );
  }
}

/**
 * Everything in the bootstrap's own project disappears with it, even if the project is gone already or was never ready. If
 * plinth may no longer change another project, that must not keep a project that costs money. `what` is left there, and the
 * outcome says so.
 */
export async function undoInDnsProject(
  { bootstrap: { options } }: Call,
  what: string,
  undo: () => Promise<Outcome>,
): Promise<Outcome> {
  const { dnsProjectId, dnsZoneName } = options;
  try {
    return await undo();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (dnsProjectId !== undefined) {
      // Any other error may pass with a retry. A leftover name would point to an address that others may get.
      if (error.code !== 'cloud-permission' && !isDisabled(error)) throw error;
      return doneWith(`left in the zone ${dnsZoneName} of ${dnsProjectId}: ${what}. ${error.detail}`);
    }
    // This includes an API that was never enabled there, which no wait would change.
    const refused = ['none', 'propagation'].includes(error.kind.retry);
    if (refused && error.code.startsWith('cloud-')) return doneWith('it goes with the project');
    throw error;
  }
}

/** Nobody has just enabled the API there, so waiting would not help. */
const isDisabled = ({ members }: Problem): boolean =>
  Array.isArray(members?.['reasons']) && members['reasons'].includes('SERVICE_DISABLED');

/* Common instance metadata: it names the zone with the records of this bootstrap. */

type Metadata = Awaited<ReturnType<typeof readMetadata>>;

const readMetadata = ({ context, bootstrap }: Call) =>
  settling(context.cloud.compute.commonMetadata(bootstrap.projectId));

export const metadataKeys = {
  project: 'plinth-dns-project',
  zone: 'plinth-dns-zone',
  domain: 'plinth-base-domain',
} as const;

/** Undefined if nothing has to change. Entries of others are kept. */
function changedMetadata({ bootstrap: { options, projectId } }: Call, found: Metadata): Metadata | undefined {
  const wanted: Readonly<Record<string, string>> = {
    [metadataKeys.project]: dnsProjectOf(options, projectId),
    [metadataKeys.zone]: options.dnsZoneName,
    [metadataKeys.domain]: options.baseDomain,
  };
  const items = found.items ?? [];
  const value = (name: string) => items.find(({ key }) => key === name)?.value;
  if (Object.entries(wanted).every(([name, text]) => value(name) === text)) return undefined;
  return {
    ...(found.fingerprint === undefined ? {} : { fingerprint: found.fingerprint }),
    items: [
      ...items.filter(({ key }) => wanted[key] === undefined).map(({ key, value }) => ({ key, value })),
      ...Object.entries(wanted).map(([key, value]) => ({ key, value })),
    ],
  };
}
