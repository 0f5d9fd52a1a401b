/** Begins or resumes a bootstrap, follows it, and writes its files. */
import type { Identity } from '../../functions/remote/remote.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import {
  type BootstrapOptions,
  flagName,
  type GivenOptions,
  isSecret,
  type LocalOptions,
  optionNames,
} from '../../shared/bootstrap/options.js';
import type { PlanDocument } from '../../shared/bootstrap/plan.js';
import type { BootstrapRequest } from '../../shared/bootstrap/request.js';
import type { BeginReply } from '../../shared/bootstrap/routes.js';
import { type CheckedOptions, checkOptions, refusalOf } from '../../shared/bootstrap/rules.js';
import { createFileKeeper, type FileKeeper } from '../files/file-keeper.js';
import { differing, readPlan } from '../files/plan-file.js';
import { baseOf } from '../files/replaced-secrets.js';
import { standingFaults } from '../files/standing-files.js';
import { linesOfBegun, showBeginning } from '../follow/beginning.js';
import { detached, type Followed, followToEnd, type Helper, problemOfEnd, timingTable } from '../follow/follow.js';
import { changeText, planOrFlags } from '../follow/plan-text.js';
import { summary } from '../follow/summary.js';
import type { CommandContext } from '../frame/command.js';
import type { Style } from '../frame/output.js';
import { findAccessToken } from '../identity/access-token.js';
import { loginIdentity } from '../identity/login-identity.js';
import { findSshKey, type SshKey } from '../identity/ssh-key.js';
import type { readRecovery } from '../machines/recovery.js';
import type { LocalUpload } from '../machines/upload-source.js';
import { createUploader } from '../machines/uploader.js';
import { readUploads } from '../machines/uploads.js';
import type { Client } from '../service/client.js';
import { checkFlags, isPreview, keysOf, type OfFlags, ofRerun, travelling } from './checked-flags.js';
import { teamIn } from './team-flag.js';

/** Asked before anything is made. Throws if the caller does not agree. */
export type Agree = (client: Client, request: BootstrapRequest) => Promise<PlanDocument | undefined>;

export async function bootstrapProject(call: CommandContext, agree?: Agree) {
  const { given, output, settings } = call;
  const checked = await checkFlags(call);
  const { local } = checked;
  for (const text of checked.ofFiles) output.warn(text);
  const planned = call.word('apply') && readPlan(call, 'bootstrap');
  const client = await call.connect();
  const key = findSshKey(given, local.sshPublicKeyPath, settings);
  const uploads = await readUploads(given, settings);
  const asGiven: GivenOptions = { ...travelling(given), ...uploads.options };
  const found = local.recoverConfig
    ? await recoveryOf(call, client, { key, local, given: asGiven, beforehand: checked, planned })
    : undefined;
  const { options } = found ?? checked;
  const keys = keysOf(options);
  const request = requestOf(call, found?.recovery.options ?? asGiven, key, planned);
  if (isPreview(call))
    return preview(call, client, request, { key, options, checked: found === undefined ? checked : undefined });
  const standing = found === undefined ? await client.findStanding(options.projectName) : found.standing;
  const { warnings } = found ?? sayChecked(call, standing === undefined ? checked : ofRerun(checked));
  const agreed = planned ?? (await agree?.(client, request));

  const recovered = found && (await found.keep(request));
  const known = standing?.id ?? found?.recovery.recovered.id;
  const kept = { given, local, options, standing: { id: known } };
  const { base, replacedBy } = await baseOf(kept, keys, request.options, settings);
  keepKey(call, key);
  const needsMachine = uploads.files.length > 0 || options.createTestUser;
  const identity = needsMachine ? await machineIdentity(call, client, key, standing?.id) : undefined;
  const isNew = standing === undefined && found === undefined && agree === undefined;
  const shown = isNew ? await showBeginning(call, client, request) : undefined;
  const asked: BootstrapRequest = {
    ...request,
    ...(agreed !== undefined && { plan: agreed.hash }),
    ...(shown?.seen !== undefined && { seen: shown.seen }),
    ...(Object.keys(base).length > 0 && { base }),
    // Its record is lost. With the files from the jumpbox, it continues under a new record.
    ...(found?.recovery.isLost && { takeUp: found.recovery.recovered.id }),
  };
  const begun = await begin(call, client, asked, { agreed, stood: standing !== undefined });
  const others = [...begun.warnings, ...replacedBy(begun)].filter((text) => !warnings.includes(text));
  for (const text of others.filter((each) => !shown?.told.some(({ what }) => what === each))) output.warn(text);
  sayBegun(call, begun, shown !== undefined || agree !== undefined);

  const parts = { told: [...warnings, ...others], files: uploads.files, identity, local, base };
  const ended = await finish(call, client, begun.bootstrap, parts);
  return {
    ...ended,
    data: {
      created: begun.created,
      changes: begun.changes,
      ...ended.data,
      ...(found !== undefined && { recovered, notApplied: found.recovery.refused.map(flagName) }),
    },
  };
}

