/** `--check`: what is known of a bootstrap before it begins, here and at the service. Makes nothing. */
import {
  fileOptions,
  flagName,
  type GivenFlags,
  type GivenOptions,
  isLocal,
  type LocalOptions,
  type Option,
} from '../shared/bootstrap/options.js';
import type { PreflightFinding } from '../shared/bootstrap/preflight.js';
import { fieldOf } from '../shared/bootstrap/request.js';
import { type CheckedOptions, refusalOf } from '../shared/bootstrap/rules.js';
import { type Fault, Problem } from '../shared/problems.js';
import { keyCheck } from './doctor/computer.js';
import { findingsText } from './findings-text.js';
import { beginningLines } from './follow/beginning.js';
import type { CommandContext } from './frame/command.js';
import type { Style } from './frame/output.js';
import { findSshKey, sshKeyFaults } from './identity/ssh-key.js';
import { readUploads, uploadFaults } from './machines/uploads.js';

interface Parts {
  readonly checked: CheckedOptions;
  /** What is wrong with files on this computer, and with flags that are not options. */
  readonly faults: readonly Fault[];
  /** What of these files is only doubtful. */
  readonly doubts: readonly Fault[];
  /** The options of this computer, with `~` as the home folder. */
  readonly local: LocalOptions;
  /** The given options that travel to the service. */
  readonly travelling: GivenFlags;
  readonly maxCost: string | undefined;
  readonly team: number | undefined;
}

/** Asks the service even where something is wrong here, so that all is told at once. */
export async function check(
  call: CommandContext,
  { checked, faults, doubts, local, travelling, maxCost, team }: Parts,
) {
  const { given, settings } = call;
  const keyFaults = await sshKeyFaults(given, settings);
  const { faults: unread, mismatches, doubts: ofUploads } = await uploadFaults(given, settings);
  const uploads = unread.length > 0 ? {} : (await readUploads(given, settings)).options;
  const client = await call.connect();
  const sendable = sendableOf(withoutFiles(travelling));
  const key = keyFaults.length === 0 ? findSshKey(given, local.sshPublicKeyPath, settings) : undefined;
  // What has no form in which it could travel is told here, as is a file that cannot be read.
  const asked: GivenOptions = { ...sendable, ...uploads };
  const recovery =
    local.recoverConfig && key !== undefined
      ? await (await import('./machines/recovery.js')).lookAtRecovery(
          call,
          client,
          { key, local, given: asked },
          checked.options.projectName,
        )
      : undefined;
  const [recovered, unrecovered] = recovery instanceof Problem ? [undefined, recovery] : [recovery, undefined];
  const { findings, beginning } = await client.preflight({
    options: recovered?.options ?? asked,
    // A key that the first bootstrap is still to make has no part in a plan.
    ...(key !== undefined && key.keep === undefined && { sshPublicKey: key.publicKey }),
    ...(call.has('strict') && { strict: true }),
    ...(maxCost !== undefined && { maxCost }),
    ...(team !== undefined && { team }),
  });
  const ofLocal = checked.faults.filter(({ path }) => localFlags.has(path));
  const doubtful = [...doubts, ...ofUploads, ...(recovered?.doubts ?? [])];
  const here = [...faults, ...ofLocal, ...unread, ...mismatches, ...(call.has('strict') ? doubtful : [])];
  const unsent = [...call.faults, ...checked.faults.filter(({ path }) => isUnsent(path, travelling, sendable))];
  const all: PreflightFinding[] = [
    await keyFinding(call, keyFaults),
    filesFinding(here, doubtful, unrecovered),
    ...findings.map((each) => (each.code === 'options' && unsent.length > 0 ? withFaults(each, unsent) : each)),
  ];
  const problem = problemOf(all);
  const would = problem === undefined ? beginning : undefined;
  return {
    data: { check: { go: problem === undefined, findings: all, ...(would !== undefined && { beginning: would }) } },
    ...(problem !== undefined && { problem }),
    showsFaults: true as const,
    show: (style: Style) =>
      findingsText(all, style, would && [style.bold('It would be'), ...beginningLines(would), '']),
  };
}

