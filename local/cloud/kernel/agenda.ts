/**
 * Keeps the list of effects that are due later in the simulated cloud, and runs them. The list is part of the state, so a
 * snapshot carries it.
 */
import type { JsonObject, World } from './api.js';
import type { CloudState, DueEffect } from './world.js';

export interface AgendaOptions {
  readonly state: CloudState;
  readonly random: () => number;
  /** Undefined: real time, with a timer. */
  readonly now: (() => number) | undefined;
  /** Turns cloud seconds into real milliseconds. */
  readonly scaled: (seconds: number) => number;
  readonly isKnown: (effect: string) => boolean;
  /** How many times its usual time an effect takes. */
  readonly paceOf: (effect: string) => number;
  readonly run: (effect: string, args: JsonObject) => void;
  /** Called after something ran. */
  readonly onRun: () => void;
}

export interface Agenda extends Pick<World, 'schedule' | 'runDue' | 'nextDue'> {
  /** Does the work. Returns when everything it scheduled before its first await will be over. */
  noting<T>(work: () => T): { readonly result: T; readonly until: number | undefined };
  /** Sets one timer for the next effect, so that its consequences (a push, a watcher) need not wait for a request. */
  rearm(): void;
  close(): void;
}

/** The longest wait that setTimeout accepts. */
const longestTimer = 2 ** 31 - 1;

export function createAgenda({
  state,
  random,
  now: given,
  scaled,
  isKnown,
  paceOf,
  run,
  onRun,
}: AgendaOptions): Agenda {
  const now = given ?? Date.now;
  let timer: NodeJS.Timeout | undefined;
  let running = false;
  let closed = false;
  let scheduledUntil: number | undefined;

  const agenda: Agenda = {
    schedule(seconds, effect, args, { exact = false } = {}) {
      if (!isKnown(effect)) throw new Error(`no effect is named ${effect}`);
      state.sequence += 1;
      const spread = exact ? 1 : 0.7 + 0.6 * random();
      const at = now() + scaled(seconds * paceOf(effect)) * spread;
      state.due.push({ at, order: state.sequence, effect, args });
      scheduledUntil = Math.max(at, scheduledUntil ?? at);
      agenda.rearm();
    },
    noting(work) {
      scheduledUntil = undefined;
      const result = work();
      return { result, until: scheduledUntil };
    },
    nextDue: () => (state.due.length === 0 ? undefined : Math.min(...state.due.map(({ at }) => at))),
    runDue() {
      // An effect uses the world as a request does, and may get here again.
      if (running || closed) return;
      running = true;
      let ran = 0;
      try {
        for (let next = takeDue(state, now()); next !== undefined; next = takeDue(state, now())) {
          ran += 1;
          if (ran > 100_000) throw new Error(`effects without end: ${next.effect}`);
          run(next.effect, next.args);
        }
      } finally {
        running = false;
      }
      agenda.rearm();
      if (ran > 0) onRun();
    },
    rearm() {
      clearTimeout(timer);
      const next = agenda.nextDue();
      if (next === undefined || closed || running || given !== undefined) return;
      timer = setTimeout(agenda.runDue, Math.min(longestTimer, Math.max(0, next - now())));
      timer.unref();
    },
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
  return agenda;
}

/** The first effect that is due, if there is one. */
function takeDue(state: CloudState, now: number): DueEffect | undefined {
  let best = -1;
  for (const [i, due] of state.due.entries()) {
    if (due.at > now) continue;
    const other = state.due[best];
    if (other === undefined || due.at < other.at || (due.at === other.at && due.order < other.order)) best = i;
  }
  return best === -1 ? undefined : state.due.splice(best, 1)[0];
}
