/** Works out what a request asks of a bootstrap. Reports all objections at once, before anything is created or changed. */
import { microsOf } from '../../../shared/bootstrap/money.js';
import {
  type BootstrapOptions,
  flagName,
  flagOf,
  type GivenOptions,
  isSecret,
  type Option,
  optionNames,
  type SecretOptions,
} from '../../../shared/bootstrap/options.js';
import type { PreflightReply } from '../../../shared/bootstrap/preflight.js';
import { type BootstrapRequest, fieldOf } from '../../../shared/bootstrap/request.js';
import { keptOptions } from '../../../shared/bootstrap/resume.js';
import { checkOptions } from '../../../shared/bootstrap/rules.js';
import { type Fault, Problem } from '../../../shared/problems.js';
import { releaseBinary } from '../../../shared/release.js';
import type { Trace } from '../../../shared/trace.js';
import type { BeginFacts } from '../../bootstraps/begin/begin-facts.js';
import { readLastSecrets, readSecrets } from '../../bootstraps/begin/given-secrets.js';
import { isInstalled } from '../../bootstraps/begin/held-options.js';
import { ttlSeconds } from '../../bootstraps/begin/new-record.js';
import { checkResume, isStillTheirs } from '../../bootstraps/begin/resume.js';
import { checkRoom } from '../../bootstraps/budget/living.js';
import { checkPriced, checkSpendOfNew } from '../../bootstraps/budget/months.js';
import { endFor, priceOf } from '../../bootstraps/budget/price.js';
import { findClaimed } from '../../bootstraps/find.js';
import { isBoundToAnother } from '../../bootstraps/people/bound.js';
import type { Context } from '../../context.js';
import type { Finding, Intent } from '../../engine/finding.js';
import { optionsOf, type StoredBootstrap } from '../../engine/record/documents.js';
import { makeProjectId } from '../../engine/record/ids.js';
import type { AnyStep } from '../../engine/step.js';
import type { Caller } from '../../identity/auth.js';
import { boundsOfTeam } from '../../organizations/ownership.js';
import { findings } from '../../preflight/index.js';
import { type Found, shownOf, strictly } from '../../preflight/look.js';
import { preflight } from '../../preflight/preflight.js';
import { optionsCode, ruleFindings } from '../../preflight/rules.js';
import { keepSeen, useSeen } from '../../preflight/seen.js';
import { installerPackage } from '../../preflight/software/package.js';
import { plinthBinary } from '../../steps/hosts/plinth-binary.js';
import { checkBase } from './base-check.js';
import { beginningOf } from './beginning.js';
import { problemOf } from './objections.js';
import { checkAllowed } from './permission.js';
import { checkMember } from './teams.js';

interface Asking<Body> {
  readonly caller: Caller;
  readonly body: Body;
  readonly gone: AbortSignal;
  readonly trace?: Trace;
}

type Asked = Pick<BootstrapRequest, 'options' | 'base' | 'strict' | 'takeUp' | 'maxCost' | 'plan' | 'team' | 'seen'> & {
  readonly sshPublicKey?: string | undefined;
};

/**
 * How much is looked at. `plan`: what needs no answer of others but the package store's. `readable`: what a malformed request
 * still tells.
 */
type Depth = 'plan' | 'readable' | 'all';

interface Judging {
  readonly depth?: Depth;
  /** Options that the caller already knows to be wrong. */
  readonly malformed?: readonly Option[];
}

export interface Judged {
  readonly facts: BeginFacts;
  /** What a preflight of the caller has looked at just now, and counted. */
  readonly seen: boolean;
}

/** The facts to begin or resume with. Throws all that stops it as one problem. */
export async function judge(
  context: Context,
  steps: readonly AnyStep[],
  asking: Asking<Asked>,
  judging: Judging = {},
): Promise<Judged> {
  await checkMember(context, asking.caller, asking.body.team);
  const { facts, found, seen } = await look(context, steps, asking, judging);
  const problem = problemOf(asking.body.strict === true ? found.map(strictly) : found);
  if (problem !== undefined) throw problem;
  const warnings = [...new Set([...facts.warnings, ...(seen ?? []), ...warnedOf(found)])];
  return { facts: { ...facts, warnings }, seen: seen !== undefined };
}

const warnedOf = (found: readonly Found[]): string[] =>
  found.flatMap(({ code, verdict }) => (code !== optionsCode && verdict.state === 'warning' ? [verdict.what] : []));

/** All that the findings of a new bootstrap depend on. */
const roundOf = ({ caller, body: { options, strict, maxCost, team } }: Asking<Asked>) => ({
  identity: caller.identity,
  request: { options, strict, maxCost, team },
});

