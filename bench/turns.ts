/** When functions were at work on instances, as they log it at the end of each turn. */
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
