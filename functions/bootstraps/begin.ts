/** Begins a bootstrap, or resumes the one that bears the name. Called by the HTTP function through bootstraps.ts. */
import { parseDuration } from '../../shared/bootstrap/duration.js';
import type { BootstrapOptions, GivenOptions, SecretOptions } from '../../shared/bootstrap/options.js';
import { type OptionChange, resumeOptions } from '../../shared/bootstrap/resume.js';
import { collections } from '../../shared/names.js';
import { Problem } from '../../shared/problems.js';
import { type Trace, traceparentOf } from '../../shared/trace.js';
import type { Context } from '../context.js';
import { planOfRecord } from '../engine/plan.js';
import {
  type BootstrapRecord,
  type ChosenPackage,
  type CountersRecord,
  countersId,
  leaseId,
  liftBootstrap,
  liftCounters,
  liftName,
  type NameRecord,
  nameId,
  optionsOf,
  read,
} from '../engine/record/documents.js';
import { makeBootstrapId, makeProjectId } from '../engine/record/ids.js';
import { leasesOf } from '../engine/record/leases-of.js';
import { afterConflict, persist } from '../engine/record/persist.js';
import { advance, type Change, changeWrites, eventWrites, readyLease } from '../engine/record/transition.js';
import { dated } from '../engine/record/warning.js';
import { callerSecretName, fileWrite, secretId } from '../engine/run/call.js';
import { addSeconds } from '../engine/run/lease.js';
import { publishReady } from '../engine/run/publish.js';
import type { AnyStep } from '../engine/step.js';
import type { Account } from '../identity/binding.js';
import { Conflict, type Document, type Write } from '../store/store.js';
import { inTurn } from '../store/turns.js';
import { checkAdmission } from './admission.js';
import { boundAs, checkBound } from './bound.js';
import { dropSecretsBefore, readSecrets, writeSecrets } from './given-secrets.js';
import { holdersOf } from './held-options.js';

export interface BeginFacts {
  readonly caller: Account & { readonly email: string; readonly member: string };
  /** Resolved and checked. */
  readonly options: BootstrapOptions;
  readonly secrets: SecretOptions;
  /** What they were resolved from; secrets may be in it. */
  readonly given: GivenOptions;
  readonly sshPublicKey: string;
  /** The build that the options mean now. */
  readonly package?: ChosenPackage | undefined;
  /** What the caller holds of the bootstrap that stands; of a new one nothing can be held. */
  readonly base?:
    | Readonly<
        Record<string, { readonly config?: string | undefined; readonly secrets?: string | undefined } | undefined>
      >
    | undefined;
  /** Throws if what stands and the files that are sent do not go together; nothing has changed yet. */
  readonly checkBase?: (standing: StoredBootstrap, base: BeginFacts['base']) => Promise<void>;
  readonly warnings: readonly string[];
  readonly trace?: Trace | undefined;
  /** What `checkResume` found: it counts while the bootstrap stands as it stood then. */
  readonly checked?: CheckedResume | undefined;
}

/** What would hold from now on, of a bootstrap as it stood in a version of its record. */
export interface CheckedResume {
  readonly of: Pick<StoredBootstrap, 'id' | 'version'>;
  readonly resumed: Awaited<ReturnType<typeof resumed>>;
}

export interface Begun {
  readonly bootstrap: StoredBootstrap;
  /** False: it stood already. */
  readonly created: boolean;
  readonly changes: readonly OptionChange[];
}
export type StoredBootstrap = Omit<Document<BootstrapRecord>, 'createdAt'>;

/** The same over all tries of one command. */
interface Draft {
  readonly id: string;
  readonly projectId: string;
  /** The version of the secrets that were written for it. */
  callerSecret?: string;
}

const raceTries = 60;

/**
 * Throws a conflict if the name is another owner's, or an option cannot change; `stopped` while an operator takes
 * no new ones; `too-many` if a limit is reached. The name, the
 * counters, the bootstrap, its first leases and its first event stand in one commit.
 */