/** All that is known of a bootstrap before it begins. Makes nothing, and refuses nothing. */
export async function preflightOf(
  context: Context,
  steps: readonly AnyStep[],
  asking: Asking<Asked>,
): Promise<PreflightReply> {
  await checkMember(context, asking.caller, asking.body.team);
  const { facts, found, isNew } = await look(context, steps, asking, {});
  const findings = (asking.body.strict === true ? found.map(strictly) : found).map(shownOf);
  const go = findings.every(({ state }) => state !== 'stop');
  if (!go || !isNew) return { go, findings };
  const [beginning, seen] = await Promise.all([
    beginningOf(context, steps, facts),
    keepSeen(context, roundOf(asking), warnedOf(found)),
  ]);
  return { go, findings, beginning, seen };
}

interface Looked {
  readonly facts: BeginFacts;
  readonly found: readonly Found[];
  readonly isNew: boolean;
  /** What a preflight of the caller warned of just now. Undefined: there was none. */
  readonly seen: readonly string[] | undefined;
}

async function look(
  context: Context,
  steps: readonly AnyStep[],
  asking: Asking<Asked>,
  { depth: depthAsked = 'all', malformed = [] }: Judging,
): Promise<Looked> {
  const { config } = context;
  const { caller, body, gone, trace } = asking;
  const { options: given, sshPublicKey = '', base, strict, maxCost, plan: agreed, team } = body;
  const maxMicros = maxCost === undefined ? undefined : microsOf(maxCost);
  const checked = checkOptions(given, { strict });
  const isNamed = ![...checked.faults.map(({ path }) => path), ...malformed.map(flagName)].includes('--project-name');
  const standing = isNamed ? await findClaimed(context, checked.options.projectName) : undefined;
  // Compare nothing with another account's bootstrap, which would reveal it.
  const own = (await isOwn(context, standing, caller)) ? standing : undefined;
  const untrue = untrueWarnings(given, keptOf(steps, own, given));
  const told = new Set<string>(malformed.map(flagName));
  const unmet = checked.faults.filter(({ path, message }) => !told.has(path) && !untrue.has(`${path} ${message}`));
  for (const { path } of unmet) told.add(path);
  const isRight = (...options: readonly Option[]) => options.every((option) => !told.has(flagName(option)));
  const before = own && optionsOf(own.data);
  const kept = await keptSecrets(context, unmet, own, body);
  const faults = unmet.filter(({ path }) => !kept.has(path));
  for (const path of kept) told.delete(path);
  // An invalid option is not reported as a change too.
  const options = { ...checked.options, ...pickWrong(before, isRight) } as BootstrapOptions;
  const { secrets } = checked;
  const warnings = checked.warnings.filter((text) => !untrue.has(text));
  const asked = { caller, options, secrets, given, sshPublicKey, base, maxMicros, agreed, team };
  const facts = { ...asked, checkBase: checkBase(context), warnings };
  const machines = steps.includes(plinthBinary);
  const createdAt = own?.data.createdAt ?? context.clock.now().toISOString();
  const notAllowed = await problemIn(() => checkAllowed(config, options, createdAt, isRight));
  // What may not be used is looked up nowhere, and the caller is told nothing of it.
  for (const { path } of notAllowed?.errors ?? []) told.add(path);

  const isNew = standing === undefined && body.takeUp === undefined;
  // Nothing new comes to the team of what is taken up again.
  const billed = isNew ? facts : { ...facts, team: undefined };
  const seen = isNew && depthAsked === 'all' ? await seenBefore(context, asking) : undefined;
  const depth = seen === undefined ? depthAsked : 'plan';
  let resumed: BeginFacts['checked'];
  const rules = ruleFindings({
    faults,
    warnings,
    notAllowed,
    name: isRight('projectName') ? options.projectName : undefined,
    standing,
    checkRelease:
      !machines || options.remoteCliBinary !== undefined || (isNew && depth !== 'plan')
        ? undefined
        : () => releaseBinary(config),
    checkPrice:
      standing === undefined ? () => checkNew(context, intentOf(context, caller, options), billed) : undefined,
    isPreview: depthAsked === 'plan',
    withoutFiles: isNew || (before !== undefined && base === undefined && !hasConfig(own)),
    checkResume: async (found) => {
      resumed = await checkResume(context, steps, facts, found);
    },
  });
  const found = await preflight(context, [...rules, ...findings], {
    asking: { intent: { ...intentOf(context, caller, options), machines }, secrets, signal: gone },
    trace,
    wants: (finding) => isWanted(finding, { depth, isNew, options, before }),
    wrong: (about) => about.filter((option) => !isRight(option)).map(flagName),
  });
  const chosen = found.find(({ code }) => code === installerPackage.code)?.seen as BeginFacts['package'];
  return { facts: { ...facts, package: chosen, checked: resumed }, found, isNew, seen };
}

/** Warnings of what is given alone, which what is kept takes the reason from. */
function untrueWarnings(given: GivenOptions, kept: GivenOptions): ReadonlySet<string> {
  if (Object.keys(kept).length === 0) return new Set();
  const { warnings } = checkOptions({ ...kept, ...given });
  return new Set(checkOptions(given).warnings.filter((text) => !warnings.includes(text)));
}

