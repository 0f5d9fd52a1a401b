/**
 * The disk of a real host. A folder of its own holds its changes to the base, and the files of the cloud's image and guest
 * agent.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { environmentText } from '../../local/machines/disk.js';

export interface DiskFacts {
  readonly hostname: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly hostKey: { readonly privateKey: string; readonly publicKey: string };
}

/** Files that the machine wrote stay. The whole file system is mounted at `root`. */
export function makeRealDisk(folder: string, { hostname, environment, hostKey }: DiskFacts): void {
  for (const name of ['upper', 'work', 'root']) mkdirSync(join(folder, name), { recursive: true, mode: 0o755 });
  const upper = join(folder, 'upper');
  if (existsSync(join(upper, 'etc/hostname'))) return;
  // Folders of the base keep their permissions only if they have the same ones here.
  for (const name of ['etc', 'etc/ssh']) mkdirSync(join(upper, name), { recursive: true, mode: 0o755 });
  const write = (file: string, text: string, mode = 0o644) => writeFileSync(join(upper, file), text, { mode });
  write('etc/ssh/ssh_host_ed25519_key', hostKey.privateKey, 0o600);
  write('etc/ssh/ssh_host_ed25519_key.pub', `${hostKey.publicKey}\n`);
  write('etc/machine-id', `${randomUUID().replaceAll('-', '')}\n`);
  write('etc/resolv.conf', 'nameserver 169.254.169.254\n');
  write('etc/hosts', '127.0.0.1 localhost\n::1 localhost\n');
  write('etc/environment', environmentText(environment));
  write('etc/hostname', `${hostname}\n`);
}

const mark = ' # Added by Google';

/**
 * Writes the names in the network to `/etc/hosts`, because there is no DNS: its own, its neighbours' and the metadata
 * server's. `root` is the running machine's.
 */
export function writeNames(root: string, names: readonly { readonly name: string; readonly address: string }[]): void {
  const file = join(root, 'etc/hosts');
  const stands = readFileSync(file, 'utf8');
  const others = stands.split('\n').filter((line) => line !== '' && !line.endsWith(mark));
  const own = names.map(({ name, address }) => `${address} ${name}${mark}`);
  const text = [...others, ...own, ''].join('\n');
  if (text !== stands) writeFileSync(file, text);
}
