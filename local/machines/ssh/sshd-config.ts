/** The sshd settings that our server follows, read from the files in the VM. The first value of each setting wins. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readPlain } from './login-keys.js';

export interface SshdConfig {
  /** `no`, `prohibit-password` (the same as yes here, because there are no passwords), `yes`, `forced-commands-only`. */
  readonly permitRootLogin: string;
  readonly maxSessions: number;
  /** Unauthenticated connections: from `start` on it drops `rate` per cent, from `full` on all. */
  readonly maxStartups: { readonly start: number; readonly rate: number; readonly full: number };
  readonly maxAuthTries: number;
  readonly allowTcpForwarding: boolean;
}

/** `folder` is the VM's disk. */
export function readSshdConfig(folder: string): SshdConfig {
  const values = new Map<string, string>();
  const take = (text: string): void => {
    for (const line of text.split('\n')) {
      const [, name, value] = /^\s*(\w+)(?:\s+|\s*=\s*)"?([^"#]+?)"?\s*(?:#.*)?$/.exec(line) ?? [];
      if (name === undefined || value === undefined) continue;
      // The lines after `Match` are only for some users.
      if (name.toLowerCase() === 'match') return;
      if (name.toLowerCase() === 'include') includes(folder, value).forEach(take);
      else if (!values.has(name.toLowerCase())) values.set(name.toLowerCase(), value);
    }
  };
  take(readPlain(folder, 'etc/ssh/sshd_config'));
  const [start = 10, rate = 30, full = 100] = (values.get('maxstartups') ?? '')
    .split(':')
    .map((text) => Number(text) || undefined);
  return {
    permitRootLogin: values.get('permitrootlogin')?.toLowerCase() ?? 'prohibit-password',
    maxSessions: Number(values.get('maxsessions') ?? 10),
    // A single number drops all connections from there on.
    maxStartups:
      values.get('maxstartups')?.includes(':') === false ? { start, rate: 100, full: start } : { start, rate, full },
    maxAuthTries: Number(values.get('maxauthtries') ?? 6),
    allowTcpForwarding: ['yes', 'local'].includes(values.get('allowtcpforwarding')?.toLowerCase() ?? 'yes'),
  };
}

function includes(folder: string, pattern: string): string[] {
  const [, directory, ending] = /^(\/etc\/ssh\/[\w.-]+)\/\*(\.\w+)$/.exec(pattern) ?? [];
  if (directory === undefined || ending === undefined) return [];
  try {
    const names = readdirSync(join(folder, directory)).filter((name) => name.endsWith(ending));
    return names.sort().map((name) => readPlain(folder, `${directory}/${name}`));
  } catch {
    return [];
  }
}
