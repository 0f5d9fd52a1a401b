/**
 * What a bootstrap cannot be faster than: the longest chain through its plan, where each instance counts with the time that the
 * cloud itself took for what the instance began.
 */
import type { Plan } from '../../functions/engine/plan.js';
import type { RecordedCall, SimulatedCloud } from '../../local/cloud/index.js';

export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Milliseconds that at least one of them covers. */
export function covered(spans: readonly Span[]): number {
  let total = 0;
  let end = Number.NEGATIVE_INFINITY;
  for (const { from, to } of [...spans].sort((a, b) => a.from - b.from)) {
    total += Math.max(0, to - Math.max(from, end));
    end = Math.max(end, to);
  }
  return total;
}

export interface Chain {
  readonly milliseconds: number;
  readonly instances: readonly string[];
}

/** The plan is in an order in which its instances may start. */
export function longestChain(plan: Plan, millisecondsOf: (instance: string) => number): Chain {
  const chains = new Map<string, Chain>();
  let longest: Chain = { milliseconds: 0, instances: [] };
  for (const { id, needs } of plan.values()) {
    const before = needs.reduce<Chain>(
      (best, need) => {
        const chain = chains.get(need);
        return chain !== undefined && chain.milliseconds > best.milliseconds ? chain : best;
      },
      { milliseconds: 0, instances: [] },
    );
    const chain = {
      milliseconds: before.milliseconds + millisecondsOf(id),
      instances: [...before.instances, id],
    };
    chains.set(id, chain);
    if (chain.milliseconds > longest.milliseconds) longest = chain;
  }
  return longest;
}

const reads = /\.(get|list|batchGet|aggregatedList|access|wait|get[A-Z]\w+|testIamPermissions)$/;

/** By instance: from each change that was taken, to the moment when it was in force. */
export function cloudSpans(
  { calls, world }: Pick<SimulatedCloud, 'calls' | 'world'>,
  bootstrap: { readonly id: string; readonly projectId: string },
): ReadonlyMap<string, readonly Span[]> {
  /** What is no effect in the simulated cloud's own time, but a moment from which on something is known everywhere. */
  const usableAt = ({ method }: RecordedCall): number => {
    if (method === 'serviceusage.services.batchEnable') {
      return Math.max(...Object.values(world.project(bootstrap.projectId).services));
    }
    if (method !== 'iam.projects.serviceAccounts.create') return 0;
    const accounts = Object.entries(world.table<{ usableAt: number }>('iam.serviceAccounts'));
    const own = accounts.filter(([email]) => email.endsWith(`@${bootstrap.projectId}.iam.gserviceaccount.com`));
    return Math.max(...own.map(([, account]) => account.usableAt));
  };
  const spans = new Map<string, Span[]>();
  for (const call of calls.list()) {
    const [id, instance = ''] = call.reason?.split('/') ?? [];
    if (id !== bootstrap.id || call.status !== 200 || reads.test(call.method)) continue;
    const to = Math.max(call.at + call.milliseconds, call.until ?? 0, usableAt(call));
    spans.set(instance, [...(spans.get(instance) ?? []), { from: call.at, to }]);
  }
  return spans;
}

/** When functions were at work on instances, as they log it at the end of each turn. */
export interface Turns {
  /** For the stack that is watched. */
  onLog(line: string): void;
  of(bootstrap: string, instance: string): readonly Span[];
}

export function watchTurns(): Turns {
  const spans = new Map<string, Span[]>();
  return {
    onLog(line) {
      const { bootstrap, instance, seconds } = JSON.parse(line) as Readonly<Record<string, unknown>>;
      if (typeof seconds !== 'number' || typeof bootstrap !== 'string') return;
      const to = Date.now();
      const key = `${bootstrap}/${instance}`;
      spans.set(key, [...(spans.get(key) ?? []), { from: to - seconds * 1000, to }]);
    },
    of: (bootstrap, instance) => spans.get(`${bootstrap}/${instance}`) ?? [],
  };
}
