/**
 * What people may rely on: a project lives until the time that its owner was told last, unless somebody asked for less since.
 * What was asked for and not answered may have happened or not, so that the worse of both counts.
 */
import type { BootstrapRecord } from '../../functions/engine/record/documents.js';
import { ttlHours } from './bootstraps-people.js';
import type { Acting } from './bootstraps-plan.js';

interface Term {
  readonly projectId: string;
  readonly events: number;
  readonly createdAt: number;
  readonly deadline: number;
  readonly protection: number;
}

export interface Promises {
  /** Somebody asks. Call what it returns with the bootstrap as the answer has it. */
  ask(item: Acting): (answer: BootstrapRecord) => void;
  /** Until when a project must live, in milliseconds since 1970. 0: nobody knows, or somebody asked for its removal. */
  until(name: string, projectId: string): number;
  wasAsked(name: string): boolean;
  /** An operator stops new bootstraps, or opens them. Call what it returns with the answer. */
  turn(): (state: 'stopped' | 'open') => void;
  /** An operator was told so, and nobody has asked for anything else since. */
  isStopped(): boolean;
}

export function createPromises(): Promises {
  const told = new Map<string, Term>();
  const removals = new Set<string>();
  /** What may hold, beside what was told, by name. */
  const open = new Map<string, Set<Acting>>();
  let turns = 0;
  let unanswered = 0;
  let stopped = false;

  return {
    ask(item) {
      const { what, name } = item;
      const asked = open.get(name) ?? new Set();
      open.set(name, asked.add(item));
      if (what === 'remove') removals.add(name);
      return (answer) => {
        asked.delete(item);
        const before = told.get(name);
        if (before?.projectId === answer.projectId && before.events > answer.events) return;
        told.set(name, {
          projectId: answer.projectId,
          events: answer.events,
          createdAt: Date.parse(answer.createdAt),
          deadline: Date.parse(answer.deadlineAt),
          protection: Date.parse(answer.protection?.until ?? '') || 0,
        });
      };
    },
    until(name, projectId) {
      const promise = told.get(name);
      if (promise === undefined || promise.projectId !== projectId || removals.has(name)) return 0;
      let { deadline, protection } = promise;
      for (const { what, variant } of open.get(name) ?? []) {
        if (what === 'unprotect') protection = 0;
        // Its time to live counts from its beginning.
        if (what === 'begin' || what === 'resume')
          deadline = Math.min(deadline, promise.createdAt + ttlHours(variant) * 3_600_000);
        // A protection takes the place of one before.
        if (what === 'protect') protection = 0;
      }
      return Math.max(deadline, protection);
    },
    wasAsked: (name) => removals.has(name),
    turn() {
      turns += 1;
      const mine = turns;
      const alone = unanswered === 0;
      unanswered += 1;
      stopped = false;
      return (state) => {
        unanswered -= 1;
        // Of two at once, nobody knows whose commit was the last.
        stopped = state === 'stopped' && alone && turns === mine;
      };
    },
    isStopped: () => stopped,
  };
}
