/** Works out what a request asks of a bootstrap. Reports all objections at once, before anything is created or changed. */
import { microsOf } from '../../../shared/bootstrap/money.js';
import {
  type BootstrapOptions,
  flagName,
  type GivenOptions,
  type Option,
  optionNames,
} from '../../../shared/bootstrap/options.js';
import { type BootstrapRequest, fieldOf } from '../../../shared/bootstrap/request.js';
import { checkOptions, refusalOf } from '../../../shared/bootstrap/rules.js';
import { type Fault, Problem } from '../../../shared/problems.js';
import { releaseBinary } from '../../../shared/release.js';
import type { BeginFacts } from '../../bootstraps/begin-facts.js';
import { isBoundToAnother } from '../../bootstraps/bound.js';
import { endFor, priceOf } from '../../bootstraps/ceilings.js';
import { findClaimed } from '../../bootstraps/find.js';
import { ttlSeconds } from '../../bootstraps/new-record.js';
import { checkResume } from '../../bootstraps/resume.js';
import type { Context } from '../../context.js';
import { optionsOf } from '../../engine/record/documents.js';
import type { AnyStep } from '../../engine/step.js';
import type { Caller } from '../../identity/auth.js';
import { plinthBinary } from '../../steps/hosts/plinth-binary.js';
import { checkRelease } from '../../steps/hosts/release-url.js';
import { checkBase } from './base-check.js';
import { checkBillingAccount, checkPlace } from './cloud-input.js';
import { checkForge1Team, checkForge1Token } from './forge1-token.js';
import { checkAll } from './objections.js';
import { choosePackage } from './package-choice.js';
import { checkAllowed, mayUseAccount } from './permission.js';

interface Asking<Body> {
  readonly caller: Caller;
  readonly body: Body;
  readonly dryRun: boolean;
  readonly gone: AbortSignal;
}

type Judged = Pick<BootstrapRequest, 'options' | 'sshPublicKey' | 'base' | 'strict' | 'maxCost' | 'plan'>;

/**
 * The facts to begin or resume with. Throws all faults as one problem. The caller already knows of the `malformed` options.
 */
export async function judge(
  context: Context,
  steps: readonly AnyStep[],
  { caller, body, dryRun, gone }: Asking<Judged>,
  malformed: readonly Option[] = [],
): Promise<BeginFacts> {
  const { config } = context;
  const { options: given, sshPublicKey, base, strict, maxCost, plan: agreed } = body;
  const maxMicros = maxCost === undefined ? undefined : microsOf(maxCost);
  const { faults: all, options: resolved, secrets, warnings } = checkOptions(given, { strict });
  const told = new Set<string>(malformed.map(flagName));
  const faults = all.filter(({ path }) => !told.has(path));
  for (const { path } of faults) told.add(path);
  const isRight = (...options: Option[]) => options.every((option) => !told.has(flagName(option)));

  const standing = !isRight('projectName') ? undefined : await findClaimed(context, resolved.projectName);
  // Compare nothing with another account's bootstrap, which would reveal it.
  const own = standing?.data.owner === caller.email && !isBoundToAnother(standing.data, caller) ? standing : undefined;
  const before = own && optionsOf(own.data);
  // An invalid option is not reported as a change too.
  const options = { ...resolved, ...pickWrong(before, isRight) } as BootstrapOptions;
  const asked = { caller, options, secrets, given, sshPublicKey, base, maxMicros, agreed };
  const facts = { ...asked, checkBase: checkBase(context), warnings };
  const isNew = (...names: (keyof BootstrapOptions)[]) =>
    isRight(...names) && names.some((name) => options[name] !== before?.[name]);
  const { forge1Pat } = secrets;
  const fetchesRelease = steps.includes(plinthBinary) && options.remoteCliBinary === undefined;
  const asking = [
    // What stands may have its plinth already.
    () => fetchesRelease && standing === undefined && hasPlace(config) && checkRelease(context),
    () => isNew('billingAccount') && mayUseAccount(config, options) && checkBillingAccount(context, options),
    () =>
      (isNew('region') || (isNew('zone') && isRight('region'))) &&
      checkPlace(context, { region: options.region, zone: isRight('zone') ? options.zone : undefined }),
    () => forge1Pat !== undefined && checkForge1Token(config.forge1ApiUrl, forge1Pat, gone),
    async () => {
      const { forge1TeamOrg: org, forge1TeamSlug: slug } = options;
      if (forge1Pat === undefined || org === undefined || slug === undefined) return;
      if (!isRight('forge1TeamOrg', 'forge1TeamSlug') || !(isNew('forge1TeamOrg') || isNew('forge1TeamSlug'))) return;
      await checkForge1Team({ apiUrl: config.forge1ApiUrl, token: forge1Pat, signal: gone }, org, slug);
    },
  ];
  let chosen: BeginFacts['package'];
  let resumed: BeginFacts['checked'];
  await checkAll([
    () => {
      if (faults.length > 0) throw refusalOf(faults);
    },
    () => checkAllowed(config, options, isRight),
    () =>
      standing === undefined &&
      isRight('region', 'projectTtl', 'rootDiskSize', 'multiDc') &&
      endFor(
        priceOf(config, { options, machineAccess: config.machineAccess }, maxMicros),
        context.clock.now(),
        ttlSeconds(options),
      ),
    // Otherwise the jumpbox would find out, with all VMs running.
    () => fetchesRelease && releaseBinary(config),
    async () => {
      if (isRight('installVersion', 'installHash', 'installLocal', 'registryType', 'airgapped'))
        chosen = await choosePackage(context, options);
    },
    ...(dryRun ? [] : asking),
    async () => {
      if (standing !== undefined) resumed = await checkResume(context, steps, facts, standing);
    },
  ]);
  return { ...facts, package: chosen, checked: resumed };
}

/** Whoever has none was told so. */
const hasPlace = ({ releases: { url, sha256 } }: Context['config']) => url !== undefined && sha256 !== undefined;

const pickWrong = (before: BootstrapOptions | undefined, isRight: (option: Option) => boolean) =>
  Object.fromEntries(Object.entries(before ?? {}).filter(([option]) => !isRight(option as Option)));

/** Further objections to a malformed request, as far as it can be read. */
export async function objectionsTo(
  context: Context,
  steps: readonly AnyStep[],
  { body, ...asking }: Asking<unknown>,
): Promise<readonly Fault[]> {
  const sent = fieldsOf(fieldsOf(body)['options']);
  const malformed = optionNames.filter((option) => option in sent && !fieldOf(option).safeParse(sent[option]).success);
  const read = optionNames.filter((option) => option in sent && !malformed.includes(option));
  const options: GivenOptions = Object.fromEntries(read.map((option) => [option, sent[option]]));
  const strict = fieldsOf(body)['strict'] === true;
  try {
    await judge(context, steps, { ...asking, body: { options, sshPublicKey: '', strict } }, malformed);
    return [];
  } catch (error) {
    if (!(error instanceof Problem) || error.kind.status >= 500) return [];
    return error.errors ?? [{ path: 'body', message: error.detail }];
  }
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {};
