/** Shows operators whether plinth accepts new bootstraps, and lets them switch it. */
import type { admissionRoutes } from '../../../shared/bootstrap/routes.js';
import { Problem } from '../../../shared/problems.js';
import { readAdmission, switchAdmission } from '../../bootstraps/begin/admission.js';
import type { Context } from '../../context.js';
import type { Caller } from '../../identity/auth.js';
import type { Handlers } from '../router.js';

function checkOperator({ operator }: Caller): void {
  if (!operator) throw new Problem('forbidden', 'Whether new bootstraps are taken is for operators.');
}

export const admissionHandlers = (context: Context): Handlers<typeof admissionRoutes> => ({
  async getAdmission({ caller }) {
    checkOperator(caller);
    return { status: 200, body: await readAdmission(context) };
  },
  async stopNewBootstraps({ caller, body: { reason } }) {
    checkOperator(caller);
    return { status: 200, body: await switchAdmission(context, caller.email, { state: 'stopped', reason }) };
  },
  async startNewBootstraps({ caller }) {
    checkOperator(caller);
    return { status: 200, body: await switchAdmission(context, caller.email, { state: 'open' }) };
  },
});
