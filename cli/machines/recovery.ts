/**
 * `--recover-config`: what is recovered wins. Options that are not given come from the jumpbox, and a given value that differs
 * does not replace what is there. It is named, with the command that would apply it.
 */
import {
  flagName,
  flagOf,
  type GivenFlags,
  type GivenOptions,
  isLocal,
  isSecret,
  type LocalOptions,
  type Option,
  optionNames,
  ownerOf,
  type SecretOptions,
  variableOf,
} from '../../shared/bootstrap/options.js';
import { regionOf } from '../../shared/bootstrap/places.js';
import type { PlanDocument } from '../../shared/bootstrap/plan.js';
import type { BootstrapRequest } from '../../shared/bootstrap/request.js';
import { checkOptions, refusalOf } from '../../shared/bootstrap/rules.js';
import { readUpload } from '../../shared/bootstrap/upload.js';
import { shellWord } from '../../shared/command-words.js';
import { readInstallConfig } from '../../shared/install-config/config.js';
import { asGiven, optionsInConfig, secretsIn } from '../../shared/install-config/recovered-options.js';
import { type Fault, Problem } from '../../shared/problems.js';
import { noLongerFits } from '../files/plan-file.js';
import type { CommandContext } from '../frame/command.js';
import type { SshKey } from '../identity/ssh-key.js';
import type { Client } from '../service/client.js';
import { jumpboxIn, ownersWayIn } from './jumpbox.js';
import { type Recovered, type RecoveredFile, type RecoveryFrom, readRecovered, writeRecovered } from './recover.js';

type Values = Readonly<Partial<Record<Option, unknown>>>;

/** What the run goes on with. Nothing is written yet. */
export interface Recovery {
  readonly recovered: Recovered;
  /** plinth has no record of it any more. */
  readonly isLost: boolean;
  /** What the request carries. */
  readonly options: GivenOptions;
  /** Given options that are not applied, because what was recovered differs. */
  readonly refused: readonly Option[];
}

interface RecoveryParts {
  readonly key: SshKey;
  readonly local: LocalOptions;
  /** The given options as they travel. */
  readonly given: GivenOptions;
  /** The id of the bootstrap. Undefined: plinth has no record of it. */
  readonly standing: string | undefined;
}

export async function readRecovery(call: CommandContext, client: Client, parts: RecoveryParts): Promise<Recovery> {
  const { key, given, standing } = parts;
  const resolved = checkOptions(given).options;
  const from = await recoveryFrom(client, standing, resolved.projectName);
  const recorded = from.options;
  const { secretsDir } = recorded === undefined ? resolved : checkOptions(recorded).options;
  const recovered = await readRecovered(call, from, key, secretsDir);
  const options = optionsOf(recovered, recorded) ?? shownOptions(recovered, from, given);
  const { registryType } = checkOptions(options).options;
  const secrets = secretsIn(firstOf(recovered).opened, registryType);
  const isLost = standing === undefined;
  const all: GivenOptions = { ...options, ...secrets, ...(isLost && newSecrets(given, options, secrets)) };
  return { recovered, isLost, options: all, refused: differing(given, all) };
}

/** For `--check`, which writes nothing: what a run would go on with, and what of the given is not applied. */
interface LookedUp {
  readonly options: GivenOptions;
  readonly doubts: readonly Fault[];
}

