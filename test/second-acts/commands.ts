/** The command lines of acts, and what each may do. */
import { argsOf, type Flags } from '../support/scene.js';
import type { Powers } from './judge.js';
import type { Act, DailyCommand, FlagSet, Mode } from './plan.js';
import type { User } from './stage.js';

export const dummySecret = 'dummy-secret-4712';

type Run = Extract<Act, { kind: 'run' }>;

const modeFlags: Readonly<Record<Mode, Flags>> = {
  plain: {},
  'recover-config': { 'recover-config': true },
  'recover-config strict': { 'recover-config': true, strict: true },
  'dry-run': { 'dry-run': true },
  check: { check: true },
  plan: { plan: 'plan.json' },
  apply: { apply: 'plan.json' },
};

export const bootstrapArgs = ({ name }: User, { flags }: FlagSet, more: Flags = {}): string[] => [
  ...['beta', 'bootstrap-cloud', '--json'],
  ...argsOf(name, { ...flags, ...more }),
];

export const runArgs = (user: User, { flags, mode, dummy }: Run): string[] =>
  bootstrapArgs(user, flags, { ...modeFlags[mode], ...(dummy && { 'forge1-app-client-secret': dummySecret }) });

const acts: Powers = { looks: false, removes: false, killed: false };
const looks: Powers = { ...acts, looks: true };
const removes: Powers = { ...acts, removes: true };

export const powersOf = (act: Act): Powers => {
  if (act.kind === 'run') return ['dry-run', 'check', 'plan'].includes(act.mode) ? looks : acts;
  if (act.kind === 'kill') return { ...acts, killed: true };
  if (act.kind === 'daily') return dailyPowers[act.command] ?? looks;
  return acts;
};

const dailyPowers: Partial<Record<DailyCommand, Powers>> = {
  extend: acts,
  protect: acts,
  unprotect: acts,
  share: acts,
  cancel: acts,
  'restart-vms': acts,
  up: acts,
  cleanup: removes,
};

export function dailyArgs({ name }: User, command: DailyCommand): string[] {
  const cloud = ['beta', 'bootstrap-cloud'];
  const own: Readonly<Record<DailyCommand, readonly string[]>> = {
    status: [...cloud, 'status', name],
    list: [...cloud, 'list'],
    extend: [...cloud, 'extend', name, '--ttl', '9h'],
    protect: [...cloud, 'protect', name, '--until', '1d', '--reason', 'a second act'],
    unprotect: [...cloud, 'unprotect', name],
    share: [...cloud, 'share', name, '--with', 'bob@example.com'],
    logs: [...cloud, 'logs', name],
    open: ['open', name],
    kubeconfig: ['kubeconfig', name, '--to', 'kube.yaml'],
    'ssh config': [...cloud, 'ssh', name, '--print-config'],
    doctor: ['doctor', name],
    cancel: [...cloud, 'cancel', name],
    'restart-vms': [...cloud, 'restart-vms', name],
    init: ['init', '--yes', ...argsOf(name)],
    up: ['up', '--yes'],
    'up dry-run': ['up', '--dry-run'],
    cleanup: [...cloud, 'cleanup', name, '--yes', '--wait'],
    'cleanup dry-run': [...cloud, 'cleanup', name, '--dry-run'],
    support: ['support', name],
  };
  return [...own[command], '--json'];
}