export async function beginOrResume(context: Context, steps: readonly AnyStep[], facts: BeginFacts): Promise<Begun> {
  const { store } = context;
  const draft: Draft = {
    id: makeBootstrapId(),
    projectId: makeProjectId(facts.options.projectName),
  };
  for (let attempt = 0; attempt < raceTries; attempt++) {
    const name = read(await persist(() => store.get(collections.names, nameId(facts.options.projectName))), liftName);
    try {
      if (name === undefined) return await begin(context, steps, facts, draft);
      const standing = await getRecord(context, name.data.bootstrapId);
      // The answer to our own commit was lost on its way.
      if (standing.id === draft.id) return { bootstrap: standing, created: true, changes: [] };
      await dropDraft(context, draft);
      return await resume(context, steps, facts, standing);
    } catch (error) {
      if (!(error instanceof Conflict)) {
        if (isRefusal(error)) await dropDraft(context, draft);
        throw error;
      }
      await afterConflict(attempt);
    }
  }
  throw new Problem('unavailable', 'Too many bootstraps are begun at once.', { retryAfterSeconds: 5 });
}

async function getRecord({ store }: Context, id: string): Promise<StoredBootstrap> {
  const found = read(await persist(() => store.get(collections.bootstraps, id)), liftBootstrap);
  if (found === undefined) throw new Problem('internal', `A name is claimed for ${id}, which is not there.`);
  return found;
}

/** Certain to have changed nothing. A store that could not be reached may have made the bootstrap all the same. */
const isRefusal = (error: unknown): boolean => error instanceof Problem && error.code !== 'unavailable';

/** The secrets were written for a bootstrap that was not made after all. */
async function dropDraft({ cloud, log }: Context, draft: Draft): Promise<void> {
  if (draft.callerSecret === undefined) return;
  const { id: bootstrap } = draft;
  // It may be made yet, if the name is free again: then its secrets are written anew.
  delete draft.callerSecret;
  await cloud.secretManager
    .remove(secretId(bootstrap, callerSecretName))
    .catch((error: unknown) => log('WARNING', 'A secret of no bootstrap was left behind', { bootstrap, error }));
}

/** Files of another bootstrap are never the base of a new one: no secret leaks from one project into the next. */
const notItsBase =
  'The config and secrets files that came along are not used: this bootstrap is new, so they are of another one. Keep them elsewhere if you need them.';

async function begin(context: Context, steps: readonly AnyStep[], facts: BeginFacts, draft: Draft): Promise<Begun> {
  const { store, clock, config } = context;
  const { caller, options } = facts;
  const count = async () => {
    const counters = read(await persist(() => store.get(collections.counters, countersId)), liftCounters);
    checkAdmission(counters?.data);
    return { counters, counted: countOne(counters?.data, caller.email, config.limits) };
  };
  if (draft.callerSecret === undefined) {
    // Whoever is refused leaves no secret behind.
    await count();
    draft.callerSecret = await writeSecrets(context, draft.id, facts.secrets);
  }

  const now = clock.now();
  const at = now.toISOString();
  const brings = Object.values(facts.base ?? {}).some((files) => (files?.config ?? files?.secrets) !== undefined);
  const warnings = [...facts.warnings, ...(brings ? [notItsBase] : [])];
  const empty = newRecord({ ...facts, warnings }, { ...draft, base: {} }, now);
  const change = started(steps, dated(empty, at), at);
  const record: BootstrapRecord = { ...change.record, events: change.events.length };
  const name: NameRecord = { schema: 1, bootstrapId: draft.id, owner: caller.email };
  const writes = ({ counters, counted }: Awaited<ReturnType<typeof count>>): Write[] => [
    { kind: 'create', collection: collections.bootstraps, id: draft.id, data: record },
    { kind: 'create', collection: collections.names, id: nameId(options.projectName), data: name },
    counters === undefined
      ? { kind: 'create', collection: collections.counters, id: countersId, data: counted }
      : { kind: 'update', collection: collections.counters, id: countersId, version: counters.version, data: counted },
    ...eventWrites(draft.id, empty, change.events),
    ...change.ready.map(
      (instance): Write => ({
        kind: 'create',
        collection: collections.leases,
        id: leaseId(draft.id, instance.id),
        data: readyLease(draft.id, 1, instance, at),
      }),
    ),
  ];
  const [version = ''] = await inTurn(store, countersId, async () => {
    const counted = await count();
    return persist(() => store.commit(writes(counted)));
  });
  await publishReady(context, draft.id, 1, change.ready, facts.trace);
  const bootstrap = { collection: collections.bootstraps, id: draft.id, version, data: record };
  return { bootstrap, created: true, changes: [] };
}

