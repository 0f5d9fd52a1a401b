/**
 * Restores a bootstrap whose record is lost, for its owner. The new record keeps the id and the project, so that everything named
 * after them is found again and nothing is made twice. An operator adopts a project without knowing what it was made from:
 * functions/cleanup/adopt.ts.
 */
import type { MachineAccess } from '../../../shared/bootstrap/bootstrap.js';
import { latestEnd } from '../../../shared/bootstrap/lifetime.js';
import { ownerOf, type SecretOption, type SecretOptions } from '../../../shared/bootstrap/options.js';
import { collections, countersId, labels } from '../../../shared/names.js';
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import { ownerLabel } from '../../engine/proof.js';
import { countMore, countWrites, ofOwner, ofTeam } from '../../engine/record/counts.js';
import { createBootstrap } from '../../engine/record/create.js';
import {
  type BootstrapRecord,
  leaseId,
  liftBootstrap,
  liftName,
  type NameRecord,
  nameId,
  read,
} from '../../engine/record/documents.js';
import { lastEventOf } from '../../engine/record/events.js';
import { leasesOf } from '../../engine/record/leases-of.js';
import { bootstrapOf, numberOf, timeIn } from '../../engine/record/removal-rule.js';
import { missingIn, moreThan, spendOf, sumOf } from '../../engine/record/spend.js';
import { dated } from '../../engine/record/warning.js';
import { publishReady } from '../../engine/run/publish.js';
import type { AnyStep, SeenProject } from '../../engine/step.js';
import { isIn } from '../../organizations/ownership.js';
import { afterConflict } from '../../store/retry.js';
import { Conflict, type Document, type Write } from '../../store/store.js';
import { inTurn } from '../../store/turns.js';
import { baseFiles } from '../begin/base-files.js';
import { beginOrResume } from '../begin/begin.js';
import type { BeginFacts, Begun } from '../begin/begin-facts.js';
import { readLastSecrets, writeSecrets } from '../begin/given-secrets.js';
import { newRecord, startGeneration } from '../begin/new-record.js';
import { countsFor } from '../budget/months.js';
import { priceOf } from '../budget/price.js';
import { findLost } from './lost-project.js';
import { type Into, intoLost, restoredToTeam, teamOfLost } from './lost-team.js';

const raceTries = 10;
/** What stands is not refused for its price. */
const noCeilings = { withoutPrice: 'allow', beyond: 'warn' } as const;

/**
 * `id`: the bootstrap's id in the recovered config. Throws `not-found` if no such project is proven ours, `forbidden` if it is
 * somebody else's, and `conflict` if it has another record. If another command has made the record first, this one resumes it.
 */
export async function restoreBootstrap(
  context: Context,
  steps: readonly AnyStep[],
  facts: BeginFacts,
  id: string,
): Promise<Begun> {
  const { store } = context;
  if (facts.agreed !== undefined) {
    const message = 'goes not with takeUp: what is recovered is no part of a plan';
    throw new Problem('bad-input', `plan ${message}`, { errors: [{ path: 'plan', message }] });
  }
  for (let attempt = 0; attempt < raceTries; attempt++) {
    const [standing, claim] = await Promise.all([
      store.get(collections.bootstraps, id),
      store.get(collections.names, nameId(facts.options.projectName)),
    ]);
    const claimed = read(claim, liftName);
    if (standing !== undefined) {
      // Under a name that is not its own it would begin another project.
      if (claimed?.data.bootstrapId === id) return beginOrResume(context, steps, facts);
      throw new Problem('conflict', 'The project has a record by now, and is not taken up again.', {
        advice: 'How it stands: plinth beta bootstrap-cloud list, or ask your operator.',
      });
    }
    try {
      return await restoreRecord(context, steps, facts, id, claimed);
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
      await afterConflict(context, attempt);
    }
  }
  throw new Problem('unavailable', 'Too many bootstraps are begun at once.', { retryAfterSeconds: 5 });
}

