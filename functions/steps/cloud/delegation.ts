/** Delegates the domain to its own zone, by one record set in the shared zone of a domain above. */
import * as z from 'zod';
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import { Problem } from '../../../shared/problems.js';
import { defineFinding, ok, stop } from '../../engine/finding.js';
import { again, defineStep, done, doneWith, type Outcome, type StepCall, type StepFiles } from '../../engine/step.js';
import { recordTtlSeconds } from '../topology.js';
import { delegationOfOrphan } from './orphan-names.js';
import { DelegationOutput } from './outputs.js';
import { hasSharedZone, inDnsProject, sharedZone, undoInDnsProject, zone } from './zone.js';

type Call = StepCall<{ readonly zone: typeof zone }, undefined>;
type RecordSet = Awaited<ReturnType<StepCall['context']['cloud']['dns']['records']>>[number];

/** A record set of name servers that this bootstrap wrote. */
interface Written {
  readonly project: string;
  readonly zone: string;
  /** With the final dot. */
  readonly name: string;
  readonly nameServers: readonly string[];
}

const namesAreFree = defineFinding({
  code: 'dns-records',
  title: 'Names of the domain',
  why: 'A delegation would hide the records of others, so plinth writes none over them.',
  by: 'check',
  standsOn: 'dns-zone',
  about: ['baseDomain', 'dnsProjectId', 'dnsZoneName'],
  when: hasSharedZone,
  async ask(asking) {
    const { dnsProjectId = '', dnsZoneName, baseDomain } = asking.intent.options;
    const name = `${baseDomain}.`;
    const zone = await sharedZone(asking);
    // In a zone of the domain itself, records are added to what is there.
    if (zone === undefined || zone.dnsName === name) return { name, foreign: [] };
    const records = await asking.context.cloud.dns.records(dnsProjectId, dnsZoneName);
    return { name, foreign: recordsBeneath(records, name) };
  },
  judge({ name, foreign }, { options: { dnsProjectId = '', dnsZoneName } }) {
    const taken = namesTaken(foreign, { project: dnsProjectId, zone: dnsZoneName, name });
    return taken === undefined ? ok(`${name} is free`) : stop(taken);
  },
});

export const delegation = defineStep({
  name: 'delegation',
  title: 'Delegation of the domain',
  lane: 'cloud',
  needs: { zone },
  when: (options: BootstrapOptions) => options.dnsProjectId !== undefined,
  describe: ({ baseDomain, dnsProjectId, dnsZoneName }) => [
    `NS record ${baseDomain} in the zone ${dnsZoneName} of ${dnsProjectId}, if that one is for a domain above`,
  ],
  output: DelegationOutput,
  checks: [namesAreFree],

  async observe(call) {
    const wanted = wantedOf(call);
    if (wanted === undefined) return {};
    const { project, zone, name } = wanted;
    const standing = (await beneath(call, wanted)).find((each) => each.type === 'NS' && each.name === name);
    return standing !== undefined && isSet(standing, wanted) && standing.ttl === recordTtlSeconds
      ? { written: { project, zone, name } }
      : undefined;
  },

  async run(call) {
    const wanted = wantedOf(call);
    if (wanted === undefined) return again(1, 'the zone above is being looked at');
    const { project, zone, name, nameServers } = wanted;
    const written = await readWritten(call.files);
    const standing = await beneath(call, wanted);
    const deletions = standing.filter((each) => isOurs(each, [...written, wanted]));
    const foreign = standing.filter((each) => !deletions.includes(each));
    const taken = namesTaken(foreign, wanted);
    if (taken !== undefined) throw taken;
    // Note it before the change, so that after a crash it still counts as ours.
    await writeWritten(call.files, [...written.filter((each) => !isSame(each, wanted)), wanted]);
    const addition = { name, type: 'NS', ttl: recordTtlSeconds, rrdatas: [...nameServers] };
    const { status } = await inDnsProject(call, () =>
      call.context.cloud.dns.change(project, zone, { additions: [addition], deletions }),
    );
    return status === 'done' ? done : again(3, 'the delegation is on its way to the name servers');
  },

  goes: 'undo',
  removes: ({ options: { baseDomain, dnsProjectId, dnsZoneName } }) =>
    dnsProjectId === undefined
      ? []
      : [`NS record ${baseDomain}. in the zone ${dnsZoneName} of ${dnsProjectId}, if it is as plinth wrote it`],
  async undo(call) {
    const written = await readWritten(call.files);
    let left = written;
    const undo = async (found: readonly Written[]): Promise<Outcome> => {
      const outcome = await remove(call, found);
      left = [];
      return outcome;
    };
    const names = [...new Set(written.map(({ name }) => name))];
    const outcome =
      call.bootstrap.orphan === undefined
        ? await undoInDnsProject(call, names.length === 0 ? 'no record' : `the NS record ${names.join(', ')}`, () =>
            undo(written),
          )
        : await delegationOfOrphan(call, written, undo);
    if (outcome.kind === 'done' && written.length > 0) await writeWritten(call.files, left);
    return outcome;
  },
  summary: ({ written }) => (written === undefined ? 'none is needed' : `${written.name} in ${written.zone}`),
});

function wantedOf({ bootstrap, needs: { zone } }: Call): Written | undefined {
  const { parent, nameServers } = zone;
  return parent && { ...parent, name: `${bootstrap.options.baseDomain}.`, nameServers: [...nameServers].sort() };
}

