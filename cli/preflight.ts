/** `--check`: what is known of a bootstrap before it begins, here and at the service. Makes nothing. */
import { fileOptions, flagName, type GivenFlags, isLocal, type Option } from '../shared/bootstrap/options.js';
import { type FindingState, findingStates, type PreflightFinding } from '../shared/bootstrap/preflight.js';
import { type CheckedOptions, refusalOf } from '../shared/bootstrap/rules.js';
import { type Fault, Problem } from '../shared/problems.js';
import { keyCheck } from './doctor/computer.js';
import type { Call } from './frame/command.js';
import { printable, type Style } from './frame/output.js';
import { table, time } from './frame/table.js';
import { findSshKey, sshKeyFaults } from './identity/ssh-key.js';
import { readUploads, uploadFaults } from './machines/uploads.js';

interface Parts {
  readonly checked: CheckedOptions;
  /** What is wrong with files on this computer, and with the command line itself. */
  readonly faults: readonly Fault[];
  /** The options that travel to the service. */
  readonly travelling: GivenFlags;
  readonly maxCost: string | undefined;
  readonly team: number | undefined;
}

/** Asks the service even where something is wrong here, so that all is told at once. */
export async function check(call: Call, { checked, faults, travelling, maxCost, team }: Parts) {
  const { given, settings } = call;
  const keyFaults = await sshKeyFaults(given, settings);
  const unread = await uploadFaults(given, settings);
  const uploads = unread.length > 0 ? {} : (await readUploads(given, settings)).options;
  const client = await call.connect();
  const { findings } = await client.preflight({
    // A file that cannot be read is told here, and travels in no form.
    options: { ...withoutFiles(travelling), ...uploads },
    ...(keyFaults.length === 0 && {
      sshPublicKey: findSshKey(given, checked.local.sshPublicKeyPath, settings).publicKey,
    }),
    ...(call.has('strict') && { strict: true }),
    ...(maxCost !== undefined && { maxCost }),
    ...(team !== undefined && { team }),
  });
  const ofLocal = checked.faults.filter(({ path }) => localFlags.has(path));
  const here = [...faults, ...ofLocal, ...unread];
  const all: PreflightFinding[] = [await keyFinding(call, keyFaults), filesFinding(here), ...findings];
  const problem = problemOf(all);
  return {
    data: { check: { go: problem === undefined, findings: all } },
    ...(problem !== undefined && { problem }),
    show: (style: Style) => findingsText(all, style),
  };
}

const withoutFiles = (given: GivenFlags): GivenFlags =>
  Object.fromEntries(Object.entries(given).filter(([option]) => !(fileOptions as readonly string[]).includes(option)));

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

async function keyFinding(call: Call, faults: readonly Fault[]): Promise<PreflightFinding> {
  const [code, title, why] = ['ssh-key', 'SSH key', 'It opens the machines to you.'];
  if (faults.length > 0) return stopped(code, title, why, faults);
  const { state, detail, advice } = await keyCheck(call);
  if (state === 'ok') return { code, title, state, what: detail };
  return { code, title, state: 'warning', what: detail, why, ...(advice !== undefined && { mend: advice }) };
}

const filesFinding = (faults: readonly Fault[]): PreflightFinding =>
  faults.length === 0
    ? { code: 'files', title: 'Files on this computer', state: 'ok', what: 'readable, and writable where they must be' }
    : stopped('files', 'Files on this computer', 'They travel to the machines, or come from there.', faults);

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

const headings: Readonly<Record<FindingState, string>> = {
  stop: 'Stops it',
  warning: 'Warnings',
  unknown: 'Not known yet',
  ok: 'Fine',
};

/** Grouped by verdict, stops first. */
export function findingsText(findings: readonly PreflightFinding[], style: Style): string {
  const paint = { stop: style.red, warning: style.yellow, unknown: style.dim, ok: style.green };
  const groups = findingStates.flatMap((state) => {
    const those = findings.filter((each) => each.state === state);
    if (those.length === 0) return [];
    const rows = table(those.map((each) => [each.title, each.code, `${each.what}${likelyText(each)}`]));
    return [
      `${paint[state](headings[state])} (${those.length})`,
      ...those.flatMap((each, index) => [rows[index] ?? '', ...notesOf(each)]),
      '',
    ];
  });
  const stops = findings.filter(({ state }) => state === 'stop').length;
  return [...groups, stops === 0 ? style.bold('Go.') : style.bold(`No go: ${stops} to mend first.`)].join('\n');
}

const likelyText = ({ likely }: PreflightFinding): string =>
  likely === undefined ? '' : ` (likely ${likely.state === 'ok' ? 'fine' : 'too little'}, as of ${time(likely.at)})`;

/** Of what is not known yet, only what can be done about it. */
const notesOf = ({ state, why, mend }: PreflightFinding): string[] =>
  [state === 'stop' || state === 'warning' ? why : undefined, state === 'ok' ? undefined : mend]
    .flatMap((text) => text?.split('\n') ?? [])
    .map((line) => `      ${printable(line)}`);
