/** The paths of k0s on a machine, the same as the real one's (pkg/config/cfgvars.go). */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const dataDir = '/var/lib/k0s';
export const runDir = '/run/k0s';
export const defaultConfigPath = '/etc/k0s/k0s.yaml';

export const place = {
  pki: join(dataDir, 'pki'),
  adminConfig: join(dataDir, 'pki/admin.conf'),
  kubeletConfig: join(dataDir, 'kubelet.conf'),
  /** Replaces etcd. */
  objects: join(dataDir, 'etcd/objects.json'),
  runtimeConfig: join(runDir, 'k0s.yaml'),
  statusSocket: join(runDir, 'status.sock'),
} as const;

export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Writes the whole file or nothing. */
export function writeWhole(path: string, content: string, mode = 0o600): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.new`, content, { mode });
  renameSync(`${path}.new`, path);
}
