/** The chain of instances that decided when a bootstrap was ready: each began when the one before it had ended. */
import type { InstanceView } from '../shared/bootstrap/bootstrap.js';

/** Ids. Empty while nothing has begun. */
export function chainOf(instances: readonly InstanceView[], now: number): ReadonlySet<string> {
  const byId = new Map(instances.map((each) => [each.id, each]));
  const endOf = ({ startedAt, endedAt }: InstanceView): number =>
    endedAt !== undefined ? Date.parse(endedAt) : startedAt !== undefined ? now : 0;
  const begun = instances.filter(({ startedAt }) => startedAt !== undefined);
  const latest = (some: readonly InstanceView[]): InstanceView | undefined =>
    some.reduce<InstanceView | undefined>((last, each) => {
      if (last === undefined || endOf(each) > endOf(last)) return each;
      // Of those under way, the one that has been so for longest.
      return endOf(each) === endOf(last) && (each.startedAt ?? '') < (last.startedAt ?? '') ? each : last;
    }, undefined);
  const chain = new Set<string>();
  for (let at = latest(begun); at !== undefined && !chain.has(at.id); ) {
    chain.add(at.id);
    at = latest(
      (at.needs ?? []).flatMap((id) => byId.get(id) ?? []).filter(({ startedAt }) => startedAt !== undefined),
    );
  }
  return chain;
}
