/** Provides the DNS zone of the base domain. It uses an existing zone if it fits, and creates one otherwise. */
import { Problem } from '../../../shared/problems.js';
import { type Asking, defineFinding, ok, stop } from '../../engine/finding.js';
import {
  again,
  type BootstrapFacts,
  defineStep,
  done,
  doneWith,
  type Outcome,
  type StepCall,
} from '../../engine/step.js';
import { dnsProjectOf } from '../topology.js';
import { apis } from './apis.js';
import { unlessThere } from './following.js';
import { ZoneOutput } from './outputs.js';
import { settling } from './settling.js';

/** The zone of another project. Undefined: it is not there, or it will be made in the bootstrap's own. */
export const sharedZone = ({ context, intent, once }: Asking) => {
  const { dnsProjectId, dnsZoneName } = intent.options;
  return once('DNS zone', async () =>
    dnsProjectId === undefined
      ? undefined
      : inDnsProject({ bootstrap: intent }, () => context.cloud.dns.zone(dnsProjectId, dnsZoneName)),
  );
};

export const hasSharedZone = ({ intent: { options } }: Asking): boolean => options.dnsProjectId !== undefined;

const fits = defineFinding({
  code: 'dns-zone',
  title: 'DNS zone',
  why: 'The names of the platform are written there.',
  by: 'check',
  about: ['baseDomain', 'dnsProjectId', 'dnsZoneName'],
  async ask(asking) {
    try {
      return { found: await sharedZone(asking) };
    } catch (error) {
      // Google refuses for good. Anything else may pass.
      if (error instanceof Problem && error.kind.status < 500) return { refused: error };
      throw error;
    }
  },
  judge(read, { options }) {
    const { baseDomain, dnsProjectId, dnsZoneName } = options;
    if ('refused' in read) return stop(read.refused);
    if (dnsProjectId === undefined) return ok(`${dnsZoneName} is made in the bootstrap's own project`);
    if (read.found === undefined) return ok(`${dnsZoneName} is made in ${dnsProjectId}, for ${baseDomain}`);
    const { dnsName } = read.found;
    const misfit = misfitOf(options, dnsProjectId, dnsName);
    return misfit === undefined ? ok(`${dnsZoneName} of ${dnsProjectId} is for ${dnsName}`) : stop(misfit);
  },
});

type Call = Pick<StepCall, 'context' | 'bootstrap'>;
type Zone = NonNullable<Awaited<ReturnType<StepCall['context']['cloud']['dns']['zone']>>>;

export const zone = defineStep({
  name: 'zone',
  title: 'DNS zone',
  lane: 'cloud',
  needs: { apis },
  holds: ['dnsProjectId', 'dnsZoneName'],
  describe: ({ baseDomain, dnsProjectId, dnsZoneName }) => [
    dnsProjectId === undefined
      ? `DNS zone ${dnsZoneName} for ${baseDomain}, unless it is there`
      : `DNS zone ${dnsZoneName} for ${baseDomain} in the project ${dnsProjectId}, unless it is there; of its own if that one is for a domain above`,
  ],
  output: ZoneOutput,
  checks: [fits],

  async observe(call) {
    const given = await readZone(call);
    if (given === undefined || !covers(given.dnsName, call.bootstrap.options.baseDomain)) return undefined;
    const metadata = await readMetadata(call);
    const place = placeOf(call, given);
    if (changedMetadata(call, place, metadata) !== undefined) return undefined;
    const found = place.parent === undefined ? given : await readOwn(call, place);
    if (found === undefined || (place.parent !== undefined && found.dnsName !== domainOf(call))) return undefined;
    return { ...place, dnsName: found.dnsName, nameServers: [...(found.nameServers ?? [])] };
  },

  async run(call) {
    const { dns, compute } = call.context.cloud;
    const { options, projectId, id } = call.bootstrap;
    const given = await readZone(call);
    const misfit = given && misfitOf(options, dnsProjectOf(options, projectId), given.dnsName);
    if (misfit !== undefined) throw misfit;
    const metadata = await readMetadata(call);
    const place = placeOf(call, given);
    // Write it before the first record. Teardown can then find, from the project alone, what is outside of it.
    const changed = changedMetadata(call, place, metadata);
    if (changed !== undefined) {
      const request = call.requestId(`metadata ${changed.fingerprint ?? ''}`);
      const begun = await settling(compute.setCommonMetadata(projectId, changed, request));
      if (begun.failure !== undefined) throw begun.failure;
    }
    const found = place.parent === undefined ? given : await readOwn(call, place);
    if (place.parent !== undefined && found !== undefined && found.dnsName !== domainOf(call)) {
      throw zoneOfAnother(options, place.project, found.dnsName);
    }
    if (found !== undefined) return again(1, 'the metadata is being written');
    const making = () =>
      dns.createZone(place.project, place.zone, domainOf(call), `Made by plinth for bootstrap ${id}`);
    return unlessThere(
      (place.parent === undefined ? inDnsProject(call, making) : settling(making())).then(() => done),
      'the zone is being made',
    );
  },

  goes: 'project',
  summary: ({ dnsName, nameServers }) => `${dnsName} on ${nameServers.join(', ')}`,
});

