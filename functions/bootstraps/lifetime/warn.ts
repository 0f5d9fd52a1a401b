/**
 * Warns of projects whose time will soon be over, once for each announced end. One query finds what is due, however many
 * bootstraps live.
 */

import { addSeconds } from '../../../shared/add-seconds.js';
import type { ExpiryWarning } from '../../../shared/bootstrap/event.js';
import { latestEnd } from '../../../shared/bootstrap/lifetime.js';
import { collections } from '../../../shared/names.js';
import type { Context } from '../../context.js';
import type { BootstrapRecord, StoredBootstrap } from '../../engine/record/documents.js';
import { eventId } from '../../engine/record/documents.js';
import { removeAtOf } from '../../engine/record/removal-rule.js';
import { transitionWrites } from '../../engine/record/transition.js';
import { type Update, updateBootstrap } from '../../engine/record/update.js';
import { warnAtOf, warningOf } from '../../engine/record/warning.js';
import { mapInBatches } from '../../host/map-in-batches.js';
import type { Document, Write } from '../../store/store.js';
import { noticeWrite } from '../../webhook/notices.js';

export interface Warned {
  /** Number of bootstraps warned of. */
  readonly warned: number;
  /** More was due than one run takes. The next run goes on. */
  readonly more: boolean;
}

const perRun = 200;
const atOnce = 20;
/** A bootstrap that could not be read must not hold up others. */
const putOffSeconds = 3600;

export async function warn(context: Context, limit = perRun): Promise<Warned> {
  const { store, clock, log } = context;
  const due = await store.query({
    collection: collections.bootstraps,
    where: [['warnAt', '<=', clock.now().toISOString()]],
    orderBy: ['warnAt', 'asc'],
    limit,
  });
  const told = await mapInBatches(due, atOnce, (document) => warnOne(context, document));
  const warned = told.filter((each) => each).length;
  if (warned > 0) log('INFO', `Warned of the end of ${warned} projects`);
  return { warned, more: due.length === limit };
}

/** True if there was a warning. */
async function warnOne(context: Context, { id, version }: Document): Promise<boolean> {
  const { store, clock, log, config } = context;
  try {
    const { transition: made } = await updateBootstrap(context, id, async (standing, at) =>
      decide(config, standing, at),
    );
    return (made?.events.length ?? 0) > 0;
  } catch (error) {
    log('ERROR', `${id} could not be warned of`, { bootstrap: id, error });
    const warnAt = addSeconds(clock.now(), putOffSeconds);
    await store
      .commit([{ kind: 'update', collection: collections.bootstraps, id, version, data: { warnAt } }])
      .catch(() => undefined);
    return false;
  }
}

/** One commit writes the event, the next time and the notice. A second run finds nothing due. */
function decide(
  { webhookUrl, limits: { maxTtlSeconds } }: Context['config'],
  { id, version, data }: StoredBootstrap,
  at: string,
): Update | undefined {
  const { warnAt: due, ...rest } = data;
  if (due === undefined || due > at) return undefined;
  const goes = data.removal !== undefined || data.state === 'removed' || removeAtOf(data) <= at;
  const warnAt = goes ? undefined : warnAtOf(data, at);
  const longestAt = latestEnd(data.createdAt, maxTtlSeconds);
  const warned = warningOf(data, at, longestAt);
  const record: StoredBootstrap['data'] = {
    ...rest,
    ...(warnAt === undefined ? {} : { warnAt }),
    ...(goes ? {} : { warned }),
  };
  const changed = {
    record,
    ready: [],
    events: goes ? [] : [{ event: { schema: 1, type: 'warning', ...warned } as const }],
  };
  return {
    transition: changed,
    writes: [
      ...transitionWrites(id, version, data, changed, at),
      ...(goes || webhookUrl === undefined ? [] : noticeWrites(id, data, warned)),
    ],
  };
}

/** Takes the number of the event, which is not written yet. */
export function noticeWrites(
  bootstrapId: string,
  { name, projectId, owner, events }: Pick<BootstrapRecord, 'name' | 'projectId' | 'owner' | 'events'>,
  warning: ExpiryWarning,
): Write[] {
  const { at, removeAt, text, advice } = warning;
  const data = { bootstrapId, name, projectId, owner, removeAt, text, advice };
  const id = eventId(bootstrapId, events + 1);
  return [noticeWrite(id, { type: 'bootstrap.expiring', at, data }, bootstrapId)];
}