/** What the zone above has at the domain or beneath it. A delegation would hide all of that. */
const beneath = async (call: Call, { project, zone, name }: Written): Promise<RecordSet[]> =>
  recordsBeneath(await inDnsProject(call, () => call.context.cloud.dns.records(project, zone)), name);

/** `name` has the final dot. */
const recordsBeneath = (records: readonly RecordSet[], name: string): RecordSet[] =>
  records.filter((each) => `.${each.name}`.endsWith(`.${name}`));

const isSet = ({ rrdatas = [] }: RecordSet, { nameServers }: Written): boolean =>
  rrdatas.length === nameServers.length && rrdatas.every((each) => nameServers.includes(each));

const isOurs = (record: RecordSet, written: readonly Written[]): boolean =>
  record.type === 'NS' && written.some((each) => each.name === record.name && isSet(record, each));

const isSame = (a: Written, b: Written): boolean => JSON.stringify(a) === JSON.stringify(b);

/**
 * Removes exactly the record sets that this bootstrap wrote, if they still have its values. It is over once Cloud DNS says so
 * and no name server of the zone above refers to the domain's own zone. Until then somebody else could take that zone's place.
 * A server that holds the domain's own zone, too, answers from that and never refers to it: then the word of Cloud DNS counts.
 */
async function remove(call: Leaving, written: readonly Written[]): Promise<Outcome> {
  const { dns } = call.context.cloud;
  const above: Above[] = [];
  let changed = false;
  for (const { project, zone, name } of unique(written)) {
    const found = await dns.zone(project, zone);
    if (found === undefined) continue;
    above.push({ project, zone, name, nameServers: found.nameServers ?? [] });
    const standing = (await dns.records(project, zone)).filter((each) => each.type === 'NS' && each.name === name);
    const deletions = standing.filter((each) => isOurs(each, written));
    if (deletions.length > 0) await dns.change(project, zone, { additions: [], deletions });
    changed ||= deletions.length < standing.length;
  }
  const count = unique(written).length;
  if (count === 0) return doneWith('there was none');
  return changed ? doneWith('left, as somebody changed it') : seenGone(call, above, `${count} removed`);
}

type Leaving = Pick<StepCall, 'context' | 'files'>;

/** The zone above a name, with its own name servers. */
type Above = Written;

const looks = 40;
const lookSeconds = 3;

/** A project that costs money does not wait for name servers that cannot be asked. */
async function seenGone(call: Leaving, above: readonly Above[], removed: string): Promise<Outcome> {
  const against = await standsAt(call, above);
  if (against === undefined) return doneWith(`${removed}; gone at its name servers`);
  const looked = Number((await call.files.read(looksFile)) || 0) + 1;
  if (looked >= looks) return doneWith(`${removed}; not seen gone at its name servers: ${against}`);
  await call.files.write(looksFile, String(looked));
  return again(lookSeconds, 'the name servers still know the delegation');
}

/** Why the delegation does not count as gone. */
async function standsAt({ context }: Leaving, above: readonly Above[]): Promise<string | undefined> {
  try {
    for (const { project, zone, name, nameServers } of above) {
      if (await isPending(context.cloud, project, zone, name)) return `Cloud DNS is still removing ${name}`;
      if (await context.cloud.nameServers.refer(name, nameServers)) return `they still refer to the zone of ${name}`;
    }
    return undefined;
  } catch (error) {
    if (error instanceof Problem) throw error;
    return `they cannot be asked (${error instanceof Error ? error.message : String(error)})`;
  }
}

async function isPending({ dns }: Leaving['context']['cloud'], project: string, zone: string, name: string) {
  const changes = await dns.changes(project, zone);
  return changes.some(
    ({ status, deletions = [] }) =>
      status === 'pending' && deletions.some((each) => each.type === 'NS' && each.name === name),
  );
}

const unique = (written: readonly Written[]): Written[] => [
  ...new Map(written.map((each) => [`${each.project} ${each.zone} ${each.name}`, each])).values(),
];

/** Undefined: no record is in the way. */
const namesTaken = (
  foreign: readonly RecordSet[],
  { project, zone, name }: Pick<Written, 'project' | 'zone' | 'name'>,
): Problem | undefined => {
  if (foreign.length === 0) return undefined;
  const words = foreign.map((each) => `${each.name} ${each.type} ${(each.rrdatas ?? []).join(' ')}`);
  return new Problem(
    'cloud-conflict',
    `${name} cannot be delegated: the DNS zone ${zone} of ${project} has records there that this bootstrap did not write: ${words.join(', ')}.`,
    {
      advice:
        'Delete them, or give another --base-domain; then run the same command again. plinth never changes records of others.',
    },
  );
};

/* The record sets that this bootstrap wrote, stored to recognize them later. */

const file = 'delegation-written';
const looksFile = 'delegation-looks';
const WrittenFile = z.array(
  z.object({ project: z.string(), zone: z.string(), name: z.string(), nameServers: z.array(z.string()) }),
);

async function readWritten(files: StepFiles): Promise<readonly Written[]> {
  const text = await files.read(file);
  return text === undefined || text === '' ? [] : WrittenFile.parse(JSON.parse(text));
}

/** What stands there while the zone that it leads to is gone lets others take the name over. */
const writeWritten = (files: StepFiles, written: readonly Written[]): Promise<void> =>
  written.length === 0
    ? files.write(file, '')
    : files.write(file, JSON.stringify(written), `the delegation ${unique(written).map(placeOf).join(', ')}`);

const placeOf = ({ project, zone, name }: Written): string => `${name} in the zone ${zone} of ${project}`;
