/** Delegates the domain to its own zone, by one record set in the shared zone of a domain above. */
import * as z from 'zod';
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import { Problem } from '../../../shared/problems.js';
import { again, defineStep, done, doneWith, type Outcome, type StepCall, type StepFiles } from '../../engine/step.js';
import { recordTtlSeconds } from '../topology.js';
import { delegationOfOrphan } from './orphan-names.js';
import { DelegationOutput } from './outputs.js';
import { inDnsProject, undoInDnsProject, zone } from './zone.js';

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
    if (foreign.length > 0) throw taken(foreign, wanted);
    // Note it before the change, so that after a crash it still counts as ours.
    await writeWritten(call.files, [...written.filter((each) => !isSame(each, wanted)), wanted]);
    const addition = { name, type: 'NS', ttl: recordTtlSeconds, rrdatas: [...nameServers] };
    const { status } = await inDnsProject(call, () =>
      call.context.cloud.dns.change(project, zone, { additions: [addition], deletions }),
    );
    return status === 'done' ? done : again(3, 'the delegation is on its way to the name servers');
  },

  goes: 'undo',
  async undo(call) {
    if (call.bootstrap.orphan !== undefined) {
      return delegationOfOrphan(call, ({ project, zone, name, nameServers }) =>
        remove(call, [{ project, zone, name, nameServers }]),
      );
    }
    const written = await readWritten(call.files);
    const names = [...new Set(written.map(({ name }) => name))];
    return undoInDnsProject(call, names.length === 0 ? 'no record' : `the NS record ${names.join(', ')}`, async () => {
      const outcome = await remove(call, written);
      await writeWritten(call.files, []);
      return outcome;
    });
  },
  summary: ({ written }) => (written === undefined ? 'none is needed' : `${written.name} in ${written.zone}`),
});

function wantedOf({ bootstrap, needs: { zone } }: Call): Written | undefined {
  const { parent, nameServers } = zone;
  return parent && { ...parent, name: `${bootstrap.options.baseDomain}.`, nameServers: [...nameServers].sort() };
}

/** What the zone above has at the domain or beneath it. A delegation would hide all of that. */
const beneath = async (call: Call, { project, zone, name }: Written): Promise<RecordSet[]> =>
  (await inDnsProject(call, () => call.context.cloud.dns.records(project, zone))).filter((each) =>
    `.${each.name}`.endsWith(`.${name}`),
  );

const isSet = ({ rrdatas = [] }: RecordSet, { nameServers }: Written): boolean =>
  rrdatas.length === nameServers.length && rrdatas.every((each) => nameServers.includes(each));

const isOurs = (record: RecordSet, written: readonly Written[]): boolean =>
  record.type === 'NS' && written.some((each) => each.name === record.name && isSet(record, each));

const isSame = (a: Written, b: Written): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Removes exactly the record sets that this bootstrap wrote, if they still have its values. */
async function remove({ context }: Pick<StepCall, 'context'>, written: readonly Written[]): Promise<Outcome> {
  const { dns } = context.cloud;
  let removed = 0;
  let changed = false;
  for (const { project, zone, name } of unique(written)) {
    if ((await dns.zone(project, zone)) === undefined) continue;
    const standing = (await dns.records(project, zone)).filter((each) => each.type === 'NS' && each.name === name);
    const deletions = standing.filter((each) => isOurs(each, written));
    if (deletions.length > 0) await dns.change(project, zone, { additions: [], deletions });
    removed += deletions.length;
    changed ||= deletions.length < standing.length;
  }
  return doneWith(`${removed} removed${changed ? '; left, as somebody changed it' : ''}`);
}

const unique = (written: readonly Written[]): Written[] => [
  ...new Map(written.map((each) => [`${each.project} ${each.zone} ${each.name}`, each])).values(),
];

const taken = (foreign: readonly RecordSet[], { project, zone, name }: Written): Problem => {
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
const WrittenFile = z.array(
  z.object({ project: z.string(), zone: z.string(), name: z.string(), nameServers: z.array(z.string()) }),
);

async function readWritten(files: StepFiles): Promise<readonly Written[]> {
  const text = await files.read(file);
  return text === undefined || text === '' ? [] : WrittenFile.parse(JSON.parse(text));
}

const writeWritten = (files: StepFiles, written: readonly Written[]): Promise<void> =>
  files.write(file, JSON.stringify(written));
