/** Finds the jumpbox of a project whose record is lost, for callers who may bootstrap. */
import type { recoveryRoutes } from '../../../shared/bootstrap/routes.js';
import { findLostJumpbox } from '../../bootstraps/restore/lost-project.js';
import type { Context } from '../../context.js';
import { countChange } from '../rate-limit.js';
import type { Handlers } from '../router.js';
import { checkMayBootstrap } from './permission.js';

export const recoveryHandlers = (context: Context): Handlers<typeof recoveryRoutes> => ({
  async findJumpbox({ caller, params }) {
    checkMayBootstrap(context.config, caller);
    // Each look searches through all projects, and Google limits how often plinth may search.
    await countChange(context, caller);
    return { status: 200, body: await findLostJumpbox(context, params.project) };
  },
});