/** Gives the `Problem` that a run would meet. */
export async function lookAtRecovery(
  call: CommandContext,
  client: Client,
  parts: Omit<RecoveryParts, 'standing'>,
  projectName: string,
): Promise<LookedUp | Problem> {
  try {
    const standing = await client.findStanding(projectName);
    const recovery = await readRecovery(call, client, { ...parts, standing: standing?.id });
    const texts = notAppliedTexts(call, recovery, []);
    return { options: recovery.options, doubts: texts.map((message) => ({ path: '--recover-config:', message })) };
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

/** The record has them as they were given, which is kept where both mean the same. */
function optionsOf({ options }: Recovered, recorded: GivenOptions | undefined): GivenOptions | undefined {
  if (options === undefined || recorded === undefined) return options ?? recorded;
  const [there, here] = [options, recorded].map((each) => JSON.stringify(checkOptions(each).options));
  return there === here ? recorded : options;
}

const firstOf = ({ datacenters: [first] }: Recovered) => {
  if (first === undefined) throw new Error('nothing was recovered');
  return first;
};

type From = RecoveryFrom & {
  /** As the record has them. */
  readonly options?: GivenOptions;
  readonly zone?: string | undefined;
};

async function recoveryFrom(client: Client, id: string | undefined, project: string): Promise<From> {
  if (id === undefined) {
    const [lost, { email }] = await Promise.all([client.findJumpbox(project), client.caller()]);
    return { ...lost, wayIn: { by: lost.machineLogin, projectId: lost.projectId, email } };
  }
  const view = await client.get(id);
  const wayIn = ownersWayIn(view);
  return { id, name: view.name, jumpbox: jumpboxIn(view), wayIn, options: view.options as GivenOptions };
}

/** Without record and file of options: what the config shows, where the jumpbox is, and for the rest what is given. */
function shownOptions(recovered: Recovered, { zone, name }: From, given: GivenOptions): GivenOptions {
  const { config, opened } = firstOf(recovered);
  const place = zone === undefined ? {} : { zone, region: regionOf(zone) };
  return asGiven({ ...given, ...optionsInConfig(readInstallConfig(config), opened), ...place, projectName: name });
}

/** Given secrets that replace none. One that belongs to an option needs that option. */
const newSecrets = (given: GivenOptions, options: GivenOptions, recovered: SecretOptions): SecretOptions =>
  Object.fromEntries(
    Object.entries(given).filter(([name]) => {
      const option = name as Option;
      if (!isSecret(option) || recovered[option] !== undefined) return false;
      const owner = ownerOf(option);
      return owner === undefined || (options as Values)[owner] !== undefined;
    }),
  );

/** The project may be named by its id, too. */
function differing(given: GivenOptions, recovered: GivenOptions): Option[] {
  const valuesOf = (options: GivenOptions): Values => {
    const { options: open, secrets } = checkOptions(options);
    return { ...open, ...secrets };
  };
  const [asked, kept] = [valuesOf(given), valuesOf(recovered)];
  return optionNames.filter(
    (option) =>
      option in given &&
      option !== 'projectName' &&
      !isLocal(option) &&
      JSON.stringify(asked[option]) !== JSON.stringify(kept[option]),
  );
}

/** Throws what is wrong with what was recovered. With `--strict` a value that is not applied is wrong, too. */
export function notAppliedTexts(
  call: CommandContext,
  { options, refused }: Recovery,
  wrong: readonly Fault[],
): string[] {
  const message = 'differs from what was recovered, and would not be applied';
  const strictly = call.has('strict') ? refused.map((option) => ({ path: flagName(option), message })) : [];
  if (wrong.length + strictly.length > 0) throw refusalOf([...wrong, ...strictly]);
  const fixed = refused.filter((option) => flagOf(option).onResume === 'fixed');
  const others = refused.filter((option) => !fixed.includes(option));
  const names = (chosen: readonly Option[]) => chosen.map(flagName).join(', ');
  return [
    ...(fixed.length === 0
      ? []
      : [
          `What was recovered stays. It differs from what is given, and cannot change while the project exists: ${names(fixed)}`,
        ]),
    ...(others.length === 0
      ? []
      : [
          `What was recovered stays. It differs from what is given, which is not applied: ${names(others)}. To apply it, ${secretsText(options, others)}: ${applyingCommand(call.given, options, others)}`,
        ]),
  ];
}

function secretsText(options: GivenOptions, others: readonly Option[]): string {
  const meant = optionNames.filter(isSecret).filter((option) => flagOf(option).required || others.includes(option));
  const variables = meant.filter((option) => options[option] !== undefined || others.includes(option)).map(variableOf);
  return `set ${variables.join(' and ')} to what is meant (the secrets file holds what was recovered), then run`;
}

/** The command with all options as they were recovered, but for those. It holds no secret. */
function applyingCommand(given: GivenFlags, recovered: GivenOptions, others: readonly Option[]): string {
  const words = optionNames.flatMap((option) => {
    if (isSecret(option)) return [];
    if (others.includes(option) || isPathHere(option)) return wordsOf(option, given[option]);
    return isLocal(option) ? [] : wordsOf(option, (recovered as Values)[option]);
  });
  return ['plinth beta bootstrap-cloud', ...words].join(' ');
}

/** Options that say where things are on this machine. Without them the command would look elsewhere. */
const isPathHere = (option: Option): boolean =>
  isLocal(option) && ['installConfig', 'secretsFile', 'sshPrivateKeyPath', 'sshPublicKeyPath'].includes(option);

function wordsOf(option: Option, value: unknown): string[] {
  const flag = flagName(option);
  if (value === undefined) return [];
  if (typeof value === 'boolean') return [value ? flag : `${flag}=false`];
  const all = Array.isArray(value) ? (value as unknown[]) : [value];
  return (all.length === 0 ? [''] : all).map((each) => {
    const text = String(each);
    return `${flag}=${shellWord((flagOf(option).file && readUpload(text)?.name) || text)}`;
  });
}

/** Reports recovered files at once, because later work may fail. */
export async function keepRecovered(
  { output, settings }: CommandContext,
  { recovered, isLost }: Recovery,
  local: LocalOptions,
  name: string,
): Promise<readonly RecoveredFile[]> {
  const files = await writeRecovered(settings, recovered, local);
  for (const { path, what, backup, inClear } of files) {
    output.say(`Recovered the ${what}: ${path}${backup === undefined ? '' : `; what stood there is now ${backup}`}`);
    if (inClear) output.warn(`${backup} holds secrets in clear. Delete it when you no longer need it.`);
  }
  if (isLost) output.say(`plinth has lost its record of ${name}; it is made anew.`);
  return files;
}

/** What is taken up again is no part of a plan. */
export function refusePlanOfLost(): never {
  const message = 'goes with --recover-config only where plinth has its record: what is taken up is no part of a plan';
  throw refusalOf([{ path: '--apply', message }]);
}

/** Files are brought back only where the plan still fits, so that a refusal changes nothing here. */
export async function checkPlanned(client: Client, request: BootstrapRequest, planned: PlanDocument): Promise<void> {
  const { plan } = await client.plan(request);
  if (plan.hash !== planned.hash) throw noLongerFits(planned, plan);
}
