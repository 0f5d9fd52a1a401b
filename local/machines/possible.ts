/** Checks whether this computer can hold simulated VMs, and finds the way to make sandboxes. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { bubblewrap } from './bubblewrap.js';
import type { Isolation } from './isolation.js';
import { unshare } from './unshare.js';

/** Programs of this computer that steps and the sample package use on machines. */
const programs: readonly (readonly [program: string, from: string])[] = [
  ['bash', 'bash'],
  ['nsenter', 'util-linux'],
  ['mount', 'mount'],
  ['curl', 'curl'],
  ['python3', 'python3'],
  ['ssh', 'openssh-client'],
];

/** Kernel settings that forbid user namespaces. */
const forbidding: readonly (readonly [name: string, value: string])[] = [
  ['kernel.apparmor_restrict_unprivileged_userns', '1'],
  ['kernel.unprivileged_userns_clone', '0'],
  ['user.max_user_namespaces', '0'],
];

const settingOf = (name: string): string | undefined => {
  try {
    return readFileSync(`/proc/sys/${name.replaceAll('.', '/')}`, 'utf8').trim();
  } catch {
    return undefined;
  }
};

/** In order of preference. */
export const isolations: readonly Isolation[] = [bubblewrap, unshare];

/** The first way that works here, found by trying. Otherwise the reason why none does, and what to do. */
export function isolationHere(among = isolations): Isolation | string {
  if (process.platform !== 'linux') return 'simulated VMs need Linux';
  const missing = programs.filter(([name]) => spawnSync('bash', ['-c', `command -v ${name}`]).status !== 0);
  if (missing.length > 0) {
    const names = missing.map(([name]) => name).join(', ');
    const packages = missing.map(([, from]) => from).join(' ');
    return `${names} ${missing.length === 1 ? 'is' : 'are'} missing: install ${packages}, such as with apt-get install ${packages}`;
  }
  const said: string[] = [];
  for (const each of among) {
    const why = each.trial();
    if (why === undefined) return each;
    said.push(`${each.name}: ${why}`);
  }
  const guilty = forbidding
    .filter(([name, value]) => settingOf(name) === value)
    .map(([name, value]) => `${name}=${value}`);
  const because = guilty.length === 0 ? '' : `, as ${guilty.join(' and ')} says`;
  return `this system lets nobody here make user namespaces${because} (${said.join('; ')})`;
}
