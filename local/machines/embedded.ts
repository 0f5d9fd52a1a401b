/** The tier of `npm run local`, the demo and most tests: SSH servers in this process, and bash in sandboxes. */
import { removeDisk } from './disk.js';
import type { Isolation } from './isolation.js';
import { startMachine } from './machine.js';
import { isolationHere } from './possible.js';
import type { Tier } from './tier.js';

/** Without an isolation, it takes the first that works here. */
export const embeddedBy = (isolation?: Isolation): Tier => ({
  enforcesRules: false,
  whyNot() {
    const found = isolation ?? isolationHere();
    return typeof found === 'string' ? found : undefined;
  },
  async start() {
    const found = isolation ?? isolationHere();
    if (typeof found === 'string') throw new Error(found);
    return {
      start: (options) => startMachine(options, found),
      follow: () => undefined,
      removeDisk,
      close: () => Promise.resolve(),
    };
  },
});

export const embedded: Tier = embeddedBy();
