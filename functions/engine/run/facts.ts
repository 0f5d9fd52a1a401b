/** What every step knows of its bootstrap: the record, and the files that its owner sent. */
import { iamMember } from '../../../shared/iam-member.js';
import { collections } from '../../../shared/names.js';
import type { Context } from '../../context.js';
import {
  type BootstrapRecord,
  fileId,
  liftFile,
  loadBalancersOf,
  machineAccessOf,
  optionsOf,
  read,
  sshSourceRangesOf,
} from '../record/documents.js';
import { deploymentOf, judgeAsked, judgeProject } from '../record/removal-rule.js';
import type { BootstrapFacts } from '../step.js';

type Parts = Pick<Context, 'store' | 'config' | 'clock'>;

/** What the caller already had. Each function reads it once a generation. Most bootstraps have none. */
const bases = new Map<string, BootstrapFacts['base']>();
const basesKept = 8;

async function baseOf(store: Parts['store'], id: string, record: BootstrapRecord): Promise<BootstrapFacts['base']> {
  const entries = Object.entries(record.base);
  if (entries.length === 0) return {};
  const key = `${id}/${record.generation}`;
  const known = bases.get(key);
  if (known !== undefined) return known;
  const content = async (name: string | undefined): Promise<string | undefined> =>
    name === undefined ? undefined : read(await store.get(collections.files, fileId(id, name)), liftFile)?.data.content;
  const base: Record<string, { config?: string; secrets?: string }> = {};
  for (const [datacenter, names] of entries) {
    const [config, secrets] = await Promise.all([content(names.config), content(names.secrets)]);
    base[datacenter] = { ...(config === undefined ? {} : { config }), ...(secrets === undefined ? {} : { secrets }) };
  }
  bases.set(key, base);
  for (const oldest of bases.keys()) if (bases.size > basesKept) bases.delete(oldest);
  return base;
}

const orphanRule =
  (config: Parts['config'], clock: Parts['clock'], asked: boolean): BootstrapFacts['orphan'] =>
  (project, proofKey) => {
    // What a person asks for does not wait for the end of its time.
    const judge = asked ? judgeAsked : judgeProject;
    const verdict = judge(project, deploymentOf(config, proofKey), clock.now());
    return verdict.remove ? undefined : verdict.why;
  };

export async function factsOf(
  { store, config, clock }: Parts,
  id: string,
  record: BootstrapRecord,
): Promise<BootstrapFacts> {
  const { sharedWith = [], teamPeople = [], formerPeople = [], ownerLeft = false } = record;
  const shared = [...new Set([...sharedWith, ...teamPeople])];
  const former = ownerLeft ? [...formerPeople, record.owner] : formerPeople.filter((email) => email !== record.owner);
  return {
    id,
    name: record.name,
    projectId: record.projectId,
    owner: record.owner,
    ownerMember: record.ownerMember,
    ...(record.team === undefined ? {} : { team: record.team }),
    ownerLeft,
    sharedMembers: shared.map(iamMember),
    formerMembers: [...new Set(former)].filter((email) => !shared.includes(email)).map(iamMember),
    options: optionsOf(record),
    machineAccess: machineAccessOf(record),
    sshSourceRanges: sshSourceRangesOf(record, config.sshSourceRanges),
    loadBalancers: loadBalancersOf(record),
    sshPublicKey: record.sshPublicKey,
    base: await baseOf(store, id, record),
    createdAt: new Date(record.createdAt),
    deadlineAt: new Date(record.deadlineAt),
    ...(record.protection === undefined
      ? {}
      : { protection: { until: new Date(record.protection.until), reason: record.protection.reason } }),
    ...(record.vmsStopped === undefined ? {} : { vmsStopped: true }),
    ...(record.orphan === true ? { orphan: orphanRule(config, clock, record.removal?.why === 'asked') } : {}),
    ...(record.package === undefined ? {} : { package: record.package }),
    generation: record.generation,
  };
}