/** Of a bootstrap of which nothing has been made yet. */
export const newRecord = (
  facts: BeginFacts,
  its: Pick<BootstrapRecord, 'projectId' | 'callerSecret' | 'base'>,
  now: Date,
): BootstrapRecord => ({
  schema: 1,
  name: facts.options.projectName,
  projectId: its.projectId,
  owner: facts.caller.email,
  ownerMember: facts.caller.member,
  ...boundAs({}, facts.caller),
  state: 'running',
  generation: 1,
  options: { ...facts.options },
  given: openOnly(facts.given, facts.options),
  sshPublicKey: facts.sshPublicKey,
  callerSecret: its.callerSecret,
  ...(facts.package === undefined ? {} : { package: facts.package }),
  base: its.base,
  ...(facts.trace === undefined ? {} : { traceparent: traceparentOf(facts.trace) }),
  createdAt: now.toISOString(),
  deadlineAt: addSeconds(now, ttlSeconds(facts.options)),
  warnings: [...facts.warnings],
  instances: {},
  events: 0,
});

/** The first change of a generation: all wait, what needs nothing is ready. */
export function started(
  steps: readonly AnyStep[],
  record: BootstrapRecord,
  at: string,
  told: Change['events'] = [],
): Change {
  const plan = planOfRecord(steps, record);
  const instances = Object.fromEntries(
    [...plan.keys()].map((id) => {
      const output = record.instances[id]?.output;
      return [id, { state: 'waiting' as const, attempt: 0, ...(output === undefined ? {} : { output }) }];
    }),
  );
  const event = { schema: 1, type: 'state', at, state: 'running', generation: record.generation } as const;
  return advance({ ...record, instances }, plan, at, [...told, { event }]);
}

/** Throws what a resume of that bootstrap would be refused for, as it stands now. Changes nothing. Undefined: it has changed meanwhile. */
export async function checkResume(
  context: Context,
  steps: readonly AnyStep[],
  facts: BeginFacts,
  standing: StoredBootstrap,
): Promise<CheckedResume | undefined> {
  try {
    return { of: standing, resumed: await resumed(context, steps, facts, standing) };
  } catch (error) {
    // It has changed meanwhile: whoever resumes it looks again.
    if (!(error instanceof Conflict)) throw error;
    return undefined;
  }
}

