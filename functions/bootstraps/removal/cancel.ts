/** Cancels a bootstrap. */
import type { Context } from '../../context.js';
import type { StoredBootstrap } from '../../engine/record/documents.js';
import { updateBootstrap } from '../../engine/record/update.js';
import { publishReady } from '../../engine/run/publish.js';
import type { AnyStep } from '../../engine/step.js';
import { stop } from './stop.js';

/**
 * Running instances stop where they can, and nothing else begins. What was made is kept. A bootstrap that has ended does not
 * change.
 */
export async function cancel(
  context: Context,
  steps: readonly AnyStep[],
  id: string,
  actor: string,
): Promise<StoredBootstrap> {
  const { standing, free = [] } = await updateBootstrap(context, id, async (found, at) => {
    const { data } = found;
    if (data.state !== 'running') return undefined;
    return stop(context, steps, found, { ...data, state: 'cancelling' }, at, [
      { event: { schema: 1, type: 'action', at, actor, action: 'cancel' } },
      { event: { schema: 1, type: 'state', at, state: 'cancelling', generation: data.generation } },
    ]);
  });
  await publishReady(context, id, standing.data.generation, free);
  return standing;
}
