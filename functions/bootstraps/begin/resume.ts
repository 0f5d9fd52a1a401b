/** Resumes an existing bootstrap in a new generation, or checks whether it could be resumed. */

import { addSeconds } from '../../../shared/add-seconds.js';
import { amountText } from '../../../shared/bootstrap/money.js';
import {
  type BootstrapOptions,
  flagName,
  installOptions,
  type Option,
  type SecretOptions,
} from '../../../shared/bootstrap/options.js';
import { type OptionChange, resumeOptions } from '../../../shared/bootstrap/resume.js';
import { calledBy } from '../../../shared/command-words.js';
import { collections } from '../../../shared/names.js';
import { fingerprintOf } from '../../../shared/openssh.js';
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import type { StoredBootstrap } from '../../engine/record/documents.js';
import {
  type BootstrapRecord,
  leaseId,
  loadBalancersOf,
  machineAccessOf,
  optionsOf,
} from '../../engine/record/documents.js';
import { leasesOf } from '../../engine/record/leases-of.js';
import { planOfRecord } from '../../engine/record/plan-of-record.js';
import { transitionWrites } from '../../engine/record/transition.js';
import { dated } from '../../engine/record/warning.js';
import { publishReady } from '../../engine/run/publish.js';
import type { AnyStep } from '../../engine/step.js';
import { isIn } from '../../organizations/ownership.js';
import { Conflict, type Write } from '../../store/store.js';
import { refuseAdopted } from '../alter.js';
import { checkSpendOfResume, spendWrites } from '../budget/months.js';
import { checkPaid, paidUntil, priceOf, priceOfStart } from '../budget/price.js';
import { refuseWhileStopping, startedAgain } from '../budget/stop-vms.js';
import { getClaimed } from '../find.js';
import { boundAs, checkBound } from '../people/bound.js';
import { checkAgreed, planOfCommand } from '../plan.js';
import { baseFiles } from './base-files.js';
import type { BeginFacts, Begun, CheckedResume, Resumed } from './begin-facts.js';
import { dropSecretsBefore, readSecrets, writeSecrets } from './given-secrets.js';
import { holdersOf, isInstalled } from './held-options.js';
import { openOnly, startGeneration, ttlSeconds } from './new-record.js';

/**
 * Throws the problem that a resume of this bootstrap would be refused for now. Changes nothing. Undefined: the bootstrap has
 * changed meanwhile.
 */
export async function checkResume(
  context: Context,
  steps: readonly AnyStep[],
  facts: BeginFacts,
  standing: StoredBootstrap,
): Promise<CheckedResume | undefined> {
  try {
    const asked = await resumed(context, steps, facts, standing);
    const { deadlineAt, price } = asked;
    const after = { ...standing.data, deadlineAt, ...(price !== undefined && { price }) };
    await checkSpendOfResume(context, standing.data, after, context.clock.now().toISOString());
    return { of: standing, resumed: asked };
  } catch (error) {
    // It has changed meanwhile. The resume itself checks again.
    if (!(error instanceof Conflict)) throw error;
    return undefined;
  }
}

/**
 * What would be valid from now on. Throws a Problem if it cannot be resumed like this, and `Conflict` if it has changed
 * meanwhile.
 */