/** What would hold from now on. Throws a problem if it cannot be resumed so, `Conflict` if it has changed meanwhile. */
async function resumed(context: Context, steps: readonly AnyStep[], facts: BeginFacts, standing: StoredBootstrap) {
  const { id, data: before } = standing;
  if (before.owner !== facts.caller.email) {
    throw new Problem('conflict', `The project name ${before.name} is in use by somebody else.`, {
      advice: 'Choose another --project-name.',
    });
  }
  checkBound(context, standing, facts.caller);
  // Its name has been freed meanwhile.
  if (before.state === 'removed') throw new Conflict();
  if (before.removal !== undefined) {
    throw new Problem('conflict', `The bootstrap of ${before.name} is being removed.`, {
      advice: `Run the same command again when it is gone, or choose another --project-name. How far it is: plinth beta bootstrap-cloud status ${before.projectId}`,
    });
  }
  if (before.state === 'cancelling') {
    throw new Problem('conflict', `The bootstrap of ${before.name} is being cancelled.`, {
      advice: 'Run the same command again in a moment.',
      retryAfterSeconds: 5,
    });
  }
  await facts.checkBase?.(standing, facts.base);
  const secretsBefore = await readSecrets(context, id, before.callerSecret).catch(async (error: unknown) => {
    // Another command was first, and its secrets have taken the place of these.
    throw (await getRecord(context, id)).version === standing.version ? error : new Conflict();
  });
  const wanted = { options: facts.options, secrets: facts.secrets };
  const stands = { options: optionsOf(before), secrets: secretsBefore };
  const plan = planOfRecord(steps, before);
  const { options, secrets, changes } = resumeOptions(stands, wanted, facts.given, (option) =>
    holdersOf(plan, before.instances, option),
  );
  return { options, secrets, secretsBefore, changes, deadlineAt: deadlineOf(context, before, options, changes) };
}

/** Throws if the time that is asked for is over. */
function deadlineOf(
  { clock }: Context,
  before: BootstrapRecord,
  options: BootstrapOptions,
  changes: readonly OptionChange[],
): string {
  if (!changes.some(({ option }) => option === '--project-ttl')) return before.deadlineAt;
  const deadlineAt = addSeconds(new Date(before.createdAt), ttlSeconds(options));
  if (deadlineAt !== before.deadlineAt && deadlineAt <= clock.now().toISOString()) {
    const message = 'would end before now: it counts from when the bootstrap began';
    throw new Problem('bad-input', `--project-ttl ${message}`, { errors: [{ path: '--project-ttl', message }] });
  }
  return deadlineAt;
}

async function resume(
  context: Context,
  steps: readonly AnyStep[],
  facts: BeginFacts,
  standing: StoredBootstrap,
): Promise<Begun> {
  const { store, clock } = context;
  const { id, data: before } = standing;
  const { checked } = facts;
  const stands = checked?.of.id === id && checked.of.version === standing.version;
  const { options, secrets, secretsBefore, changes, deadlineAt } = stands
    ? checked.resumed
    : await resumed(context, steps, facts, standing);

  const now = clock.now();
  const at = now.toISOString();
  const files = baseFiles(id, facts.base, now);
  const same = changes.length === 0 && before.sshPublicKey === facts.sshPublicKey && files.writes.length === 0;
  const anyFailed = Object.values(before.instances).some(({ state }) => state === 'failed');
  // It is on its way to what is asked for: whoever asks just follows it.
  if (before.state === 'running' && same && !anyFailed) return { bootstrap: standing, created: false, changes };

  const secretsChanged = JSON.stringify(sorted(secrets)) !== JSON.stringify(sorted(secretsBefore));
  const { endedAt, problem, expireAt, package: _package, ...kept } = before;
  const next: BootstrapRecord = {
    ...kept,
    ...boundAs(before, facts.caller),
    state: 'running',
    generation: before.generation + 1,
    options: { ...options },
    given: openOnly(facts.given, options),
    sshPublicKey: facts.sshPublicKey,
    ...(secretsChanged ? { callerSecret: await writeSecrets(context, id, secrets) } : {}),
    ...packageOf(before, options, facts),
    base: { ...before.base, ...files.names },
    deadlineAt,
    warnings: [...facts.warnings],
  };
  const change = started(steps, dated(next, at), at);
  const leases = await leasesOf(context, id);
  const readyIds = new Set(change.ready.map((instance) => leaseId(id, instance.id)));
  if (files.writes.length > 0) await persist(() => store.commit(files.writes));
  const [version = ''] = await persist(() =>
    store.commit([
      ...changeWrites(id, standing.version, before, change, at),
      // Whoever holds one of these learns at the next heartbeat that it is no longer theirs.
      ...leases
        .filter((lease) => !readyIds.has(lease.id))
        .map((lease): Write => ({ kind: 'delete', collection: collections.leases, id: lease.id })),
    ]),
  );
  await publishReady(context, id, next.generation, change.ready, facts.trace);
  if (secretsChanged) await dropSecretsBefore(context, id, next.callerSecret);
  const record = { ...change.record, events: before.events + change.events.length };
  return { bootstrap: { ...standing, version, data: record }, created: false, changes };
}

