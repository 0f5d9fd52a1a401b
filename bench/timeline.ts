/** A bootstrap as a timeline: when each instance could begin, when it did and when it ended, and the path that decided the end. */
import type { Plan } from '../functions/engine/plan.js';
import { liftBootstrap, read } from '../functions/engine/record/documents.js';
import type { AnyStep } from '../functions/engine/step.js';
import { collections } from '../shared/names.js';
import { type Bench, type Bootstrapped, planOfBootstrap } from './bootstrap.js';
import { createSvg, draw, ticksTo } from './drawing.js';

/** In milliseconds since the bootstrap began. */
export interface Bar {
  readonly id: string;
  /** When the last thing that it needs was done. */
  readonly readyAt: number;
  readonly startedAt: number;
  readonly endedAt: number;
  /** It decided the end: nothing that it was waited for was done later. */
  readonly isCritical: boolean;
}

type Times = Pick<Bar, 'startedAt' | 'endedAt'>;

/** Back from what ended last, each time to the need that was done last. */
export function criticalPath(plan: Pick<Plan, 'get'>, times: ReadonlyMap<string, Times>): string[] {
  const endOf = (id: string): number => times.get(id)?.endedAt ?? 0;
  const last = (ids: Iterable<string>): string | undefined =>
    [...ids].reduce<string | undefined>(
      (best, id) => (best === undefined || endOf(id) > endOf(best) ? id : best),
      undefined,
    );
  const path: string[] = [];
  for (let id = last(times.keys()); id !== undefined; id = last(plan.get(id)?.needs ?? [])) path.unshift(id);
  return path;
}

function barsOf(plan: Plan, times: ReadonlyMap<string, Times>): Bar[] {
  const critical = new Set(criticalPath(plan, times));
  return [...plan.values()].flatMap(({ id, needs }) => {
    const own = times.get(id);
    if (own === undefined) return [];
    const readyAt = Math.max(0, ...needs.map((need) => times.get(need)?.endedAt ?? 0));
    return [{ id, ...own, readyAt, isCritical: critical.has(id) }];
  });
}

const row = 14;
const left = 190;
const right = 700;
const top = 34;

const colours = { critical: '#c0392b', other: '#7fa8c9', waits: '#dddddd', grid: '#e8e8e8' };

/** One row an instance, in the order in which they ended. */
export function timelineSvg(title: string, bars: readonly Bar[]): string {
  const ordered = [...bars].sort((a, b) => a.endedAt - b.endedAt);
  const most = Math.max(...ordered.map(({ endedAt }) => endedAt)) / 1000;
  const svg = createSvg(right + 60, top + ordered.length * row + 22, title);
  const x = (milliseconds: number): number => left + ((right - left) * milliseconds) / 1000 / most;
  const bottom = top + ordered.length * row;
  for (const tick of ticksTo(most)) {
    svg.line(
      [
        [x(tick * 1000), top - 4],
        [x(tick * 1000), bottom],
      ],
      colours.grid,
    );
    svg.text(x(tick * 1000), bottom + 14, `${Number(tick.toFixed(1))} s`, 'middle');
  }
  for (const [i, { id, readyAt, startedAt, endedAt, isCritical }] of ordered.entries()) {
    const y = top + i * row;
    svg.text(left - 6, y + 10, id, 'end');
    if (startedAt > readyAt) svg.rect(x(readyAt), y + 5, x(startedAt) - x(readyAt), 3, colours.waits);
    svg.rect(
      x(startedAt),
      y + 2,
      Math.max(1, x(endedAt) - x(startedAt)),
      row - 4,
      isCritical ? colours.critical : colours.other,
    );
  }
  return svg.toString();
}

/** By the record of a bootstrap that has ended; the functions must run here. */
async function timesOf({ stack }: Bench, id: string): Promise<ReadonlyMap<string, Times>> {
  const record = read(await stack.functionsHalf?.store.get(collections.bootstraps, id), liftBootstrap)?.data;
  if (record === undefined) throw new Error(`There is no bootstrap ${id}.`);
  const since = (at: string): number => Date.parse(at) - Date.parse(record.createdAt);
  return new Map(
    Object.entries(record.instances).flatMap(([instance, { startedAt, endedAt }]) =>
      startedAt === undefined || endedAt === undefined
        ? []
        : [[instance, { startedAt: since(startedAt), endedAt: since(endedAt) }] as const],
    ),
  );
}

/** Draws it, and says where. */
export async function drawTimeline(
  bench: Bench,
  { id }: Pick<Bootstrapped, 'id'>,
  steps: readonly AnyStep[],
  { name, title, say }: { readonly name: string; readonly title: string; readonly say: (text: string) => void },
): Promise<readonly Bar[]> {
  const bars = barsOf(await planOfBootstrap(bench, id, steps), await timesOf(bench, id));
  say(`${title}: ${draw(name, timelineSvg(title, bars))}`);
  return bars;
}
