/** What a played world tells: a timeline in words, and what was wrong. The same seed tells the same, byte by byte. */
import { startsAt } from './scheduler.js';

export interface Told {
  readonly timeline: readonly string[];
  /** In words. None: nothing was wrong. */
  readonly faults: readonly string[];
}

export interface Teller {
  /** `at` is in milliseconds since 1970. */
  tell(at: number, who: string, what: string): void;
  wrong(at: number, what: string): void;
  told(): Told;
}

const most = 8;

export function createTeller(): Teller {
  const timeline: string[] = [];
  const faults: string[] = [];
  const line = (at: number, who: string, what: string): string => {
    const seconds = (at - startsAt) / 1000;
    const clock = [seconds / 3600, (seconds / 60) % 60, seconds % 60].map((each) =>
      String(Math.floor(each)).padStart(2, '0'),
    );
    return `${clock.join(':')}.${String(Math.floor(at % 1000)).padStart(3, '0')} ${who}: ${what}`;
  };
  return {
    tell(at, who, what) {
      timeline.push(line(at, who, what));
    },
    wrong(at, what) {
      timeline.push(line(at, 'judge', what));
      if (faults.length < most) faults.push(what);
    },
    told: () => ({ timeline, faults }),
  };
}

/** A kind of world: a seed gives its plan, and its plan can be played, whole or with parts left out. */
export interface Simulation {
  readonly name: string;
  /** How many items the seed's plan has. */
  size(seed: number): number;
  /** Plays the items at these places. The same seed and places tell the same. */
  play(seed: number, places: readonly number[]): Promise<Told>;
  /** Played in real time: the same seed acts the same, and a kill may meet another moment. */
  readonly inRealTime?: true;
  /** Frees what plays share. */
  close?(): Promise<void>;
}

export const simulationOf = <Item>(
  name: string,
  plan: (seed: number) => readonly Item[],
  play: (seed: number, items: readonly Item[]) => Promise<Told>,
): Simulation => ({
  name,
  size: (seed) => plan(seed).length,
  play(seed, places) {
    const items = plan(seed);
    return play(
      seed,
      places.map((place) => items[place] as Item),
    );
  },
});

/** The places of a whole plan, from 0, without some. */
export const placesOf = (size: number, without: readonly number[] = []): number[] =>
  Array.from({ length: size }, (_, i) => i).filter((place) => !without.includes(place));