const packageOptions = ['installVersion', 'installHash', 'installLocal', 'registryType', 'airgapped'] as const;

/** The same words mean the same build as before, also when a newer one has been published since. */
function packageOf(
  before: BootstrapRecord,
  options: BootstrapOptions,
  facts: BeginFacts,
): Pick<BootstrapRecord, 'package'> {
  const stood = optionsOf(before);
  const same = packageOptions.every((option) => stood[option] === options[option]);
  const chosen = same && before.package !== undefined ? before.package : facts.package;
  return chosen === undefined ? {} : { package: chosen };
}

function countOne(
  before: CountersRecord | undefined,
  owner: string,
  { livingPerOwner, livingInAll }: Context['config']['limits'],
): CountersRecord {
  const { inAll, byOwner } = before ?? { inAll: 0, byOwner: {} as Record<string, number> };
  const own = byOwner[owner] ?? 0;
  const advice = 'Wait until one of them is removed, or ask your operator to raise the limit.';
  if (own >= livingPerOwner) {
    throw new Problem('too-many', `You have ${own} bootstraps, and the limit per owner is ${livingPerOwner}.`, {
      advice,
      members: { limit: 'livingPerOwner', value: livingPerOwner },
    });
  }
  if (inAll >= livingInAll) {
    throw new Problem('too-many', `There are ${inAll} bootstraps, and the limit in all is ${livingInAll}.`, {
      advice,
      members: { limit: 'livingInAll', value: livingInAll },
    });
  }
  return { schema: 1, inAll: inAll + 1, byOwner: { ...byOwner, [owner]: own + 1 } };
}

/** What was given, less what is no open option: secrets live in Secret Manager alone. */
const openOnly = (given: GivenOptions, resolved: BootstrapOptions): Record<string, unknown> =>
  Object.fromEntries(Object.entries(given).filter(([option, value]) => option in resolved && value !== undefined));

export function baseFiles(
  id: string,
  base: BeginFacts['base'],
  now: Date,
): { names: BootstrapRecord['base']; writes: Write[] } {
  const names: BootstrapRecord['base'] = {};
  const writes: Write[] = [];
  const add = (name: string, content: string | undefined): string | undefined => {
    if (content === undefined) return undefined;
    writes.push(fileWrite(id, name, content, now));
    return name;
  };
  for (const [datacenter, files] of Object.entries(base ?? {})) {
    const config = add(`base-config-${datacenter}`, files?.config);
    const secrets = add(`base-secrets-${datacenter}`, files?.secrets);
    if (config === undefined && secrets === undefined) continue;
    names[datacenter] = { ...(config === undefined ? {} : { config }), ...(secrets === undefined ? {} : { secrets }) };
  }
  return { names, writes };
}

function ttlSeconds({ projectTtl }: Pick<BootstrapOptions, 'projectTtl'>): number {
  const seconds = parseDuration(projectTtl);
  if (seconds === undefined) throw new Problem('bad-input', `--project-ttl ${projectTtl} is no duration.`);
  return seconds;
}

const sorted = (secrets: SecretOptions): [string, unknown][] =>
  Object.entries(secrets).sort(([a], [b]) => (a < b ? -1 : 1));
