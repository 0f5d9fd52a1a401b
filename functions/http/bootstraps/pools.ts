/** Shows operators the pools of prepared projects, and lets them drain and fill them. */
import type { poolRoutes } from '../../../shared/bootstrap/routes.js';
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import type { Caller } from '../../identity/auth.js';
import { readPools, turnPools } from '../../pools/status.js';
import type { Handlers } from '../router.js';

function checkOperator({ operator }: Caller): void {
  if (!operator) throw new Problem('forbidden', 'Pools of prepared projects are for operators.');
}

export const poolHandlers = (context: Context): Handlers<typeof poolRoutes> => ({
  async getPools({ caller }) {
    checkOperator(caller);
    return { status: 200, body: await readPools(context) };
  },
  async drainPools({ caller }) {
    checkOperator(caller);
    return { status: 200, body: await turnPools(context, caller.email, 'drain') };
  },
  async fillPools({ caller }) {
    checkOperator(caller);
    return { status: 200, body: await turnPools(context, caller.email, 'fill') };
  },
});
