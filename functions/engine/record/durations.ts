/**
 * How long the instances of finished bootstraps took, one document each. Later bootstraps are forecast from them. A time counts
 * from when all needs were done, so waiting for messages is part of it.
 */
import * as z from 'zod';
import { collections } from '../../../shared/names.js';
import { lift } from '../../store/lift.js';
import type { Write } from '../../store/store.js';
import type { Plan } from '../plan.js';
import { type BootstrapRecord, isUnclaimed } from './documents.js';

/** `durations/{bootstrap}`. */
export const DurationsRecord = z.object({
  schema: z.literal(1),
  endedAt: z.iso.datetime(),
  /** By instance. */
  seconds: z.record(z.string(), z.number()),
  expireAt: z.iso.datetime(),
});
export type DurationsRecord = z.infer<typeof DurationsRecord>;
export const liftDurations = lift('times of a bootstrap', DurationsRecord, 1);

const keptMs = 180 * 86_400_000;

/** Written with the end of the first generation. A later one looks at most things only, and teaches nothing. */
export function durationWrites(id: string, record: BootstrapRecord, plan: Plan): Write[] {
  const { state, generation, endedAt } = record;
  // A prepared project has few of the steps.
  if (isUnclaimed(record)) return [];
  if (!['succeeded', 'succeeded-with-warnings'].includes(state) || generation !== 1 || endedAt === undefined) return [];
  const data: DurationsRecord = {
    schema: 1,
    endedAt,
    seconds: secondsOf(record, plan),
    expireAt: new Date(Date.parse(endedAt) + keptMs).toISOString(),
  };
  return [{ kind: 'set', collection: collections.durations, id, data }];
}

function secondsOf({ instances, createdAt }: BootstrapRecord, plan: Plan): Record<string, number> {
  const endOf = (id: string) => Date.parse(instances[id]?.endedAt ?? createdAt);
  return Object.fromEntries(
    [...plan.values()].flatMap(({ id, needs }) => {
      if (instances[id]?.state !== 'done' || instances[id]?.endedAt === undefined) return [];
      const readyAt = Math.max(Date.parse(createdAt), ...needs.map(endOf));
      return [[id, Math.max(0, endOf(id) - readyAt) / 1000]];
    }),
  );
}
