/** Tells what is known of a bootstrap before it begins. */
import type { bootstrapRoutes } from '../../../shared/bootstrap/routes.js';
import type { Context } from '../../context.js';
import type { AnyStep } from '../../engine/step.js';
import { countChange } from '../rate-limit.js';
import type { Handlers } from '../router.js';
import { preflightOf } from './asked.js';
import { checkMayBootstrap } from './permission.js';

export const preflightHandlers = (
  context: Context,
  steps: readonly AnyStep[],
): Pick<Handlers<typeof bootstrapRoutes>, 'preflight'> => ({
  async preflight({ caller, body, span, gone }) {
    checkMayBootstrap(context.config, caller);
    // It makes nothing, but it costs as many calls as a beginning.
    await countChange(context, caller);
    return { status: 200, body: await preflightOf(context, steps, { caller, body, gone, trace: span }) };
  },
});