async function resumed(
  context: Context,
  steps: readonly AnyStep[],
  facts: BeginFacts,
  standing: StoredBootstrap,
): Promise<Resumed> {
  const { id, data: before } = standing;
  if (!(await isStillTheirs(context, before, facts.caller))) {
    throw new Problem('conflict', `The project name ${before.name} is in use by somebody else.`, {
      advice: 'Choose another --project-name.',
    });
  }
  checkBound(context, standing, facts.caller);
  if (facts.team !== undefined && facts.team !== before.team) {
    const message = `cannot change: it belongs to ${before.team === undefined ? 'no team' : `team ${before.team}`}`;
    throw new Problem('bad-input', `--team ${message}`, {
      errors: [{ path: '--team', message }],
      advice: `To let the team see it: plinth beta bootstrap-cloud share ${calledBy(before)} --with-team ${facts.team}`,
    });
  }
  // The name has been freed meanwhile.
  if (before.state === 'removed') throw new Conflict();
  if (before.removal !== undefined) {
    throw new Problem('conflict', `The bootstrap of ${before.name} is being removed.`, {
      advice: `Run the same command again when it is gone, or choose another --project-name. How far it is: plinth beta bootstrap-cloud status ${calledBy(before)}`,
    });
  }
  if (before.state === 'cancelling') {
    throw new Problem('conflict', `The bootstrap of ${before.name} is being cancelled.`, {
      advice: 'Run the same command again in a moment.',
      retryAfterSeconds: 5,
    });
  }
  refuseAdopted(before);
  refuseWhileStopping(before);
  await facts.checkBase?.(standing, facts.base);
  const secretsBefore = await readSecrets(context, id, before.callerSecret).catch(async (error: unknown) => {
    // Another command was first, and its secrets replaced these.
    throw (await getClaimed(context, id)).version === standing.version ? error : new Conflict();
  });
  const wanted = { options: facts.options, secrets: facts.secrets };
  const stands = { options: optionsOf(before), secrets: secretsBefore };
  const plan = planOfRecord(steps, before);
  const { options, secrets, changes } = resumeOptions(stands, wanted, facts.given, {
    holdersOf: (option) => holdersOf(plan, before.instances, option),
    isInstalled: isInstalled(steps, before),
  });
  const asked = priceNow(context, facts, before, options, changes);
  const price = before.vmsStopped === undefined ? asked : priceToStart(context, { ...before, ...asked });
  const deadlineAt = deadlineOf(context, { ...before, ...price }, facts, options, changes);
  const others = [...keyChange(before, facts), ...costChange(before.price, asked.price)];
  return { options, secrets, secretsBefore, changes: [...changes, ...others], deadlineAt, ...price };
}

/** The key is no option that is kept, but a rerun from another machine or account replaces it on the VMs. */
function keyChange({ sshPublicKey: before }: BootstrapRecord, { sshPublicKey: after }: BeginFacts): OptionChange[] {
  const [from = '', to = ''] = [before, after].map((line) => line.split(' ')[1]);
  if (before === '' || after === '' || from === to) return [];
  const shown = (blob: string) => fingerprintOf(Buffer.from(blob, 'base64'));
  return [{ option: flagName('sshPublicKeyPath'), from: shown(from), to: shown(to) }];
}

/** The most that it may cost is no option that is kept, but it decides when the project ends. */
function costChange(before: BootstrapRecord['price'], after: BootstrapRecord['price']): OptionChange[] {
  if (before?.maxMicros === after?.maxMicros) return [];
  const [from, to] = [before, after].map((price) =>
    price?.maxMicros === undefined ? null : amountText(price.maxMicros),
  );
  return [{ option: '--max-cost', from, to }];
}

/** What belongs to a team is its owner's while they are in the team. */
export const isStillTheirs = async (
  context: Pick<Context, 'store'>,
  { owner, team }: BootstrapRecord,
  { email, identity = '' }: BeginFacts['caller'],
): Promise<boolean> => owner === email && (team === undefined || isIn(context, team, { email, identity }));

/** It keeps the price that it was admitted at, unless an option or the caller's most changes. */
function priceNow(
  { config }: Context,
  { maxMicros }: BeginFacts,
  record: BootstrapRecord,
  options: BootstrapOptions,
  changes: readonly OptionChange[],
): Pick<BootstrapRecord, 'price'> {
  const { price } = record;
  if (maxMicros === undefined && (price === undefined || changes.length === 0))
    return price === undefined ? {} : { price };
  const facts = { options, machineAccess: machineAccessOf(record), loadBalancers: loadBalancersOf(record) };
  return { price: priceOf(config, facts, maxMicros ?? price?.maxMicros) };
}

/** plinth stopped its VMs because of a ceiling. They start only if it allows what they cost. */
function priceToStart({ config, clock }: Context, record: BootstrapRecord): Pick<BootstrapRecord, 'price'> {
  const at = clock.now().toISOString();
  const price = priceOfStart(config, startedAgain(record, at), at);
  return price === undefined ? {} : { price };
}

/** Throws if the requested time, or what the caller pays for, is already over. */
function deadlineOf(
  { clock }: Context,
  before: BootstrapRecord,
  { maxMicros }: BeginFacts,
  options: BootstrapOptions,
  changes: readonly OptionChange[],
): string {
  const asked = changes.some(({ option }) => option === '--project-ttl');
  const byTtl = addSeconds(new Date(before.createdAt), ttlSeconds(options));
  const wanted = asked ? byTtl : before.deadlineAt;
  // A higher most gives back what a lower one took.
  const raised = maxMicros !== undefined && byTtl > wanted ? byTtl : wanted;
  const paid = paidUntil(before);
  const deadlineAt = paid !== undefined && paid < raised ? paid : raised;
  if (deadlineAt !== before.deadlineAt && deadlineAt <= clock.now().toISOString()) {
    const [path, message] =
      deadlineAt === paid
        ? ['--max-cost', 'is spent already: it counts from when the bootstrap began']
        : ['--project-ttl', 'would end before now: it counts from when the bootstrap began'];
    throw new Problem('bad-input', `${path} ${message}`, { errors: [{ path, message }] });
  }
  return deadlineAt;
}

