/** Sends waiting notices to the deployment's webhook until they are taken: at least once, always with the same id. */

import { addSeconds } from '../../shared/add-seconds.js';
import { collections, deploymentSecrets } from '../../shared/names.js';
import { Problem } from '../../shared/problems.js';
import type { Context } from '../context.js';
import { mapInBatches } from '../host/map-in-batches.js';
import { registerOfDeployment } from '../host/redaction.js';
import { read } from '../store/lift.js';
import { Conflict, type Document } from '../store/store.js';
import { liftNotice, type NoticeRecord } from './notices.js';
import { postWebhook, readKey } from './webhook.js';

/** Seconds after each failed try. Then the notice is given up, 27.6 hours after the first try. */
const backoffSeconds = [60, 300, 1800, 7200, 18_000, 36_000, 36_000] as const;
const perRun = 100;
const atOnce = 20;

export interface Sent {
  readonly sent: number;
  readonly refused: number;
}

/** Reads nothing if there is no webhook. */
export async function sendNotices(context: Context): Promise<Sent> {
  const { store, clock, config } = context;
  const { webhookUrl } = config;
  if (webhookUrl === undefined) return { sent: 0, refused: 0 };
  const found = await store.query({
    collection: collections.notices,
    where: [['dueAt', '<=', clock.now().toISOString()]],
    orderBy: ['dueAt', 'asc'],
    limit: perRun,
  });
  const due = found.flatMap((document) => read(document, liftNotice) ?? []);
  if (due.length === 0) return { sent: 0, refused: 0 };
  const keys = await readKeys(context);
  const ends = await mapInBatches(due, atOnce, (notice) => send(context, webhookUrl, keys, notice));
  const count = (wanted: 'sent' | 'refused'): number => ends.filter((end) => end === wanted).length;
  return { sent: count('sent'), refused: count('refused') };
}

/** Every enabled version signs, so that a key can be replaced without a gap. */
async function readKeys({ cloud: { secretManager } }: Context): Promise<readonly Buffer[]> {
  const id = deploymentSecrets.webhookKey;
  const versions = await secretManager.versions(id);
  const keys = (await Promise.all(versions.map((version) => secretManager.read(id, version))))
    .map(registerOfDeployment)
    .map(readKey);
  const good = keys.filter((key) => key !== undefined);
  if (good.length > 0) return good;
  throw new Problem('bad-input', `The secret ${id} holds no key for the webhook; nothing is sent.`, {
    advice: `Add a version of the form whsec_<base64 of 24 to 64 bytes> to ${id}. What is due is sent then.`,
  });
}

/** Takes a notice by moving its time first. A second run skips it, and after a crash it is due again later. */
async function send(
  { store, clock, log }: Context,
  url: string,
  keys: readonly Buffer[],
  { collection, id, version, data }: Document<NoticeRecord>,
): Promise<'sent' | 'refused' | 'taken'> {
  const { webhookId, body, attempts, bootstrapId } = data;
  const waitSeconds = backoffSeconds[attempts];
  const fields = { ...(bootstrapId !== '' && { bootstrap: bootstrapId }), webhookId, attempt: attempts + 1 };
  let mine: string | undefined;
  try {
    const dueAt = addSeconds(clock.now(), waitSeconds ?? 600);
    [mine] = await store.commit([{ kind: 'update', collection, id, version, data: { dueAt, attempts: attempts + 1 } }]);
  } catch (error) {
    if (error instanceof Conflict) return 'taken';
    throw error;
  }
  const end = await postWebhook(url, keys, { id: webhookId, body, at: clock.now() });
  if (end.taken || end.final || waitSeconds === undefined) {
    if (!end.taken) log('ERROR', `The webhook was given up: ${end.why}`, fields);
    await store
      .commit([{ kind: 'delete', collection, id, ...(mine === undefined ? {} : { version: mine }) }])
      .catch((error: unknown) => {
        if (!(error instanceof Conflict)) throw error;
      });
    return end.taken ? 'sent' : 'refused';
  }
  log('WARNING', `The webhook was not taken: ${end.why}; it is sent again`, fields);
  return 'refused';
}
