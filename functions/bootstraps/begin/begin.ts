/** Begins a bootstrap in one commit, or resumes the one that its name is claimed for. */
import { collections, countersId } from '../../../shared/names.js';
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import { countMore, countWrites, withTeams } from '../../engine/record/counts.js';
import { createBootstrap } from '../../engine/record/create.js';
import {
  type BootstrapRecord,
  liftName,
  type NameRecord,
  nameId,
  type PriceRecord,
  read,
} from '../../engine/record/documents.js';
import { transitionWrites } from '../../engine/record/transition.js';
import { dated } from '../../engine/record/warning.js';
import { publishReady } from '../../engine/run/publish.js';
import type { AnyStep } from '../../engine/step.js';
import { boundsOf, type Holder, holdWrite, isIn, noTeam, readLivingHolder } from '../../organizations/ownership.js';
import { countPool, keptOf } from '../../pools/claim.js';
import { readShare, shareWrite } from '../../pools/share.js';
import { afterConflict } from '../../store/retry.js';
import { Conflict, type Write } from '../../store/store.js';
import { inTurn } from '../../store/turns.js';
import { checkOneMore, checkRoom } from '../budget/living.js';
import { checkPriced, countSpend, countsFor, teamsByMonth } from '../budget/months.js';
import { endFor, priceOf } from '../budget/price.js';
import { getClaimed } from '../find.js';
import { peopleFields } from '../people/team-people.js';
import { checkAgreed, planOfCommand } from '../plan.js';
import { checkAdmission } from './admission.js';
import type { BeginFacts, Begun } from './begin-facts.js';
import { type Draft, dropSecrets, endDraft, isOfDraft, makeDraft, preparationOf, prepareDraft } from './draft.js';
import { dropSecretsBefore, writeSecrets } from './given-secrets.js';
import { newRecord, startGeneration, ttlSeconds } from './new-record.js';
import { resume } from './resume.js';

const raceTries = 60;

/**
 * Throws `conflict` if the name is another owner's or an option cannot change, `stopped` while an operator stops new ones, and
 * `too-many` at a limit. One commit writes the name, the counters, the bootstrap, its first leases and its first event.
 */
export async function beginOrResume(context: Context, steps: readonly AnyStep[], facts: BeginFacts): Promise<Begun> {
  const draft = makeDraft(context, facts.options);
  try {
    return await begunWith(context, steps, facts, draft);
  } finally {
    endDraft(context, draft);
  }
}

async function begunWith(context: Context, steps: readonly AnyStep[], facts: BeginFacts, draft: Draft): Promise<Begun> {
  const { store } = context;
  for (let attempt = 0; attempt < raceTries; attempt++) {
    const name = read(await store.get(collections.names, nameId(facts.options.projectName)), liftName);
    try {
      if (name === undefined) {
        await prepareDraft(context, facts, draft);
        return await begin(context, steps, facts, draft);
      }
      const standing = await getClaimed(context, name.data.bootstrapId);
      if (isOfDraft(standing, draft)) return { bootstrap: standing, created: true, changes: [] };
      await dropSecrets(context, draft);
      return await resume(context, steps, facts, standing);
    } catch (error) {
      if (!(error instanceof Conflict)) {
        if (isRefusal(error)) await dropSecrets(context, draft);
        throw error;
      }
      await afterConflict(context, attempt);
    }
  }
  throw new Problem('unavailable', 'Too many bootstraps are begun at once.', { retryAfterSeconds: 5 });
}

/** True if nothing has changed for certain. A store that could not be reached may still have made the bootstrap. */
const isRefusal = (error: unknown): boolean => error instanceof Problem && error.code !== 'unavailable';

/** Files of another bootstrap are never the base of a new one, so no secret leaks from one project into the next. */
const notItsBase =
  'The config and secrets files that came along are not used: this bootstrap is new, so they are of another one. Keep them elsewhere if you need them.';

