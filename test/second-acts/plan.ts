/** What a seed plays: how a project is opened, and the second acts that follow. Reads nothing and runs nothing. */
import { createRandom, type Random } from '../organizations/random.js';

/** Flags that an act adds to the required ones. */
export interface FlagSet {
  readonly name: string;
  readonly flags: Readonly<Record<string, string | true | readonly string[]>>;
}

export const flagSets = [
  { name: 'no other flags', flags: {} },
  { name: 'a feature flag', flags: { 'feature-flags': ['one'] } },
  { name: 'two feature flags', flags: { 'feature-flags': ['one', 'two words'] } },
  { name: 'an internal flag', flags: { 'internal-flags': ['inner'] } },
  { name: 'a longer life', flags: { 'project-ttl': '5h' } },
  { name: 'a shorter life', flags: { 'project-ttl': '1h30m' } },
  { name: 'another datacenter name', flags: { 'datacenter-name': 'paris' } },
  { name: 'another client secret', flags: { 'forge1-app-client-secret': 'planted-other-secret-4712' } },
  { name: 'another client id', flags: { 'forge1-app-client-id': 'other-client-id' } },
  { name: 'a cluster admin', flags: { 'cluster-admin-email': 'ada@example.com' } },
  { name: 'another secrets folder', flags: { 'secrets-dir': '/etc/mine' } },
  {
    name: 'remote metrics',
    flags: {
      'metrics-remote-write-url': 'https://metrics.example.com/write',
      'metrics-remote-write-user': 'writer',
      'metrics-remote-write-password': 'planted-metrics-secret-4713',
    },
  },
  {
    name: 'a vault',
    flags: { 'vault-uri': 'https://vault.example.com', 'vault-password': 'planted-vault-secret-4714' },
  },
  { name: 'ACME staging', flags: { 'acme-staging': true } },
  { name: 'a bare base domain', flags: { 'base-domain': 'other.example.com' } },
  { name: 'another zone', flags: { zone: 'us-central1-b' } },
  { name: 'no files', flags: { 'write-config=false': true } },
  { name: 'other paths', flags: { 'install-config': 'other.yaml', 'secrets-file': 'other.vault.yaml' } },
  { name: 'a flag that contradicts another', flags: { preemptible: true, 'spot-vms': true } },
  { name: 'a flag with a broken value', flags: { 'project-ttl': 'soon' } },
  { name: 'a limit of the cost', flags: { 'max-cost': '3' } },
  { name: 'a limit that is too low', flags: { 'max-cost': '0.01' } },
] as const satisfies readonly [FlagSet, ...FlagSet[]];

/** What a bootstrap command may be asked beside its flags. */
export const modes = ['plain', 'recover-config', 'recover-config strict', 'dry-run', 'check', 'plan', 'apply'] as const;
export type Mode = (typeof modes)[number];

export const dailyCommands = [
  'status',
  'list',
  'extend',
  'protect',
  'unprotect',
  'share',
  'logs',
  'open',
  'kubeconfig',
  'ssh config',
  'doctor',
  'cancel',
  'restart-vms',
  'init',
  'up',
  'up dry-run',
  'cleanup',
  'cleanup dry-run',
  'support',
] as const;
export type DailyCommand = (typeof dailyCommands)[number];

/** Files of the user that an act edits or damages. `identity` and `key` are those that plinth keeps in its config folder. */
export const userFiles = [
  'config',
  'secrets',
  'identity',
  'key',
  'project file',
  'kubeconfig',
  'plan',
  'names',
] as const;
export type UserFile = (typeof userFiles)[number];

export const edits = [
  'a comment on top',
  'a comment at the end of each line',
  'a key under override',
  'odd scalars under override',
  'keys in another order',
  'another value',
  'a blank line at the end',
  'another secret, by sops',
  'another client secret, by sops',
  'an SSH key of their own',
] as const;
export type Edit = (typeof edits)[number];

export const damages = [
  'is cut short',
  'is empty',
  'has CRLF',
  'has a BOM',
  'has a flipped byte',
  'has NUL bytes',
  'is UTF-16',
  'has two documents',
  'has a key twice',
  'may not be read',
  'is gone',
  'is a folder',
  'is a FIFO',
  'is a dangling link',
  'is very large',
] as const;
export type Damage = (typeof damages)[number];

export const disturbances = [
  'answers of the cloud are lost',
  'the cloud is away for a moment',
  'the cloud refuses for a while',
  'the store fails',
  'a function dies',
] as const;
export type Disturbance = (typeof disturbances)[number];

export const signals = ['SIGINT', 'SIGTERM', 'SIGKILL'] as const;
export const vms = ['jumpbox', 'postgres', 'ceph-2', 'k0s-1', 'k0s-3'] as const;

