/** What lies on a machine's disk, without what differs between two ways to the same end: what is random, what services write by themselves. */
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Written by what runs there, or emptied at each start; and a claim that came too late, as what it was about was there already. */
const passing = /^(tmp|var\/(tmp|log|cache|lib\/(k0s|plinth-local|containers\/cache)))(\/|$)|jobs\/[^/]+\/claim$/;
/** Drawn anew each time, of times and process numbers, or of addresses that VMs get in the order of their making. */
const random =
  /^(root|home\/ubuntu)\/\.ssh\/|ssh_known_hosts$|vault[^/]*\.yaml$|age_key|kube|join-token|^etc\/k0s\/|jobs\/[^/]+\/(run|group|script|sha256|log)$|^usr\/local\/bin\/k0s$|plinth-sample|^var\/lib\/plat[^/]*\/(?!packages)|config[^/]*\.yaml$|^etc\/hosts$|^etc\/platform\/registry\/|ca-certificates|^etc\/ssl\/certs\//;

/** A job is named by its script, which may name what is drawn anew; and by how often it was begun. */
const scriptHash = /(\/jobs\/[a-z0-9-]+-)[0-9a-f]{12}(?=-\d+\/)/;

/** By path: mode, number of lines, and of what is the same each time its hash. */
export function diskInventory(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  const walk = (path: string): void => {
    for (const entry of readdirSync(join(folder, path), { withFileTypes: true })) {
      const inner = path === '' ? entry.name : `${path}/${entry.name}`;
      if (passing.test(inner)) continue;
      const full = join(folder, inner);
      const known = inner.replace(scriptHash, '$1…');
      if (entry.isDirectory()) walk(inner);
      else if (entry.isSymbolicLink()) found[known] = `→ ${readlinkSync(full)}`;
      else if (entry.isFile()) found[known] = contentOf(inner, full);
    }
  };
  walk('');
  return found;
}

/** Names the APIs of the simulated cloud, whose ports are drawn by each world. */
const environment = 'etc/environment';

/** Programs of a hundred megabytes are told by their size. */
const large = 10_000_000;

function contentOf(path: string, full: string): string {
  const { mode: bits, size } = lstatSync(full);
  const mode = (bits & 0o777).toString(8);
  if (size > large) return `${mode}, ${size} bytes`;
  const bytes = readFileSync(full);
  const content = path === environment ? Buffer.from(bytes.toString().replaceAll(/:\d{4,5}\b/g, ':…')) : bytes;
  // Twice what was to be there once has more lines.
  const lines = content.filter((byte) => byte === 0x0a).length;
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 12);
  return /vault|\.pub$/.test(path) ? mode : random.test(path) ? `${mode}, ${lines} lines` : `${mode} ${hash}`;
}
