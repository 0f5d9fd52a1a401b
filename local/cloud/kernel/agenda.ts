/** What is due when in the simulated cloud, and the running of it. It lies in the state, so that a snapshot carries it. */
import type { JsonObject, World } from './api.js';
import type { CloudState, DueEffect } from './world.js';

export interface AgendaOptions {
  readonly state: CloudState;
  readonly random: () => number;
  /** Cloud seconds in real milliseconds. */
  readonly scaled: (seconds: number) => number;
  readonly isKnown: (effect: string) => boolean;
  readonly run: (effect: string, args: JsonObject) => void;
  /** Hears when something ran. */
  readonly onRun: () => void;
}

export interface Agenda extends Pick<World, 'schedule' | 'runDue' | 'nextDue'> {
  /** Does the work, and tells when all that it scheduled before its first await is over. */
  noting<T>(work: () => T): { readonly result: T; readonly until: number | undefined };
  /** One timer for the next effect, so that what follows from it (a push, a watcher) need not wait for a request. */
  rearm(): void;
  close(): void;
}

/** The longest wait that setTimeout takes. */
const longestTimer = 2 ** 31 - 1;

export function createAgenda({ state, random, scaled, isKnown, run, onRun }: AgendaOptions): Agenda {
  let timer: NodeJS.Timeout | undefined;
  let running = false;
  let closed = false;
  let scheduledUntil: number | undefined;

  const agenda: Agenda = {
    schedule(seconds, effect, args, { exact = false } = {}) {
      if (!isKnown(effect)) throw new Error(`no effect is named ${effect}`);
      state.sequence += 1;
      const spread = exact ? 1 : 0.7 + 0.6 * random();
      const at = Date.now() + scaled(seconds) * spread;
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
      // An effect may look at the world through the same doors as a request does.
      if (running || closed) return;
      running = true;
      let ran = 0;
      try {
        for (let next = takeDue(state); next !== undefined; next = takeDue(state)) {
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
      if (next === undefined || closed || running) return;
      timer = setTimeout(agenda.runDue, Math.min(longestTimer, Math.max(0, next - Date.now())));
      timer.unref();
    },
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
  return agenda;
}

/** The effect that is due first, if any is due. */
function takeDue(state: CloudState): DueEffect | undefined {
  const now = Date.now();
  let best = -1;
  for (const [i, due] of state.due.entries()) {
    if (due.at > now) continue;
    const other = state.due[best];
    if (other === undefined || due.at < other.at || (due.at === other.at && due.order < other.order)) best = i;
  }
  return best === -1 ? undefined : state.due.splice(best, 1)[0];
}
