/** For tests that need simulated VMs which answer SSH. */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import type { TierName } from '../../local/machines/index.js';
import { whyNoMachines } from '../../local/machines/possible.js';
import { whyNoRealHosts } from '../../local/machines/real/possible.js';

/** Skips where this computer can hold none; in CI that is a failure, unless it is said that there are to be no real ones. */
export function needMachines(context: Mocha.Context, tier: TierName = 'embedded'): void {
  if (tier === 'real' && process.env['PLINTH_TEST_REAL_HOSTS'] === 'off') {
    process.stderr.write('PLINTH_TEST_REAL_HOSTS is off: these tests on real hosts are left out, and prove nothing.\n');
    context.skip();
  }
  const why = tier === 'real' ? whyNoRealHosts(tmpdir()) : whyNoMachines();
  if (why === undefined) return;
  if (process.env['CI'] !== undefined) throw new Error(`CI has to be able to hold machines: ${why}`);
  context.skip();
}

/** A Linux amd64 executable of so many bytes, 40,000 at least, that knows `--version`, and is another for another `seed`. Returns its path. */
export function makeExecutable(path: string, size: number, seed = 'plinth'): string {
  const bytes = Buffer.alloc(size, createHash('sha256').update(seed).digest());
  // What follows an executable's own bytes does not trouble it.
  readFileSync('/bin/true').copy(bytes);
  writeFileSync(path, bytes, { mode: 0o755 });
  return path;
}