/** Where the zone with the records is, and the zone above that is to delegate to it, if there is one. */
interface Place {
  readonly project: string;
  readonly zone: string;
  readonly parent?: { readonly project: string; readonly zone: string };
}

/** A zone of a domain above is shared with others. So the domain gets a zone of its own, of the same name. */
function placeOf(call: Call, given: Zone | undefined): Place {
  const { options, projectId } = call.bootstrap;
  const there = { project: dnsProjectOf(options, projectId), zone: options.dnsZoneName };
  if (given === undefined || there.project === projectId || given.dnsName === domainOf(call)) return there;
  return { project: projectId, zone: options.dnsZoneName, parent: there };
}

const domainOf = ({ bootstrap }: Call): string => `${bootstrap.options.baseDomain}.`;

type Options = BootstrapFacts['options'];

const zoneOfAnother = (options: Options, project: string, dnsName: string): Problem =>
  new Problem(
    'cloud-conflict',
    `The DNS zone ${options.dnsZoneName} of ${project} is for ${dnsName}, and ${options.baseDomain} does not lie in it.`,
    { advice: 'Give another --dns-zone-name, or delete that zone; then run the same command again.' },
  );

/** The zone that the options name. */
const readZone = (call: Call) =>
  inDnsProject(call, () => {
    const { options, projectId } = call.bootstrap;
    return call.context.cloud.dns.zone(dnsProjectOf(options, projectId), options.dnsZoneName);
  });

const readOwn = ({ context }: Call, { project, zone }: Place) => settling(context.cloud.dns.zone(project, zone));

/** Why the zone cannot have the names of the domain. */
const misfitOf = (options: Options, project: string, dnsName: string): Problem | undefined =>
  covers(dnsName, options.baseDomain) ? undefined : zoneOfAnother(options, project, dnsName);

/** A zone fits if the domain equals its name or is below it. */
const covers = (dnsName: string, domain: string): boolean => `.${domain}.`.endsWith(`.${dnsName}`);

/**
 * The bootstrap's own project may not be ready yet, while another project refuses for good. With a role on single zones only,
 * Google answers 403 for a missing zone too.
 */
export async function inDnsProject<T>(
  { bootstrap: { options } }: { readonly bootstrap: { readonly options: Options } },
  work: () => Promise<T>,
): Promise<T> {
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
        advice: `Check --dns-project-id and --dns-zone-name. If they are right, ask an administrator of ${dnsProjectId} to make the zone ${dnsZoneName}, for ${baseDomain} or a domain above, if it is missing, and to grant plinth's service account roles/dns.admin on that zone, or on the project; then run the same command again.`,
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
  /** `<project>/<zone>` of the zone that delegates the domain, or `none`. Absent in a zone of the project's own. */
  parent: 'plinth-dns-parent',
} as const;

const valueIn =
  ({ items = [] }: Metadata) =>
  (name: string): string | undefined =>
    items.find(({ key }) => key === name)?.value;

/** Undefined if nothing has to change. Entries of others are kept. */
function changedMetadata(call: Call, place: Place, found: Metadata): Metadata | undefined {
  const { options, projectId } = call.bootstrap;
  const isOwn = place.project === projectId && place.parent === undefined;
  const parent = place.parent === undefined ? 'none' : `${place.parent.project}/${place.parent.zone}`;
  const wanted: Readonly<Record<string, string>> = {
    [metadataKeys.project]: place.project,
    [metadataKeys.zone]: place.zone,
    [metadataKeys.domain]: options.baseDomain,
    ...(isOwn ? {} : { [metadataKeys.parent]: parent }),
  };
  const value = valueIn(found);
  if (Object.entries(wanted).every(([name, text]) => value(name) === text)) return undefined;
  return {
    ...(found.fingerprint === undefined ? {} : { fingerprint: found.fingerprint }),
    items: [
      ...(found.items ?? []).filter(({ key }) => wanted[key] === undefined).map(({ key, value }) => ({ key, value })),
      ...Object.entries(wanted).map(([key, value]) => ({ key, value })),
    ],
  };
}
