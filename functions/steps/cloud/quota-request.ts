/** Asks Google for quota that a project lacks, once in a generation, and tells what it answered so far. */
import * as z from 'zod';
import type { QuotaShort } from '../../../shared/bootstrap/bootstrap.js';
import { Problem } from '../../../shared/problems.js';
import type { StepCall } from '../../engine/step.js';

type Quotas = StepCall['context']['cloud']['quotas'];
type QuotaRequest = Awaited<ReturnType<Quotas['requests']>>[number];
type QuotaWish = Parameters<Quotas['ask']>[2];

/**
 * The id under which Cloud Quotas knows a metric of Compute Engine: SSD_TOTAL_GB → SSD-TOTAL-GB-per-project-region. Compute
 * Engine itself tells it so, as `limit name` of a refusal. The API has other names for some metrics (ssd_total_storage).
 */
export const quotaIdOf = (metric: string, isRegional: boolean): string =>
  `${metric.replaceAll('_', '-')}-per-project${isRegional ? '-region' : ''}`;

/** A quota that is too low. `region`: where it counts. Undefined: in all regions together. */
export interface Lack extends Pick<QuotaShort, 'metric' | 'limit' | 'need'> {
  readonly region: string | undefined;
}

/**
 * `open`: Google looks at it · `granted`: Compute Engine does not show it yet · `short`: Google gave less · `barred`: Google
 * took no request; `mayPass` says that it may take one later.
 */
export interface Reply extends Lack, QuotaShort {
  readonly state: 'open' | 'granted' | 'short' | 'barred';
  readonly mayPass?: true;
}

/** What was asked in this generation, written before the request. A crash in between asks nothing twice. */
const Notes = z.object({
  generation: z.number(),
  /** Seconds of the cloud's time that answers were waited for. */
  waited: z.number(),
  /** By metric: the version that stood before the request, or `none`. */
  asked: z.record(z.string(), z.string()),
});
export type Notes = z.infer<typeof Notes>;

type Call = Pick<StepCall, 'context' | 'bootstrap' | 'files'>;

const file = 'quota-requests';

export async function readNotes({ files, bootstrap: { generation } }: Call): Promise<Notes> {
  const known = await files.read(file);
  const notes = known === undefined ? undefined : Notes.safeParse(JSON.parse(known)).data;
  return notes?.generation === generation ? notes : { generation, waited: 0, asked: {} };
}

export const writeNotes = ({ files }: Call, notes: Notes): Promise<void> => files.write(file, JSON.stringify(notes));

/** Asks for what nobody asked for yet. Writes into `notes.asked`. */
export async function askForMore(
  call: Call,
  lacks: readonly Lack[],
  notes: Notes,
  contact: string,
): Promise<readonly Reply[]> {
  const { context, bootstrap } = call;
  let standing: readonly QuotaRequest[];
  try {
    standing = await context.cloud.quotas.requests(bootstrap.projectId);
  } catch (error) {
    return lacks.map((lack) => barredBy(lack, error));
  }
  const replies: Reply[] = [];
  for (const lack of lacks) {
    const wish: QuotaWish = {
      quotaId: quotaIdOf(lack.metric, lack.region !== undefined),
      region: lack.region,
      preferred: lack.need,
      contact,
      justification: `A bootstrap of plinth needs ${lack.need} of ${lack.metric}, until it is removed on time.`,
    };
    const found = standing.find((each) => each.quotaId === wish.quotaId && each.region === wish.region);
    try {
      replies.push(
        found === undefined ? await ask(call, lack, wish, notes) : await follow(call, lack, wish, notes, found),
      );
    } catch (error) {
      replies.push(barredBy(lack, error));
    }
  }
  return replies;
}

async function ask(call: Call, lack: Lack, wish: QuotaWish, notes: Notes): Promise<Reply> {
  const { quotas } = call.context.cloud;
  const { projectId } = call.bootstrap;
  const objection = await quotas.objection(projectId, wish.quotaId);
  if (objection !== undefined) return { ...lack, state: 'barred', answer: objection };
  const place = lack.region === undefined ? '' : `-${lack.region}`;
  await note(call, notes, lack, 'none');
  await quotas.ask(projectId, `plinth-${lack.metric.toLowerCase().replaceAll('_', '-')}${place}`, wish);
  return { ...lack, asked: wish.preferred, state: 'open' };
}

/** Follows the request that stands. One of an earlier generation that gave too little is made anew. */
async function follow(call: Call, lack: Lack, wish: QuotaWish, notes: Notes, found: QuotaRequest): Promise<Reply> {
  const isEnough = found.preferred >= lack.need;
  if (found.open && isEnough) return { ...lack, asked: found.preferred, state: 'open' };
  const { granted, answer } = found;
  const told = { ...lack, asked: found.preferred, granted, ...(answer === undefined ? {} : { answer }) };
  if (!found.open && granted >= lack.need) return { ...told, state: 'granted' };
  const before = notes.asked[lack.metric];
  // Another version than before the request: this is its answer.
  if (before !== undefined && before !== found.version && isEnough) return { ...told, state: 'short' };
  await note(call, notes, lack, found.version);
  await call.context.cloud.quotas.askAgain(found, wish);
  return { ...lack, asked: wish.preferred, state: 'open' };
}

async function note(call: Call, notes: Notes, { metric }: Lack, version: string): Promise<void> {
  if (notes.asked[metric] === version) return;
  notes.asked[metric] = version;
  await writeNotes(call, notes);
}

const mayPass = ['cloud-permission', 'cloud-propagation', 'cloud-not-found'];

/** What keeps plinth from asking leaves the plain failure. Other errors are tried again by the engine. */
function barredBy(lack: Lack, error: unknown): Reply {
  if (!(error instanceof Problem)) throw error;
  // A request that stands already, after a lost reply: the next look finds it.
  if (error.code === 'cloud-conflict') return { ...lack, asked: lack.need, state: 'open' };
  if (mayPass.includes(error.code)) return { ...lack, state: 'barred', answer: error.detail, mayPass: true };
  if (error.code === 'cloud-input' || error.code === 'cloud-policy') {
    return { ...lack, state: 'barred', answer: error.detail };
  }
  throw error;
}
