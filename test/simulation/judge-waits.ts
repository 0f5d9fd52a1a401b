/** Patience and reasons: no instance is at it for longer than anybody waits for it, and whatever fails says why. */
import type { BootstrapRecord, EventRecord, LeaseRecord } from '../../functions/engine/record/documents.js';
import type { Stage } from './bootstraps-stage.js';

/**
 * An instance that is made has half an hour, one that is removed a whole one. Beside that are looks, retries, and functions that
 * died. Whoever waits for somebody's machine may wait for ever.
 */
const mostWaited = { making: 1800, removing: 3600 } as const;
/** The last look, with slow answers, and the wait after it. */
const lastLookSeconds = 900;
const mostSeconds = { making: 2 * 3600, removing: 3 * 3600 } as const;

export interface WaitsJudge {
  /** Also where nothing is committed for long. */
  look(records: ReadonlyMap<string, BootstrapRecord>, leases: readonly LeaseRecord[]): void;
  event(record: EventRecord): void;
}

export function createWaitsJudge(
  { scheduler, errors }: Stage,
  ends: ReadonlySet<string>,
  wrong: (what: string) => void,
): WaitsJudge {
  /** Since when an instance is at it in a generation. */
  let since = new Map<string, number>();
  const told = new Set<string>();

  const once = (what: string, text: string): void => {
    if (!told.has(what)) wrong(text);
    told.add(what);
  };

  return {
    look(records, leases) {
      const before = since;
      since = new Map();
      for (const { bootstrapId, instance, generation, state, waited } of leases) {
        const key = `${bootstrapId} ${instance} ${generation}`;
        const from = before.get(key) ?? scheduler.time();
        since.set(key, from);
        if (state === 'client') continue;
        const way = records.get(bootstrapId)?.state === 'removing' ? 'removing' : 'making';
        if ((waited?.seconds ?? 0) > mostWaited[way] + lastLookSeconds)
          once(key, `${key} has waited for ${Math.round(waited?.seconds ?? 0)} s, and waits on`);
        const seconds = (scheduler.time() - from) / 1000;
        if (seconds > mostSeconds[way]) once(key, `${key} is at it since ${Math.round(seconds)} s`);
      }
    },
    event({ bootstrapId, event }) {
      if (event.type !== 'state' && event.type !== 'instance') return;
      const { state } = event;
      if (state !== 'failed' && state !== 'removal-failed') return;
      const { problem } = event;
      const who = `${bootstrapId} ${'instance' in event ? event.instance : ''}`;
      if (problem === undefined || problem.detail.trim() === '') {
        wrong(`${who} is ${state}, and does not say why`);
        return;
      }
      // People read only that it went wrong inside plinth.
      const behind = problem.code === 'internal' ? ` (${errors.at(-1)})` : '';
      if (!ends.has(problem.code))
        wrong(`${who} is ${state}, and nothing made it so: ${problem.code}: ${problem.detail}${behind}`);
      else if (event.type === 'state' && (problem.advice ?? '') === '')
        wrong(`${who} is ${state}, and nobody is told what to do`);
    },
  };
}
