/**
 * One scheduler for a whole world in one process: virtual time, and a seed that decides at every await on the store, the cloud,
 * a message or a timer who goes on. So whatever can happen at once does happen, and happens again by the same seed.
 */
import type { Clock } from '../../functions/host/clock.js';
import type { Random as Chance } from '../../functions/host/random.js';
import { chanceOf, type Random } from '../organizations/random.js';
import { createOutside } from './outside.js';

/**
 * `anybody`: all that waits may go on, and time follows. A number: whoever is due within so many seconds of the first, so that
 * time passes as it would. With 0 that is the first.
 */
type Choice = 'anybody' | number;

/** What dies at once: an instance of a function, with all that it is at. */
export interface Process {
  readonly name: string;
  readonly clock: Clock;
  readonly random: Chance;
  /** Resolves when the scheduler lets it go on, and never once it is dead. */
  turn(seconds?: number): Promise<void>;
  kill(): void;
  isDead(): boolean;
}

export interface Scheduler {
  /** In milliseconds since 1970, by the clock that is right. */
  time(): number;
  /** Its clock is so many seconds ahead. */
  process(name: string, aheadSeconds?: number): Process;
  /** Work of a process. Resolves at its end, and never if the process dies before. */
  start(process: Process, work: () => Promise<void>): void;
  /** Until no work of a living process is left, or until `isOver`. Throws what a work threw. */
  run(isOver?: () => boolean): Promise<void>;
  /** Time passes, and nobody does anything. */
  pass(seconds: number): void;
}

interface Waiting {
  readonly from: number;
  readonly order: number;
  readonly process: Process;
  go(): void;
}

export const startsAt = Date.parse('2026-01-01T00:00:00.000Z');

/** More turns than any world of ours takes. */
const mostTurns = 400_000;

export function createScheduler(random: Random, choice: Choice): Scheduler {
  const chance = chanceOf(random);
  const outside = createOutside(chance);
  let waiting: Waiting[] = [];
  const dead = new Set<Process>();
  const working = new Map<Process, number>();
  let time = startsAt;
  let order = 0;
  let thrown: { readonly error: unknown } | undefined;

  function createProcess(name: string, aheadSeconds = 0): Process {
    const turn = (seconds = 0): Promise<void> =>
      new Promise((go) => {
        if (dead.has(process)) return;
        order += 1;
        waiting.push({ from: time + Math.max(0, seconds) * 1000, order, process, go });
      });
    const process: Process = {
      name,
      random: chance,
      clock: {
        now: () => new Date(Math.floor(time + aheadSeconds * 1000)),
        wait: (seconds, signal) => untilAborted(turn(seconds), signal),
        pause: turn,
        after(seconds, work) {
          let stopped = false;
          void turn(seconds).then(() => {
            if (!stopped) work();
          });
          return () => {
            stopped = true;
          };
        },
      },
      turn,
      kill() {
        dead.add(process);
        working.delete(process);
        waiting = waiting.filter((each) => each.process !== process);
      },
      isDead: () => dead.has(process),
    };
    return process;
  }

  function choose(): number {
    if (choice === 'anybody') return random.below(waiting.length);
    const next = first();
    if (choice === 0 || waiting.length < 2) return next;
    const until = (waiting[next] as Waiting).from + choice * 1000;
    const due: number[] = [];
    for (let i = 0; i < waiting.length; i++) if ((waiting[i] as Waiting).from <= until) due.push(i);
    return random.pick(due);
  }

  const first = (): number => {
    let best = 0;
    // They wait in the order in which they came, so that of two with the same time the earlier one goes.
    for (let i = 1; i < waiting.length; i++)
      if ((waiting[i] as Waiting).from < (waiting[best] as Waiting).from) best = i;
    return best;
  };

  async function goOn(): Promise<void> {
    const [next] = waiting.splice(choose(), 1);
    if (next === undefined)
      throw new Error(`Nobody goes on, and these wait: ${[...working.keys()].map(({ name }) => name).join(', ')}`);
    time = Math.max(time, next.from);
    next.go();
    await outside.settled();
  }

  return {
    time: () => time,
    process: createProcess,
    start(process, work) {
      working.set(process, (working.get(process) ?? 0) + 1);
      work()
        .catch((error: unknown) => {
          thrown ??= { error };
        })
        .finally(() => {
          const left = (working.get(process) ?? 1) - 1;
          if (left > 0) working.set(process, left);
          else working.delete(process);
        });
    },
    async run(isOver = () => false) {
      const release = outside.hold();
      try {
        await outside.settled();
        for (let turns = 0; working.size > 0 && !isOver(); turns++) {
          if (turns > mostTurns) throw new Error(`After ${mostTurns} turns it is not over`);
          await goOn();
          if (thrown !== undefined) throw thrown.error;
        }
        if (thrown !== undefined) throw thrown.error;
      } finally {
        release();
      }
    },
    pass(seconds) {
      time += seconds * 1000;
    },
  };
}

const untilAborted = (waited: Promise<void>, signal: AbortSignal | undefined): Promise<void> => {
  if (signal === undefined) return waited;
  return new Promise((resolve, reject) => {
    const gone = (): void => reject(signal.reason);
    if (signal.aborted) return gone();
    signal.addEventListener('abort', gone, { once: true });
    void waited.then(() => {
      signal.removeEventListener('abort', gone);
      resolve();
    });
  });
};
