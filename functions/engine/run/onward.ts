/**
 * One of the instances that an end made ready goes on in the same invocation. The commit that makes its lease claims it. That
 * saves a message, two reads and a commit. The others get a message each.
 */
import type { Context } from '../../context.js';
import type { Version } from '../../store/store.js';
import type { Instance } from '../plan.js';
import type { LeaseRecord, StoredBootstrap } from '../record/documents.js';
import type { Deadline } from './deadline.js';
import { type Claiming, claimNew, type Held, type LeaseTimes } from './lease.js';

/** With less time left, the instance would soon be handed over. */
const leastSeconds = 120;

/** An instance that this invocation holds already. */
interface Claimed {
  readonly instance: string;
  readonly held: Held;
  /** As the commit left it. */
  readonly bootstrap: StoredBootstrap;
}

export interface Onward {
  /** The one of the ready instances to go on with. Undefined: all of them get a message. */
  choose(ready: readonly Instance[], lane: LeaseRecord['lane']): Instance | undefined;
  claiming(lease: LeaseRecord): Claiming;
  /** Once the commit is through. */
  take(instance: Instance, claiming: Claiming, version: Version, bootstrap: StoredBootstrap): void;
  taken(): Claimed | undefined;
}

export function createOnward(context: Context, deadline: Deadline, times: LeaseTimes): Onward {
  let taken: Claimed | undefined;
  return {
    choose: (ready, lane) =>
      context.shutdown?.aborted || deadline.secondsLeft() < leastSeconds
        ? undefined
        : ready.find((instance) => instance.lane === lane),
    claiming: (lease) => claimNew(context, lease, times),
    take(instance, claiming, version, bootstrap) {
      taken = { instance: instance.id, held: claiming.hold(version), bootstrap };
    },
    taken: () => taken,
  };
}