const withoutFiles = (given: GivenFlags): GivenFlags =>
  Object.fromEntries(Object.entries(given).filter(([option]) => !(fileOptions as readonly string[]).includes(option)));

/** The service refuses a request as a whole that holds one value of another form, such as a word for a number. */
const sendableOf = (given: GivenFlags): GivenFlags =>
  Object.fromEntries(
    Object.entries(given).filter(([option, value]) => fieldOf(option as Option).safeParse(value).success),
  );

const isUnsent = (path: string, travelling: GivenFlags, sendable: GivenFlags): boolean =>
  Object.keys(withoutFiles(travelling)).some((option) => flagName(option as Option) === path && !(option in sendable));

/** The service's finding of flags, with what was not sent to it. */
const withFaults = (found: PreflightFinding, faults: readonly Fault[]): PreflightFinding =>
  stopped(found.code, found.title, 'They say what the bootstrap is.', [...faults, ...(found.errors ?? [])]);

const localFlags: ReadonlySet<string> = new Set(
  (['sshPrivateKeyPath', 'sshPublicKeyPath', 'installConfig', 'secretsFile'] as const satisfies readonly Option[])
    .filter(isLocal)
    .map(flagName),
);

const stopped = (code: string, title: string, why: string, faults: readonly Fault[]): PreflightFinding => {
  const { detail, advice, errors } = refusalOf(faults);
  return {
    code,
    title,
    state: 'stop',
    what: detail,
    why,
    problem: 'bad-input',
    ...(advice !== undefined && { mend: advice }),
    ...(errors !== undefined && { errors: [...errors] }),
  };
};

async function keyFinding(call: CommandContext, faults: readonly Fault[]): Promise<PreflightFinding> {
  const [code, title, why] = ['ssh-key', 'SSH key', 'It opens the machines to you.'];
  if (faults.length > 0) return stopped(code, title, why, faults);
  const { state, detail, advice } = await keyCheck(call);
  if (state === 'ok') return { code, title, state, what: detail };
  return { code, title, state: 'warning', what: detail, why, ...(advice !== undefined && { mend: advice }) };
}

function filesFinding(
  faults: readonly Fault[],
  doubts: readonly Fault[],
  unrecovered: Problem | undefined,
): PreflightFinding {
  const [code, title, why] = ['files', 'Files on this computer', 'They travel to the machines, or come from there.'];
  if (faults.length === 0 && unrecovered !== undefined) {
    const { detail: what, advice, errors, code: problem } = unrecovered;
    const more = {
      ...(advice !== undefined && { mend: advice }),
      ...(errors !== undefined && { errors: [...errors] }),
    };
    return { code, title, state: 'stop', what, why, problem, ...more };
  }
  if (faults.length > 0) return stopped(code, title, why, faults);
  if (doubts.length === 0) return { code, title, state: 'ok', what: 'readable, and writable where they must be' };
  const what = doubts.map(({ path, message }) => `${path} ${message}`).join('; ');
  return { code, title, state: 'warning', what, why };
}

/** It exits as the bootstrap itself would. */
export function problemOf(
  findings: readonly PreflightFinding[],
  what = 'The bootstrap would be refused',
): Problem | undefined {
  const stops = findings.filter(({ state }) => state === 'stop');
  if (stops.length === 0) return undefined;
  const codes = [...new Set(stops.map(({ problem = 'bad-input' }) => problem))];
  const [code = 'bad-input'] = codes.length === 1 ? codes : [];
  const errors = stops.flatMap((stop) => stop.errors ?? []);
  return new Problem(code, `${what}: ${stops.map((stop) => stop.code).join(', ')}.`, {
    ...(errors.length > 0 && { errors }),
    advice: 'Mend what is listed, then look again.',
  });
}