export type Act =
  | { readonly kind: 'run'; readonly mode: Mode; readonly flags: FlagSet; readonly dummy: boolean }
  | {
      readonly kind: 'kill';
      readonly signal: (typeof signals)[number];
      readonly afterMs: number;
      readonly flags: FlagSet;
    }
  | { readonly kind: 'disturb'; readonly how: Disturbance; readonly nth: number; readonly flags: FlagSet }
  | { readonly kind: 'daily'; readonly command: DailyCommand }
  | { readonly kind: 'edit'; readonly file: UserFile; readonly how: Edit }
  /** `at`: how far into the file, from 0 to 1. */
  | { readonly kind: 'damage'; readonly file: UserFile; readonly how: Damage; readonly at: number }
  | { readonly kind: 'lose'; readonly what: 'a VM' | 'a running VM' | 'the record'; readonly vm: (typeof vms)[number] };

/** Hands change things without a command. */
export const isByHand = ({ kind }: Act): boolean => kind === 'edit' || kind === 'damage' || kind === 'lose';

export interface Plan {
  /** The first command, whether it installs the platform, and when it is killed, if it is. */
  readonly opening: {
    readonly flags: FlagSet;
    readonly installs: boolean;
    readonly killedAfterMs: number | undefined;
  };
  readonly acts: readonly Act[];
}

export interface PlanOptions {
  /** The VMs answer SSH. Without them nothing can be recovered from a jumpbox. */
  readonly machines: boolean;
}

export function planOf(seed: number, { machines }: PlanOptions): Plan {
  const random = createRandom(seed);
  const mildFlags = [flagSets[0], flagSets[1], flagSets[4], flagSets[9]] as const;
  const opening = {
    flags: random.pick(mildFlags),
    installs: machines && random.maybe(0.5),
    killedAfterMs: random.maybe(0.15) ? 300 + random.below(1500) : undefined,
  };
  const acts: Act[] = [];
  const commands = 3 + random.below(machines ? 2 : 4);
  for (let n = 0; n < commands; n += 1) {
    if (random.maybe(0.65)) acts.push(handsOf(random, machines));
    acts.push(commandOf(random, machines));
  }
  return { opening, acts };
}

function handsOf(random: Random, machines: boolean): Act {
  const chance = random.next();
  const [file, how, at] = [random.pick(fileWeights), random.pick(edits), random.next()];
  const damage = random.pick(damages);
  const vm = random.pick(vms);
  if (chance < 0.35) return { kind: 'edit', file: /sops/.test(how) || file === 'secrets' ? 'secrets' : 'config', how };
  if (chance < 0.85) return { kind: 'damage', file, how: damage, at };
  if (chance < 0.9 && machines) return { kind: 'lose', what: 'the record', vm };
  return { kind: 'lose', what: chance < 0.95 ? 'a VM' : 'a running VM', vm };
}

/** The files that commands read most come most often. */
const fileWeights: readonly UserFile[] = [...userFiles, 'config', 'config', 'secrets', 'secrets', 'identity'];

function commandOf(random: Random, machines: boolean): Act {
  const chance = random.next();
  const [flags, mode, command] = [random.pick(flagSets), random.pick(modes), random.pick(dailyCommands)];
  const [signal, afterMs, how, nth] = [
    random.pick(signals),
    random.below(1800),
    random.pick(disturbances),
    1 + random.below(6),
  ];
  const dummy = random.maybe(0.5);
  if (machines && chance < 0.3) return { kind: 'run', mode: 'recover-config', flags, dummy };
  if (chance < 0.55) return { kind: 'run', mode, flags, dummy: dummy && mode.startsWith('recover') };
  if (chance < 0.65) return { kind: 'kill', signal, afterMs, flags };
  if (chance < 0.72) return { kind: 'disturb', how, nth, flags };
  return { kind: 'daily', command };
}

/** For the timeline. */
export function wordsOf(act: Act): string {
  switch (act.kind) {
    case 'run':
      return `bootstrap-cloud, ${act.mode}, with ${act.flags.name}${act.dummy ? ' and a dummy secret' : ''}`;
    case 'kill':
      return `bootstrap-cloud with ${act.flags.name}, and ${act.signal} after ${act.afterMs} ms`;
    case 'disturb':
      return `bootstrap-cloud with ${act.flags.name}, while ${act.how} (${act.nth})`;
    case 'daily':
      return act.command;
    case 'edit':
      return `the user edits ${act.file}: ${act.how}`;
    case 'damage':
      return `the file ${act.file} ${act.how}`;
    case 'lose':
      return act.what === 'the record'
        ? 'plinth loses its record'
        : `${act.what} is ${act.what === 'a VM' ? 'deleted' : 'stopped'}: ${act.vm}`;
  }
}