/** What stays of a bootstrap because it is not given again. */
function keptOf(steps: readonly AnyStep[], own: StoredBootstrap | undefined, given: GivenOptions): GivenOptions {
  if (own === undefined || !isInstalled(steps, own.data)) return {};
  const kept: readonly string[] = keptOptions(given, true);
  return Object.fromEntries(Object.entries(own.data.given).filter(([option]) => kept.includes(option)));
}

/** Flags of secrets that other flags ask for, that are missing from the request, and that plinth still has. */
async function keptSecrets(
  context: Context,
  faults: readonly Fault[],
  own: StoredBootstrap | undefined,
  { options: given, takeUp }: Asked,
): Promise<ReadonlySet<string>> {
  const missing = optionNames
    .filter(isSecret)
    .filter(
      (option) =>
        !flagOf(option).required && given[option] === undefined && faults.some(({ path }) => path === flagName(option)),
    );
  if (missing.length === 0 || (own === undefined && takeUp === undefined)) return new Set();
  const has: SecretOptions =
    own === undefined
      ? await readLastSecrets(context, takeUp ?? '')
      : await readSecrets(context, own.id, own.data.callerSecret);
  return new Set(missing.filter((option) => has[option] !== undefined).map(flagName));
}

const intentOf = (
  { config: { machineAccess, loadBalancers }, random }: Context,
  { email: owner, member: ownerMember }: Caller,
  options: BootstrapOptions,
): Omit<Intent, 'machines'> => ({
  options,
  machineAccess,
  loadBalancers,
  owner,
  ownerMember,
  projectId: makeProjectId(random, options.projectName ?? ''),
});

const seenBefore = async (context: Context, asking: Asking<Asked>): Promise<readonly string[] | undefined> =>
  asking.body.seen === undefined ? undefined : useSeen(context, roundOf(asking), asking.body.seen);

/** Throws if a new bootstrap like this would pass a ceiling, of an hour, of a month or of its team. */
async function checkNew(
  context: Context,
  wanted: Parameters<typeof priceOf>[1],
  { maxMicros, team, caller }: Pick<BeginFacts, 'maxMicros' | 'team' | 'caller'>,
): Promise<void> {
  const now = context.clock.now();
  const price = priceOf(context.config, wanted, maxMicros);
  const { deadlineAt } = endFor(price, now, ttlSeconds(wanted.options));
  const bounds = team === undefined ? [] : await boundsOfTeam(context, team);
  checkRoom(bounds);
  checkPriced(context.config, bounds, price);
  const at = now.toISOString();
  const payer = { owner: caller.email, ...(team !== undefined && { team }) };
  await checkSpendOfNew(context, { price, createdAt: at, deadlineAt, state: 'running', ...payer }, at, bounds);
}

const isOwn = async (context: Context, standing: StoredBootstrap | undefined, caller: Caller): Promise<boolean> =>
  standing !== undefined &&
  !isBoundToAnother(standing.data, caller) &&
  (await isStillTheirs(context, standing.data, caller));

/** Files that a person can fill in come with the first config. */
const hasConfig = (own: StoredBootstrap | undefined): boolean =>
  own?.data.instances['config:dc1']?.output !== undefined;

interface Situation {
  readonly depth: Depth;
  readonly isNew: boolean;
  readonly options: BootstrapOptions;
  readonly before: BootstrapOptions | undefined;
}

function isWanted({ about, by, onResume, onPlan }: Finding, { depth, isNew, options, before }: Situation): boolean {
  if (depth === 'plan') return onPlan === true;
  if (depth === 'readable' && by !== 'bootstraps') return false;
  if (isNew || onPlan === true || onResume === 'always') return true;
  return onResume === 'changed' && about.some((name) => valueIn(options, name) !== valueIn(before, name));
}

const valueIn = (options: object | undefined, name: Option): unknown =>
  (options as Readonly<Record<string, unknown>> | undefined)?.[name];

async function problemIn(check: () => Promise<unknown>): Promise<Problem | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

const pickWrong = (before: BootstrapOptions | undefined, isRight: (option: Option) => boolean) =>
  Object.fromEntries(Object.entries(before ?? {}).filter(([option]) => !isRight(option as Option)));

/** Further objections to a malformed request, as far as it can be read. */
export async function objectionsTo(
  context: Context,
  steps: readonly AnyStep[],
  { body, dryRun, ...asking }: Asking<unknown> & { readonly dryRun: boolean },
): Promise<readonly Fault[]> {
  const sent = fieldsOf(fieldsOf(body)['options']);
  const malformed = optionNames.filter((option) => option in sent && !fieldOf(option).safeParse(sent[option]).success);
  const readable = optionNames.filter((option) => option in sent && !malformed.includes(option));
  const options: GivenOptions = Object.fromEntries(readable.map((option) => [option, sent[option]]));
  const strict = fieldsOf(body)['strict'] === true;
  try {
    const depth = dryRun ? 'plan' : 'readable';
    await judge(context, steps, { ...asking, body: { options, strict } }, { depth, malformed });
    return [];
  } catch (error) {
    if (!(error instanceof Problem) || error.kind.status >= 500) return [];
    return error.errors ?? [{ path: 'body', message: error.detail }];
  }
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {};
