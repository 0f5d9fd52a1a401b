/** Finds VMs in projects of bootstraps that their plans don't hold, and tells owner and operators of each once. */
import { calledBy } from '../../shared/command-words.js';
import type { Context } from '../context.js';
import { type BootstrapRecord, eventId, optionsOf, type StoredBootstrap } from '../engine/record/documents.js';
import { transitionWrites } from '../engine/record/transition.js';
import { type Update, updateBootstrap } from '../engine/record/update.js';
import { mapInBatches } from '../host/map-in-batches.js';
import { vmsOf } from '../steps/topology.js';
import { noticeWrite } from '../webhook/notices.js';

const atOnce = 10;
/** In one project. Of more, people are told how many they are. */
const mostNamed = 100;

type Unplanned = NonNullable<BootstrapRecord['unplanned']>[number];
type Machine = Omit<Unplanned, 'since'>;

/** One call a project. Returns how many such machines there are in all. */
export async function lookAtMachines(context: Context, living: readonly StoredBootstrap[]): Promise<number> {
  const made = living.filter(({ data }) => isMade(data));
  const counts = await mapInBatches(made, atOnce, (each) => lookAtOne(context, each));
  return counts.reduce((sum, each) => sum + each, 0);
}

/** A project whose removal has begun loses all its machines anyway. */
const isMade = ({ instances, removal }: BootstrapRecord): boolean =>
  removal === undefined && instances['apis']?.output !== undefined;

async function lookAtOne(context: Context, { id, data }: StoredBootstrap): Promise<number> {
  const { cloud, log } = context;
  try {
    const all = unplannedIn(data, await cloud.vmLookup.list(data.projectId));
    const before = data.unplanned ?? [];
    const found = named(all, before);
    if (found.length === before.length && found.every((each) => isIn(before, each))) return all.length;
    let fresh: readonly Machine[] = [];
    await updateBootstrap(context, id, async (standing, at) => {
      fresh = isMade(standing.data) ? found.filter((each) => !isIn(standing.data.unplanned ?? [], each)) : [];
      return isMade(standing.data)
        ? noting(context, standing, { found, fresh, more: all.length - found.length }, at)
        : undefined;
    });
    if (fresh.length > 0) {
      log('WARNING', `The project ${data.projectId} has machines that no plan holds`, {
        bootstrap: id,
        machines: fresh.map(({ name }) => name),
      });
    }
    return all.length;
  } catch (error) {
    // One project must not hide others. The next hour looks again.
    log('WARNING', `The machines of ${data.projectId} could not be listed`, { bootstrap: id, error });
    return 0;
  }
}

const isIn = (some: readonly Machine[], { name, zone }: Machine): boolean =>
  some.some((each) => each.name === name && each.zone === zone);

function unplannedIn(record: BootstrapRecord, machines: readonly Machine[]): Machine[] {
  const options = optionsOf(record);
  const planned = vmsOf(options).map(({ name }) => ({ name, zone: options.zone }));
  return machines.filter((machine) => !isIn(planned, machine));
}

/** Those that are known first, so that none of them is told again. */
const named = (found: readonly Machine[], before: readonly Machine[]): readonly Machine[] =>
  [...found.filter((each) => isIn(before, each)), ...found.filter((each) => !isIn(before, each))].slice(0, mostNamed);

/** One commit writes the event, the list and the notice. */
function noting(
  { config }: Context,
  { id, version, data }: StoredBootstrap,
  {
    found,
    fresh,
    more,
  }: { readonly found: readonly Machine[]; readonly fresh: readonly Machine[]; readonly more: number },
  at: string,
): Update {
  const before = data.unplanned ?? [];
  const { unplanned: _, ...rest } = data;
  const kept = found.map((each): Unplanned => before.find((known) => isIn([known], each)) ?? { ...each, since: at });
  const record: BootstrapRecord = { ...rest, ...(kept.length === 0 ? {} : { unplanned: kept }) };
  const names = [...fresh.map(({ name, zone }) => `${name} (${zone})`), ...(more > 0 ? [`and ${more} more`] : [])].join(
    ', ',
  );
  const text = `The project has machines that plinth did not make, and that no estimate counts: ${names}.`;
  const events =
    fresh.length === 0 ? [] : [{ event: { schema: 1, type: 'action', at, actor: 'plinth', action: text } as const }];
  const changed = { record, ready: [], events };
  const writes = transitionWrites(id, version, data, changed, at);
  if (fresh.length > 0 && config.webhookUrl !== undefined) {
    const { name, projectId, owner } = data;
    const said = { bootstrapId: id, name, projectId, owner, machines: fresh, text };
    const advice = `Delete them, or the whole project: plinth beta bootstrap-cloud cleanup ${calledBy(data)}`;
    const notice = { type: 'bootstrap.unplanned-machines', at, data: { ...said, advice } };
    writes.push(noticeWrite(eventId(id, data.events + 1), notice, id));
  }
  return { transition: changed, writes };
}
