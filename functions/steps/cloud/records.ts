/**
 * Writes the DNS records of the platform in one atomic change. It never changes a record that this bootstrap did not write.
 */
import * as z from 'zod';
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import { Problem } from '../../../shared/problems.js';
import { again, defineStep, done, doneWith, type Outcome, type StepCall, type StepFiles } from '../../engine/step.js';
import { dnsProjectOf, recordsOf, recordTtlSeconds } from '../topology.js';
import { address } from './address.js';
import { namesOf, undoOfOrphan } from './orphan-names.js';
import { RecordsOutput } from './outputs.js';
import { inDnsProject, undoInDnsProject, zone } from './zone.js';

const needs = { zone, addresses: address } as const;
type Call = StepCall<typeof needs, undefined>;
type RecordSet = Awaited<ReturnType<StepCall['context']['cloud']['dns']['records']>>[number];

/** A name without the final dot, and the one address it points to. */
interface Written {
  readonly name: string;
  readonly address: string;
  /** True: in a delegated zone of the bootstrap's own project. It goes with the project. */
  readonly own?: boolean | undefined;
}

export const records = defineStep({
  name: 'records',
  title: 'DNS records',
  lane: 'cloud',
  needs,
  describe: (options) => recordsOf(options).map(({ name, address }) => `A record ${name} to ${address}`),
  output: RecordsOutput,

  observe: (call) =>
    inDnsProject(call, async () => {
      const { project, zone } = call.needs.zone;
      const wanted = wantedOf(call);
      const plan = planOf(wanted, await call.context.cloud.dns.records(project, zone), await readWritten(call.files));
      if (plan.additions.length > 0 || plan.foreign.length > 0) return undefined;
      return (await isServed(call)) ? { project, zone, records: wanted } : undefined;
    }),

  run: (call) =>
    inDnsProject(call, async () => {
      const { dns } = call.context.cloud;
      const { project, zone } = call.needs.zone;
      const wanted = wantedOf(call);
      const written = await readWritten(call.files);
      const { additions, deletions, foreign } = planOf(wanted, await dns.records(project, zone), written);
      if (foreign.length > 0) throw taken(foreign, project, zone);
      if (additions.length === 0) return again(1, 'the records are on their way to the name servers');
      // Note them before the change, so that after a crash they still count as ours.
      const own = call.needs.zone.parent !== undefined;
      await writeWritten(call.files, [...written, ...additions.flatMap((each) => writtenOf(each, own))]);
      try {
        const { status } = await dns.change(project, zone, { additions, deletions });
        return status === 'done' ? done : again(3, 'the records are on their way to the name servers');
      } catch (error) {
        if (error instanceof Problem && error.code === 'cloud-conflict') {
          return again(1, 'somebody wrote records of the same names at the same time');
        }
        throw error;
      }
    }),

  goes: 'undo',
  removes: ({ projectId, options }) =>
    recordsOf(options).map(
      ({ name }) =>
        `A record ${name} in the zone ${options.dnsZoneName} of ${dnsProjectOf(options, projectId)}, if it is as plinth wrote it`,
    ),
  async undo(call) {
    if (call.bootstrap.orphan !== undefined) {
      return undoOfOrphan(call, async (options) => remove(call, options, await namesOf(call, options)));
    }
    const written = (await readWritten(call.files)).filter(({ own }) => own !== true);
    const names = [...new Set(written.map(({ name }) => name))];
    return undoInDnsProject(call, names.length === 0 ? 'no record' : `the records ${names.join(', ')}`, async () => {
      // Remove exactly the records that this bootstrap wrote, if they still have its value.
      const outcome =
        written.length === 0
          ? doneWith('what there is goes with the project')
          : await remove(call, call.bootstrap.options, written);
      await writeWritten(call.files, []);
      return outcome;
    });
  },
  summary: ({ records }) => records.map(({ name, address }) => `${name} ${address}`).join(', '),
});

async function remove(
  { context, bootstrap }: Pick<StepCall, 'context' | 'bootstrap'>,
  options: BootstrapOptions,
  ours: readonly Written[],
): Promise<Outcome> {
  const { dns } = context.cloud;
  const project = dnsProjectOf(options, bootstrap.projectId);
  if ((await dns.zone(project, options.dnsZoneName)) === undefined) return doneWith('the zone is not there');
  for (let tried = 1; ; tried++) {
    const standing = await dns.records(project, options.dnsZoneName);
    const deletions = standing.filter((record) => isOurs(record, ours));
    try {
      if (deletions.length > 0) await dns.change(project, options.dnsZoneName, { additions: [], deletions });
    } catch (error) {
      // Somebody was first: another function, whose lease ended while it removed them, or a person.
      const isOutdated = error instanceof Problem && ['cloud-not-found', 'cloud-conflict'].includes(error.code);
      if (isOutdated && tried < mostTries) continue;
      throw error;
    }
    return doneWith(undoneWords(ours, standing, deletions));
  }
}

