/**
 * The instances that an end made ready go on in the same invocation, side by side. The commit that makes their leases claims
 * them. Each saves a message, two reads and a commit. Those of another lane get a message each.
 */
import type { Context } from '../../context.js';
import type { Version } from '../../store/store.js';
import type { Instance } from '../plan.js';
import type { LeaseRecord, StoredBootstrap } from '../record/documents.js';
import type { Deadline } from './deadline.js';
import { type Claiming, claimNew, type Held, type LeaseTimes } from './lease.js';

/** With less time left, an instance would soon be handed over. */
const leastSeconds = 120;
/**
 * So many at most follow one end. All VMs of a datacenter wait for Google together. SSH takes the processor, so other functions
 * take a part of it.
 */
const mostAtOnce: Readonly<Record<LeaseRecord['lane'], number>> = { cloud: 10, host: 1 };

/** An instance that this invocation holds already. */
interface Claimed {
  readonly instance: string;
  readonly held: Held;
  /** As the commit left it. */
  readonly bootstrap: StoredBootstrap;
}

export interface Onward {
  /** Those of the ready instances to go on with. The others get a message. `chosen`: how many were chosen before. */
  choose(ready: readonly Instance[], lane: LeaseRecord['lane'], chosen: number): readonly Instance[];
  claiming(lease: LeaseRecord): Claiming;
  /** Once the commit is through. */
  take(instance: Instance, claiming: Claiming, version: Version, bootstrap: StoredBootstrap): void;
  taken(): readonly Claimed[];
}

export function createOnward(context: Context, deadline: Deadline, times: LeaseTimes): Onward {
  const taken: Claimed[] = [];
  return {
    choose: (ready, lane, chosen) =>
      context.shutdown?.aborted || deadline.secondsLeft() < leastSeconds
        ? []
        : ready.filter((instance) => instance.lane === lane).slice(0, mostAtOnce[lane] - chosen),
    claiming: (lease) => claimNew(context, lease, times),
    take(instance, claiming, version, bootstrap) {
      taken.push({ instance: instance.id, held: claiming.hold(version), bootstrap });
    },
    taken: () => taken,
  };
}