async function begin(context: Context, steps: readonly AnyStep[], facts: BeginFacts, draft: Draft): Promise<Begun> {
  const { store, clock, config } = context;
  const { caller, options } = facts;
  const { member } = draft;
  const { machineAccess, loadBalancers } = config;
  const price = priceOf(config, { options, machineAccess, loadBalancers }, facts.maxMicros);
  checkAgreed(facts.agreed, () => planOfCommand(context, steps, facts, price));
  const now = clock.now();
  const at = now.toISOString();
  const { deadlineAt, warning } = endFor(price, now, ttlSeconds(options));
  const sshSourceRanges = [...config.sshSourceRanges];
  const record = (warnings: readonly string[]) => ({
    ...newRecord({ ...facts, warnings }, { ...draft, machineAccess, sshSourceRanges, loadBalancers, base: {} }, now),
    price,
    deadlineAt,
    ...preparationOf(context, draft, at),
    ...(member && continuing(member.data)),
  });
  const count = async () => {
    const found = await countIn(context, facts, record([]), at);
    const share = member && draft.pool && (await readShare(context, draft.pool, caller.email));
    return { ...found, share, counted: countPool(config, found.counted, draft.pool, member !== undefined) };
  };
  if (draft.callerSecret === undefined) {
    // A refused command must leave no secret behind.
    await count();
    draft.callerSecret = await writeSecrets(context, draft.id, facts.secrets);
  }

  const brings = Object.values(facts.base ?? {}).some((files) => (files?.config ?? files?.secrets) !== undefined);
  const warnings = [...facts.warnings, ...(warning === undefined ? [] : [warning]), ...(brings ? [notItsBase] : [])];
  const empty = record(warnings);
  const kept = member && keptOf(steps, member.data, options);
  const transition = startGeneration(steps, dated(empty, at), at, { kept });
  const begunFor = (holder: Holder | undefined) => {
    const begun = { ...transition, record: { ...transition.record, ...ofTeam(context, empty, holder) } };
    if (member === undefined) return createBootstrap(draft.id, empty, begun, at);
    const claimed = { ...begun.record, events: empty.events + begun.events.length };
    return { record: claimed, writes: transitionWrites(draft.id, member.version, member.data, begun, at) };
  };
  const name: NameRecord = { schema: 1, bootstrapId: draft.id, owner: caller.email };
  const othersOf = ({ holder, share, counts, counted }: Awaited<ReturnType<typeof count>>): Write[] => [
    ...(holder === undefined ? [] : [holdWrite(holder, 1)]),
    ...(share === undefined ? [] : [shareWrite(share, now)]),
    { kind: 'create', collection: collections.names, id: nameId(options.projectName), data: name },
    ...countWrites(counts, counted),
  ];
  const { version, data } = await inTurn(store, countersId, async () => {
    const counted = await count();
    const begun = begunFor(counted.holder);
    const [written = ''] = await store.commit([...begun.writes, ...othersOf(counted)]);
    return { version: written, data: begun.record };
  });
  // A command that died before it claimed this project left its secrets.
  if (member !== undefined && draft.callerSecret !== '1')
    await dropSecretsBefore(context, draft.id, draft.callerSecret);
  await publishReady(context, draft.id, empty.generation, transition.ready, facts.trace);
  const bootstrap = { collection: collections.bootstraps, id: draft.id, version, data };
  return { bootstrap, created: true, changes: [] };
}

/** A prepared project goes on in a generation of its own. */
const continuing = ({ generation, instances, events }: BootstrapRecord) => ({
  generation: generation + 1,
  instances,
  events,
});

/** What the commit counts, against the versions that were read. Throws at each limit and ceiling. */
async function countIn(context: Context, { caller, team }: BeginFacts, record: Priced, at: string) {
  const { store, config } = context;
  const holder = team === undefined ? undefined : await ownHolder(context, team, caller);
  const after = { ...record, ...(team !== undefined && { team }) };
  const found = await countsFor({ store }, after);
  checkAdmission(found.all);
  const bounds = holder === undefined ? [] : await boundsOf(context, holder.team);
  checkRoom(bounds);
  checkPriced(config, bounds, record.price);
  checkOneMore(found, caller.email, config.limits);
  const counts = await withTeams({ store }, found, teamsByMonth(bounds));
  const living = countMore(counts, { owner: caller.email }, { living: 1 }, at);
  return { holder, counts, counted: countSpend(config, living, { after }, at, bounds) ?? living };
}

type Priced = BootstrapRecord & { readonly price: PriceRecord };

/** Throws `not-found` if the caller is no member any more. */
async function ownHolder(
  context: Context,
  team: number,
  { email, identity = '' }: BeginFacts['caller'],
): Promise<Holder> {
  const holder = await readLivingHolder(context, team);
  if (!(await isIn(context, team, { email, identity }))) throw noTeam(team);
  return holder;
}

const ofTeam = (
  { config }: Context,
  record: BootstrapRecord,
  holder: Holder | undefined,
): Pick<BootstrapRecord, 'team' | 'teamPeople'> => {
  if (holder === undefined) return {};
  const { teamId: team } = holder.team;
  const { teamPeople } = peopleFields(config, { ...record, team }, [holder]);
  return { team, ...(teamPeople !== undefined && { teamPeople }) };
};