export async function resume(
  context: Context,
  steps: readonly AnyStep[],
  facts: BeginFacts,
  standing: StoredBootstrap,
): Promise<Begun> {
  const { store, clock } = context;
  const { id, data: before } = standing;
  const { checked } = facts;
  const stands = checked?.of.id === id && checked.of.version === standing.version;
  const asked = stands ? checked.resumed : await resumed(context, steps, facts, standing);
  const { options, secrets, secretsBefore, changes, deadlineAt, price } = asked;
  checkAgreed(facts.agreed, () => planOfCommand(context, steps, facts, price, { bootstrap: standing, resumed: asked }));

  const now = clock.now();
  const at = now.toISOString();
  const files = baseFiles(id, facts.base, now);
  const priced = price?.microsAnHour !== before.price?.microsAnHour || price?.maxMicros !== before.price?.maxMicros;
  const same =
    changes.length === 0 && !priced && before.sshPublicKey === facts.sshPublicKey && files.writes.length === 0;
  const anyFailed = Object.values(before.instances).some(({ state }) => state === 'failed');
  // It is already working towards what is asked for, so the command just follows it.
  if (before.state === 'running' && same && !anyFailed) return { bootstrap: standing, created: false, changes };

  const secretsChanged = JSON.stringify(sorted(secrets)) !== JSON.stringify(sorted(secretsBefore));
  const { endedAt, problem, expireAt, package: _package, ...kept } = startedAgain(before, at);
  const next: BootstrapRecord = {
    ...kept,
    ...boundAs(before, facts.caller),
    state: 'running',
    generation: before.generation + 1,
    options: { ...options },
    given: givenOf(before, facts, options),
    sshPublicKey: facts.sshPublicKey,
    ...(secretsChanged ? { callerSecret: await writeSecrets(context, id, secrets) } : {}),
    ...packageOf(before, options, facts),
    base: { ...before.base, ...files.names },
    deadlineAt,
    ...(price === undefined ? {} : { price, fuseAt: at }),
    warnings: [...facts.warnings],
  };
  checkPaid(next, '--project-ttl');
  const counted = await spendWrites(context, before, next, at);
  const transition = startGeneration(steps, dated(next, at), at);
  const leases = await leasesOf(context, id);
  const readyIds = new Set(transition.ready.map((instance) => leaseId(id, instance.id)));
  if (files.writes.length > 0) await store.commit(files.writes);
  const [version = ''] = await store.commit([
    ...transitionWrites(id, standing.version, before, transition, at),
    ...counted,
    // A holder of one of these learns at its next heartbeat that the lease is lost.
    ...leases
      .filter((lease) => !readyIds.has(lease.id))
      .map((lease): Write => ({ kind: 'delete', collection: collections.leases, id: lease.id })),
  ]);
  await publishReady(context, id, next.generation, transition.ready, facts.trace);
  if (secretsChanged) await dropSecretsBefore(context, id, next.callerSecret);
  const record = { ...transition.record, events: before.events + transition.events.length };
  return { bootstrap: { ...standing, version, data: record }, created: false, changes };
}

/** What is shown as given: what this command gave, and what stays of earlier ones. */
function givenOf(before: BootstrapRecord, facts: BeginFacts, options: BootstrapOptions): BootstrapRecord['given'] {
  const kept = installOptions.filter(
    (option) => before.given[option] !== undefined && isSame(before.given[option], valueIn(options, option)),
  );
  const stays = Object.fromEntries(kept.map((option) => [option, before.given[option]]));
  return { ...stays, ...openOnly(facts.given, options) };
}

const valueIn = (options: BootstrapOptions, option: Option): unknown =>
  (options as Readonly<Record<string, unknown>>)[option];
const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

const packageOptions = ['installVersion', 'installHash', 'installLocal', 'registryType', 'airgapped'] as const;

/** The same options mean the same build as before, even if a newer one has been published since. */
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

const sorted = (secrets: SecretOptions): [string, unknown][] =>
  Object.entries(secrets).sort(([a], [b]) => (a < b ? -1 : 1));
