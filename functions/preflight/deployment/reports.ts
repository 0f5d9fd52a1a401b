/**
 * What functions report of themselves, as nobody else may call them and Google's testIamPermissions answers only for whoever
 * asks: when they last took a message of each topic, and what they found of their own rights. `plinth doctor --deployment`
 * reads it.
 */
import * as z from 'zod';
import { collections, type FunctionName } from '../../../shared/names.js';
import type { Context } from '../../context.js';
import type { Asking, Finding, Intent } from '../../engine/finding.js';
import { optionsOf } from '../../engine/record/documents.js';
import { lift, read } from '../../store/lift.js';
import { createOnce, lookAt } from '../look.js';
import { toWire, WireVerdict } from '../wire.js';

/** `functionReports/{function}`. */
export const FunctionReport = z.object({
  schema: z.literal(1),
  /** When it last looked at its rights. */
  at: z.iso.datetime(),
  /** By topic, when it last took one of its messages. */
  handled: z.record(z.string(), z.iso.datetime()),
  /** By code of the finding. */
  verdicts: z.record(z.string(), WireVerdict),
});
export type FunctionReport = z.infer<typeof FunctionReport>;
const liftReport = lift('report of a function', FunctionReport, 1);

/** A function looks again after this, or at its next call while something is not as it must be. */
export const restMs = 600_000;
/** Many messages make one write. Firestore takes about one a second of a document, and twelve instances write it. */
export const handledMs = 20_000;

/** What the deployment itself is asked for. There is no bootstrap. */
export const deploymentIntent = (
  { config }: Pick<Context, 'config'>,
  more: Pick<Intent, 'owner' | 'ownerMember' | 'machines'>,
): Intent => ({
  options: optionsOf({ options: {} }),
  machineAccess: config.machineAccess,
  loadBalancers: config.loadBalancers,
  projectId: config.project,
  ...more,
});

/**
 * For each call of a function, with the topic of its message. Never throws: what is reported is nothing that the call needs.
 */
export function createReport(context: Context, name: FunctionName, findings: readonly Finding[]) {
  const { store, clock, log, config } = context;
  const intent = deploymentIntent(context, { owner: '', ownerMember: '', machines: config.hosts });
  let lookedAt = Number.NEGATIVE_INFINITY;
  let verdicts: FunctionReport['verdicts'] = {};
  const handled: Record<string, string> = {};

  async function look(now: Date): Promise<void> {
    const asking: Asking = { context, intent, secrets: {}, once: createOnce() };
    const asked = findings.filter((finding) => finding.when?.(asking) ?? true);
    const found = await lookAt(asked, asking);
    verdicts = Object.fromEntries(found.map(({ code, verdict }) => [code, toWire(verdict)]));
    lookedAt = now.getTime();
  }

  return async (topic?: string): Promise<void> => {
    const now = clock.now();
    const isHandled = topic !== undefined && now.getTime() - Date.parse(handled[topic] ?? '') < handledMs;
    if (isHandled) return;
    const isFine = Object.values(verdicts).every(({ state }) => state === 'ok');
    const isDue = now.getTime() - lookedAt >= restMs || !isFine;
    if (topic === undefined && !isDue) return;
    try {
      if (isDue) await look(now);
      const data: FunctionReport = {
        schema: 1,
        at: new Date(lookedAt).toISOString(),
        handled: { ...handled, ...(topic === undefined ? {} : { [topic]: now.toISOString() }) },
        verdicts,
      };
      await store.commit([{ kind: 'set', collection: collections.functionReports, id: name, data }]);
      Object.assign(handled, data.handled);
    } catch (error) {
      // What was not written is looked at again.
      lookedAt = Number.NEGATIVE_INFINITY;
      log('DEBUG', 'This function could not report what it holds', { error });
    }
  };
}

export async function reportOf(
  { store }: Pick<Context, 'store'>,
  name: FunctionName,
): Promise<FunctionReport | undefined> {
  return read(await store.get(collections.functionReports, name), liftReport)?.data;
}
