/** When functions were at work on instances, as they log it at the end of each turn, and the plan that says on which lane. Used by the measurements of installs. */
import { graphOf } from '../functions/engine/graph.js';
import { type Plan, planOf } from '../functions/engine/plan.js';
import { stepsOf } from '../functions/steps/index.js';
import type { BootstrapOptions } from '../shared/bootstrap/options.js';
import { collections } from '../shared/names.js';
import type { Bench } from './bootstrap.js';
import type { Span } from './longest-chain.js';

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

/** Of a bootstrap on machines. */
export async function planOfBootstrap({ stack }: Bench, id: string): Promise<Plan> {
  if (stack.functionsHalf === undefined) throw new Error('The functions must run here.');
  const record = await stack.functionsHalf.store.get(collections.bootstraps, id);
  return planOf(graphOf(stepsOf({ hosts: true })), record?.data['options'] as BootstrapOptions);
}