const mostTries = 3;

const wantedOf = ({ bootstrap, needs }: Call): Written[] =>
  recordsOf(bootstrap.options).map(({ name, address }) => {
    const reserved = needs.addresses[address];
    if (reserved === undefined) throw new Error(`the address ${address} is not there`);
    return { name, address: reserved.address };
  });

/** Reports which records were removed, which others have changed, and which are missing. */
function undoneWords(
  ours: readonly Written[],
  standing: readonly RecordSet[],
  deletions: readonly RecordSet[],
): string {
  const names = [...new Set(ours.map(({ name }) => name))];
  const isIn = (name: string, records: readonly RecordSet[]) => records.some((record) => record.name === `${name}.`);
  const changed = names.filter((name) => isIn(name, standing) && !isIn(name, deletions));
  const missing = names.filter((name) => !isIn(name, standing));
  return [
    `${deletions.length} removed`,
    ...(changed.length === 0 ? [] : [`left, as somebody changed them: ${changed.join(', ')}`]),
    ...(missing.length === 0 ? [] : [`not there: ${missing.join(', ')}`]),
  ].join('; ');
}

interface Plan {
  readonly additions: readonly RecordSet[];
  readonly deletions: readonly RecordSet[];
  /** In the way, and not ours. */
  readonly foreign: readonly RecordSet[];
}

/** Only the differences. A CNAME conflicts with any other record of its name. */
function planOf(wanted: readonly Written[], standing: readonly RecordSet[], written: readonly Written[]): Plan {
  const additions: RecordSet[] = [];
  const deletions: RecordSet[] = [];
  const foreign: RecordSet[] = [];
  for (const { name, address } of wanted) {
    const record = { name: `${name}.`, type: 'A', ttl: recordTtlSeconds, rrdatas: [address] };
    const found = standing.find((each) => each.name === record.name && (each.type === 'A' || each.type === 'CNAME'));
    const ours = found !== undefined && isOurs(found, written);
    const isRight = found?.type === 'A' && found.rrdatas?.length === 1 && found.rrdatas[0] === address;
    if (isRight && (!ours || found.ttl === recordTtlSeconds)) continue;
    if (found !== undefined && !ours) {
      foreign.push(found);
      continue;
    }
    if (found !== undefined) deletions.push(found);
    additions.push(record);
  }
  return { additions, deletions, foreign };
}

const isOurs = ({ name, type, rrdatas = [] }: RecordSet, written: readonly Written[]): boolean =>
  type === 'A' &&
  rrdatas.length === 1 &&
  written.some((each) => `${each.name}.` === name && each.address === rrdatas[0]);

const taken = (foreign: readonly RecordSet[], project: string, zone: string): Problem => {
  const words = foreign.map(({ name, type, rrdatas = [] }) => `${name} ${type} ${rrdatas.join(' ')}`);
  return new Problem(
    'cloud-conflict',
    `The DNS zone ${zone} of ${project} has records that this bootstrap did not write: ${words.join(', ')}.`,
    { advice: 'Delete them, then run the same command again; plinth never changes records of others.' },
  );
};

/** True if no change of these records is still pending. */
async function isServed(call: Call): Promise<boolean> {
  const { project, zone } = call.needs.zone;
  const names = new Set(wantedOf(call).map(({ name }) => `${name}.`));
  const changes = await call.context.cloud.dns.changes(project, zone);
  return changes.every(
    ({ status, additions = [], deletions = [] }) =>
      status !== 'pending' || ![...additions, ...deletions].some(({ name }) => names.has(name)),
  );
}

/* The records that this bootstrap wrote, stored to recognize them later. */

const file = 'records-written';
const WrittenFile = z.array(z.object({ name: z.string(), address: z.string(), own: z.boolean().optional() }));

async function readWritten(files: StepFiles): Promise<readonly Written[]> {
  const text = await files.read(file);
  return text === undefined || text === '' ? [] : WrittenFile.parse(JSON.parse(text));
}

const writtenOf = ({ name, rrdatas = [] }: RecordSet, own: boolean): Written[] =>
  rrdatas.map((address) => ({ name: name.replace(/\.$/, ''), address, ...(own ? { own } : {}) }));

async function writeWritten(files: StepFiles, written: readonly Written[]): Promise<void> {
  const distinct = new Map(written.map((each) => [`${each.name} ${each.address}`, each]));
  await files.write(file, JSON.stringify([...distinct.values()]));
}
