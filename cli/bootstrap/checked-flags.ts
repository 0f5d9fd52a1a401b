/** What is wrong with the flags and files of a bootstrap, as far as it shows before anything begins. */
import { addSeconds } from '../../shared/add-seconds.js';
import { parseDuration } from '../../shared/bootstrap/duration.js';
import { endFault } from '../../shared/bootstrap/lifetime.js';
import { AmountText } from '../../shared/bootstrap/money.js';
import {
  type BootstrapOptions,
  type GivenFlags,
  type GivenOptions,
  isLocal,
  type Option,
} from '../../shared/bootstrap/options.js';
import { type CheckedOptions, checkOptions, refusalOf } from '../../shared/bootstrap/rules.js';
import type { Fault } from '../../shared/problems.js';
import { keptFaults } from '../files/kept-places.js';
import { planFaults } from '../files/plan-file.js';
import { examineStanding, localPaths } from '../files/standing-files.js';
import type { CommandContext } from '../frame/command.js';
import { sshKeyFaults } from '../identity/ssh-key.js';
import { uploadFaults } from '../machines/uploads.js';
import { check as preflight } from '../preflight.js';
import { teamFaults, teamIn } from './team-flag.js';

/** Tells all at once, here and at the service. */
export async function checkBeforehand(call: CommandContext) {
  const checked = checkOptions(call.given, { strict: call.has('strict') });
  const local = localPaths(checked.local, call.settings);
  const standing = await examineStanding(local, keysOf(checked.options), call.settings);
  const kept = keptFaults({ ...checked, given: call.given, local }, call.settings);
  const wrongAmount = amountFaults(call);
  return preflight(call, {
    checked,
    faults: [...standing.faults, ...kept, ...wrongAmount, ...ttlFaults(call), ...teamFaults(call)],
    doubts: standing.doubts,
    local,
    travelling: travelling(call.given),
    maxCost: wrongAmount.length > 0 ? undefined : call.word('max-cost')?.text,
    team: teamIn(call),
  });
}

export const keysOf = ({ multiDc }: BootstrapOptions): readonly ('dc1' | 'dc2')[] =>
  multiDc ? ['dc1', 'dc2'] : ['dc1'];

export type OfFlags = CheckedOptions & { readonly ofFiles: readonly string[] };

/** Checks the flags and the existing files, and reports all faults at once. */
export async function checkFlags(call: CommandContext): Promise<OfFlags> {
  const { given, settings } = call;
  // With a recovery, what is recovered is judged.
  const checked = checkOptions(given, { strict: call.has('strict') && given.recoverConfig !== true });
  const local = localPaths(checked.local, settings);
  const uploads = await uploadFaults(given, settings);
  // A preview uploads nothing, and reads no config.
  const standing = isPreview(call) ? undefined : await examineStanding(local, keysOf(checked.options), settings);
  const doubts = [...uploads.doubts, ...(standing === undefined ? uploads.mismatches : standing.doubts)];
  const told = new Set(call.faults.map(({ path }) => path));
  const faults: Fault[] = [
    ...call.faults,
    // A flag that could not be read already has a fault.
    ...checked.faults.filter(({ path }) => !told.has(path)),
    ...uploads.faults,
    ...(isPreview(call) ? [] : uploads.mismatches),
    ...(call.has('strict') ? doubts : []),
    ...amountFaults(call),
    ...ttlFaults(call),
    ...teamFaults(call),
    ...(await sshKeyFaults(given, settings)),
    ...(standing === undefined ? planFaults(call, local) : standing.faults),
    ...(isPreview(call) ? [] : keptFaults({ ...checked, given, local }, settings)),
  ];
  if (faults.length > 0) throw refusalOf(faults);
  const ofFiles = doubts.map(({ path, message }) => `${path} ${message}`);
  return { ...checked, local, warnings: [...checked.warnings, ...ofFiles], ofFiles };
}

/** Of a rerun the service warns, because what is not given stays. `told` is what it said. */
export const ofRerun = (checked: OfFlags, told: readonly string[] = []) => ({
  ...checked,
  warnings: checked.warnings.filter((text) => checked.ofFiles.includes(text) || told.includes(text)),
});

export const travelling = (given: GivenFlags): GivenOptions =>
  Object.fromEntries(Object.entries(given).filter(([option]) => !isLocal(option as Option)));

export const isPreview = (call: CommandContext): boolean => call.has('dry-run') || call.word('plan') !== undefined;

function amountFaults(call: CommandContext): Fault[] {
  const read = AmountText.safeParse(call.word('max-cost')?.text ?? '1');
  return read.success ? [] : read.error.issues.map(({ message }) => ({ path: '--max-cost', message }));
}

/** As if it began now. The service counts from when it really began. */
function ttlFaults({ given: { projectTtl = '' } }: CommandContext): Fault[] {
  const now = new Date();
  const message = endFault(now.toISOString(), addSeconds(now, parseDuration(projectTtl) ?? 0));
  return message === undefined ? [] : [{ path: '--project-ttl', message }];
}
