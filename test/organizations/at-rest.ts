/** What must hold while nobody changes anything: the rules of the model, no removal half done, and events that tell all of it. */
import { faultsIn, type World } from './model.js';
import { replay } from './replay.js';
import type { Reader, Snapshot, StoredEvent } from './snapshot.js';

const textOf = ({ organizations, teams }: World): string =>
  JSON.stringify([
    [...organizations]
      .map(([id, { members, invited, deleted = false, living }]) => [
        ...[id, deleted, living ?? null],
        ...[[...members].sort(), [...invited].sort()],
      ])
      .sort(),
    [...teams]
      .map(([id, { organization, members, deleted = false, living }]) => [
        ...[id, organization ?? null, deleted, living ?? null],
        [...members].sort(),
      ])
      .sort(),
  ]);

export const faultsOf = ({ world, faults }: Snapshot): readonly string[] => [...faultsIn(world), ...faults];

export function check(what: string, faults: readonly string[]): void {
  if (faults.length > 0) throw new Error(`${what}:\n  ${faults.slice(0, 10).join('\n  ')}`);
}

/** Throws with what is wrong, in words; else returns all events so far. */
export async function checkAtRest(reader: Pick<Reader, 'snapshot' | 'events'>, when: string): Promise<StoredEvent[]> {
  const found = await reader.snapshot();
  check(`After ${when}`, faultsOf(found));
  check(`After ${when} these removals are half done`, found.leaving);
  const events = await reader.events();
  const replayed = replay(events);
  check(`The events until ${when}`, replayed.faults);
  if (textOf(replayed.world) !== textOf(found.world)) {
    throw new Error(
      `After ${when} the events tell of\n${textOf(replayed.world)}\nand there is\n${textOf(found.world)}`,
    );
  }
  return events;
}
