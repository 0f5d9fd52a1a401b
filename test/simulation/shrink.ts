/** Makes a failing plan smaller: fewer people, actions and faults, as long as something is still wrong. */
import { placesOf, type Simulation, type Told } from './told.js';

export interface Shrunk {
  /** Places in the whole plan, from 0, that are left out. */
  readonly without: readonly number[];
  readonly told: Told;
}

const mostPlays = 400;

export async function shrink(simulation: Simulation, seed: number, first: Told): Promise<Shrunk> {
  const whole = placesOf(simulation.size(seed));
  let kept = whole;
  let told = first;
  let plays = 0;
  for (let size = Math.ceil(kept.length / 2); size >= 1 && plays < mostPlays; ) {
    let smaller = false;
    for (let from = 0; from < kept.length && plays < mostPlays; ) {
      const tried = [...kept.slice(0, from), ...kept.slice(from + size)];
      plays += 1;
      const next = await simulation.play(seed, tried);
      if (next.faults.length > 0) {
        kept = tried;
        told = next;
        smaller = true;
      } else {
        from += size;
      }
    }
    if (size === 1 && !smaller) break;
    size = size > 1 ? Math.ceil(size / 2) : 1;
    if (size === 1 && kept.length === 0) break;
  }
  return { without: whole.filter((place) => !kept.includes(place)), told };
}
