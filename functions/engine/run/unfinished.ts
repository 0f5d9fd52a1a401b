/** What an instance leaves that costs money when it fails or is cancelled. */
import { pastHiccup } from '../../cloud/hiccup.js';
import { until } from '../../host/until.js';
import { unmetNeeds } from '../plan.js';
import type { Resolution } from '../record/transition.js';
import { createCall } from './call.js';
import { factsOf } from './facts.js';
import type { Invocation } from './invocation.js';

type Looked = Extract<Resolution, { readonly state: 'failed' | 'cancelled' }>;

/**
 * With what the step sees once more. Whatever speaks against a look leaves the resolution as it is. A look holds up neither the
 * deadline nor a shutdown: undefined if one of them came first.
 */
export async function withUnfinished<R extends Looked>(invocation: Invocation, resolution: R): Promise<R | undefined> {
  const { context, message, bootstrap, plan, removing, signal, held, redactor } = invocation;
  const { data: record } = bootstrap;
  const instance = plan.get(message.instance);
  if (removing || instance?.step.unfinished === undefined) return resolution;
  if (unmetNeeds(instance, (id) => record.instances[id]?.output).length > 0) return resolution;
  const look = instance.step.unfinished;
  try {
    const unfinished = await until(signal, async () => {
      const facts = await factsOf(context, message.bootstrapId, record);
      const call = createCall({
        context,
        facts,
        record,
        instance,
        attempt: 0,
        signal,
        lost: held.signal,
        redactor,
      });
      return pastHiccup(() => look(call), { context, signal });
    });
    return { ...resolution, looked: { unfinished } };
  } catch (error) {
    if (invocation.deadline.signal.aborted) return undefined;
    context.log('WARNING', 'What is there of it already could not be seen', { error });
    return resolution;
  }
}