async function restoreRecord(
  context: Context,
  steps: readonly AnyStep[],
  facts: BeginFacts,
  id: string,
  claimed: Document<NameRecord> | undefined,
): Promise<Begun> {
  const { store, clock } = context;
  const { caller, options } = facts;
  const { project, jumpbox } = await findLost(context, options.projectName, options.zone);
  checkMeant(project, id, caller.email);
  const { holder, warnings } = await intoOwn(context, facts, project);

  const now = clock.now();
  const at = now.toISOString();
  const left = await leftovers(context, id);
  const files = baseFiles(id, facts.base, now);
  const callerSecret = await writeSecrets(context, id, await allSecrets(context, id, facts));
  // What stands counts, and not what the deployment says by now.
  const machineAccess: MachineAccess = jumpbox.isPublic ? 'direct' : 'iap';
  const its = {
    projectId: project.projectId,
    machineAccess,
    // What stands is not looked at. Without ranges of the deployment, its rule stays as it is.
    sshSourceRanges: [...context.config.sshSourceRanges],
    callerSecret,
    base: files.names,
  };
  const fresh = newRecord(facts, its, now);
  const { fields, writes: teamWrites, others } = await restoredToTeam(context, id, fresh, holder);
  const empty: BootstrapRecord = {
    ...fresh,
    ...fields,
    warnings: [...fresh.warnings, ...warnings],
    ...termsOf(context, project, fresh),
    price: priceOf({ ...context.config, ceilings: noCeilings }, { options, machineAccess }, facts.maxMicros),
    // Later than any lost generation. Claims on jobs from before the loss are not ours.
    generation: Math.floor(now.getTime() / 1000),
    instances: { project: waiting(project) },
    events: left.events,
  };
  const told = { schema: 1, type: 'action', at, actor: caller.email, action: 'take-up' } as const;
  const transition = startGeneration(steps, dated(empty, at), at, { told: [{ event: told }] });
  const created = createBootstrap(id, empty, transition, at);
  const { record } = created;
  const ready = new Set(transition.ready.map((instance) => leaseId(id, instance.id)));
  const writes = [...created.writes, ...left.leases.filter((lease) => !ready.has(lease)).map(deleted)];
  if (files.writes.length > 0) await store.commit(files.writes);
  const [version = ''] = await inTurn(store, countersId, async () => {
    const counted = await countAgain(context, record, others, at);
    return store.commit([...writes, ...teamWrites, claimName(claimed, id, facts), ...counted]);
  });
  await publishReady(context, id, record.generation, transition.ready, facts.trace);
  const bootstrap = { collection: collections.bootstraps, id, version, data: record };
  return { bootstrap, created: false, changes: [] };
}

/** Some are in no file on the jumpbox. One that belongs to an option goes where the option is not recovered. */
async function allSecrets(context: Context, id: string, { options, secrets }: BeginFacts): Promise<SecretOptions> {
  const left = Object.entries(await readLastSecrets(context, id)).filter(([secret]) => {
    const owner = ownerOf(secret as SecretOption);
    return owner === undefined || owner in options;
  });
  return { ...Object.fromEntries(left), ...secrets };
}

const waiting = (project: SeenProject) => {
  const output = { projectId: project.projectId, projectNumber: numberOf(project) };
  return { state: 'waiting', attempt: 0, output } as const;
};

/** The proof in its labels has been verified, and it covers the owner. */
function checkMeant(project: SeenProject, id: string, email: string): void {
  if (bootstrapOf(project) !== id) {
    throw new Problem(
      'conflict',
      `The project ${project.projectId} is of another bootstrap than the recovered config.`,
    );
  }
  if (project.labels?.[labels.owner] === ownerLabel(email)) return;
  throw new Problem('forbidden', `The project ${project.projectId} is somebody else's.`, {
    advice: 'Its owner can take it up again: the same command with --recover-config.',
  });
}