/** `checked`: its warnings are still to be said. */
async function preview(
  call: CommandContext,
  client: Client,
  request: BootstrapRequest,
  { key, options, checked }: { key: SshKey; options: BootstrapOptions; checked: OfFlags | undefined },
) {
  // The plan holds for this key alone.
  if (call.word('plan') !== undefined) keepKey(call, key);
  const shown = await planOrFlags(call, () => client.plan(request), options);
  const { data } = shown;
  const isRerun = 'plan' in data && data.plan.bootstrap !== null;
  if (checked !== undefined) sayChecked(call, isRerun ? ofRerun(checked, data.warnings) : checked);
  return shown;
}

function requestOf(
  call: CommandContext,
  options: GivenOptions,
  key: SshKey,
  planned: PlanDocument | undefined,
): BootstrapRequest {
  const maxCost = call.word('max-cost');
  const team = teamIn(call);
  return {
    options,
    sshPublicKey: key.publicKey,
    ...(call.has('strict') && { strict: true }),
    ...(maxCost !== undefined && { maxCost: maxCost.text }),
    ...(team !== undefined && { team }),
    ...(planned !== undefined && { plan: planned.hash }),
  };
}

interface EndParts {
  /** Warnings that were already printed. */
  readonly told: readonly string[];
  /** Files that the bootstrap may wait for. */
  readonly files: readonly LocalUpload[];
  readonly identity: Identity | undefined;
  readonly local: LocalOptions;
  readonly base: NonNullable<BootstrapRequest['base']>;
}

/** Follows a bootstrap to its end, and meanwhile writes its files. */
async function finish(call: CommandContext, client: Client, view: BootstrapView, parts: EndParts) {
  const { files, identity, local } = parts;
  const { id } = view;
  const { settings, interrupted } = call;
  const keeper = createFileKeeper(client, id, local, settings, parts.base);
  const helper: Helper = {
    files: keeper,
    ...(identity !== undefined && {
      uploads: (tell) => createUploader({ client, id, files, identity, settings, interrupted, tell }),
    }),
  };
  return endOf(call, await followToEnd(call, client, view, local.timer, helper), keeper, parts);
}

/** Prints and fetches what an ended bootstrap leaves. */
async function endOf(
  call: CommandContext,
  { view, timings }: Followed,
  keeper: FileKeeper,
  { told, identity, local }: EndParts,
) {
  const { output, settings } = call;
  for (const text of view.warnings.filter((each) => !told.includes(each))) output.warn(text);
  const ended = problemOfEnd(view);
  const { files, problem: unwritten } = await keeper.end(view);
  if (ended !== undefined && unwritten !== undefined) output.warn(unwritten.detail);
  const { user: testUser, warning } =
    identity !== undefined && isDone(view, 'test-user')
      ? await (await import('../machines/test-user.js')).fetchTestUser(settings, view, identity, call.interrupted)
      : {};
  if (warning !== undefined) output.warn(warning);
  const problem = ended ?? unwritten;
  if (local.timer && !output.json) output.say(timingTable(timings, output.style));
  return {
    data: {
      warnings: [...new Set([...told, ...view.warnings, ...(warning === undefined ? [] : [warning])])],
      bootstrap: view,
      ...(testUser !== undefined && { testUser }),
      ...(local.timer && { timings }),
      files,
    },
    ...(problem !== undefined && { problem }),
    show: (style: Style) => summary(view, style, { files, withoutFiles: !local.writeConfig, testUser }),
    reveals: testUser === undefined ? [] : [testUser.token],
  };
}

const isDone = ({ instances }: BootstrapView, instance: string): boolean =>
  instances.some(({ id, state }) => id === instance && state === 'done');

/**
 * Reads what is to be recovered. It is written once nothing refuses the run any more. Undefined for a preview without a record:
 * it plans what was given, because what is restored without a record is no part of a plan.
 */
async function recoveryOf(
  call: CommandContext,
  client: Client,
  {
    beforehand,
    planned,
    ...parts
  }: Omit<Parameters<typeof readRecovery>[2], 'standing'> & {
    readonly beforehand: ReturnType<typeof checkOptions>;
    readonly planned: PlanDocument | undefined;
  },
) {
  const name = beforehand.options.projectName;
  const { readRecovery, notAppliedTexts, keepRecovered, checkPlanned, refusePlanOfLost } = await import(
    '../machines/recovery.js'
  );
  const standing = await client.findStanding(name);
  if (standing === undefined && planned !== undefined) refusePlanOfLost();
  if (standing === undefined && isPreview(call)) {
    call.output.warn(
      `plinth has no record of ${name}, so this plans the given flags. A run recovers from its jumpbox.`,
    );
    return undefined;
  }
  const recovery = await readRecovery(call, client, { ...parts, standing: standing?.id });
  const checked = checkOptions(recovery.options, { strict: call.has('strict') });
  // What is missing of secrets, plinth may still have.
  const wrong = checked.faults.filter(({ path }) => !secretFlags.includes(path));
  const warnings = [...checked.warnings, ...notAppliedTexts(call, recovery, wrong)];
  const faults = await standingFaults(parts.local, keysOf(checked.options), call.settings);
  if (faults.length > 0) throw refusalOf(faults);
  sayChecked(call, { ...checked, warnings });
  return {
    recovery,
    standing,
    options: checked.options,
    warnings,
    async keep(request: BootstrapRequest) {
      if (planned !== undefined) await checkPlanned(client, request, planned);
      return keepRecovered(call, recovery, parts.local, name);
    },
  };
}

const secretFlags: readonly string[] = optionNames.filter(isSecret).map(flagName);

type Sayable = Pick<CheckedOptions, 'warnings' | 'notes'> & Partial<Pick<OfFlags, 'ofFiles'>>;

/** What concerns files was said before the service was asked. */
function sayChecked<C extends Sayable>({ output }: CommandContext, checked: C): C {
  for (const text of checked.warnings.filter((each) => checked.ofFiles?.includes(each) !== true)) output.warn(text);
  for (const note of checked.notes) output.say(note);
  return checked;
}

/** What this run needs on machines. What is missing of it is told before anything is made. */
async function machineIdentity(call: CommandContext, client: Client, key: SshKey, standing: string | undefined) {
  const identity = await loginIdentity(call, key);
  const machineAccess =
    standing === undefined ? await client.machineAccess() : (await client.get(standing)).machineAccess;
  if (machineAccess === 'iap') {
    await findAccessToken(call.settings, { interrupted: call.interrupted });
  }
  return identity;
}

/** From here on, a bootstrap may be under way when Ctrl-C arrives. */
async function begin(
  call: CommandContext,
  client: Client,
  request: BootstrapRequest,
  { agreed, stood }: { readonly agreed: PlanDocument | undefined; readonly stood: boolean },
) {
  try {
    return await client.begin(request, stood);
  } catch (error) {
    if (call.interrupted.aborted) throw detached(request.options.projectName ?? '');
    throw agreed === undefined ? error : differing(error, agreed);
  }
}

function keepKey(
  { output }: CommandContext,
  { keep, from }: { readonly keep?: () => void; readonly from: string },
): void {
  if (keep === undefined) return;
  keep();
  output.say(`No SSH key was found, so plinth made one: ${from.replace(/\.pub$/, '')}`);
}

function sayBegun({ output }: CommandContext, begun: BeginReply, isShown: boolean): void {
  const { bootstrap, created, changes } = begun;
  output.say(
    `${created ? 'Bootstrapping' : 'Going on with'} ${bootstrap.name} (project ${bootstrap.projectId}) in ${bootstrap.region}, zone ${bootstrap.zone}`,
  );
  for (const change of changes) output.say(`  ${change.option}: ${changeText(change)}`);
  if (!created || isShown || output.json) return;
  for (const line of linesOfBegun(bootstrap)) output.say(line);
}