/** What belongs to a team is its owner's while they are in the team. Throws for another team than the one in its labels. */
async function intoOwn(context: Context, { caller, team }: BeginFacts, project: SeenProject): Promise<Into> {
  const { projectId } = project;
  const into = intoLost(await teamOfLost(context, project));
  const own = into.holder?.team.teamId;
  const { email, identity = '' } = caller;
  if (own !== undefined && !(await isIn(context, own, { email, identity }))) {
    throw new Problem('forbidden', `The project ${projectId} belongs to team ${own}, and you are not in it.`, {
      advice: 'Ask an admin of the team to add you, or an operator to give it to somebody in the team.',
    });
  }
  if (team !== undefined && team !== own) {
    const message = `does not fit: the labels of ${projectId} prove ${own === undefined ? 'no team' : `team ${own}`}`;
    throw new Problem('bad-input', `--team ${message}`, {
      errors: [{ path: '--team', message }],
      advice: `Give the command without --team. Once the project is in the records again: plinth beta bootstrap-cloud share ${projectId} --with-team ${team}`,
    });
  }
  return into;
}

/**
 * Deadline and protection come from the project's labels, because a resume moves no deadline. Neither counts beyond the latest
 * end. The proof covers the deadline alone, and an editor of the project may write any protection. So a protection counts no
 * further than an owner may protect a project.
 */
function termsOf(
  { config: { limits } }: Context,
  { labels: found = {} }: SeenProject,
  { createdAt, deadlineAt, owner }: BootstrapRecord,
): Pick<BootstrapRecord, 'deadlineAt' | 'protection'> {
  const latest = Date.parse(latestEnd(createdAt));
  const [deadline, protection] = [timeIn(found[labels.deleteAfter]), timeIn(found[labels.protectedUntil])];
  const { maxTtlSeconds = Number.POSITIVE_INFINITY } = limits;
  const longest = Math.min(latest, Date.parse(createdAt) + maxTtlSeconds * 1000);
  const timeOf = (at: number, most: number): string => new Date(Math.min(at, most)).toISOString();
  const reason = found[labels.protectedReason] ?? '';
  return {
    deadlineAt: deadline === undefined ? deadlineAt : timeOf(deadline, latest),
    ...(protection !== undefined && { protection: { until: timeOf(protection, longest), reason, by: owner } }),
  };
}

const deleted = (id: string): Write => ({ kind: 'delete', collection: collections.leases, id });

/** What the store still has of it. */
async function leftovers(context: Context, id: string): Promise<{ events: number; leases: string[] }> {
  const [events, leases] = await Promise.all([lastEventOf(context, id), leasesOf(context, id)]);
  return { events, leases: leases.map((lease) => lease.id) };
}

/** Any claim that is left belongs to a record that no longer exists. Otherwise the project would not have been found. */
function claimName(
  claimed: Document<NameRecord> | undefined,
  bootstrapId: string,
  { caller, options }: BeginFacts,
): Write {
  const at = { collection: collections.names, id: nameId(options.projectName) };
  const data: NameRecord = { schema: 1, bootstrapId, owner: caller.email };
  return claimed === undefined
    ? { kind: 'create', ...at, data }
    : { kind: 'update', ...at, version: claimed.version, data };
}

/**
 * The bootstrap was counted when it was made. The counts may still include it, or may be lost too. No limit applies, because
 * nothing is new. A team keeps what it has beyond its records, and gets what is missing.
 */
async function countAgain(
  { store }: Context,
  record: BootstrapRecord,
  others: readonly Document[],
  now: string,
): Promise<Write[]> {
  const { owner, team } = record;
  // Read before the records: what changes one of these changes the counts, too.
  const counts = await countsFor({ store }, record);
  const stored = await store.query({ collection: collections.bootstraps, where: [['owner', '==', owner]] });
  const readable = (documents: readonly Document[]) =>
    documents.flatMap((each) => read(each, liftBootstrap)?.data ?? []);
  const records = [...readable(stored), record];
  const own = ofOwner(counts, owner);
  const living = records.filter(({ state }) => state !== 'removed').length;
  const missing = {
    living: Math.max(0, living - own.living),
    spend: moreThan(own.spend, sumOf(records.map(spendOf))),
  };
  const counted = countMore(counts, { owner }, missing, now);
  if (team === undefined) return countWrites(counts, counted);
  const ofAll = sumOf([...readable(others), record].map(spendOf));
  const ofTeamMissing = missingIn(ofTeam(counts, team).spend, ofAll);
  return countWrites(counts, countMore(counted, { team, inAll: false }, { spend: ofTeamMissing }, now));
}
