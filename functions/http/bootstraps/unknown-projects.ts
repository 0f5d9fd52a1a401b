/** Handles what operators do about projects without a record: show, take in, remove. */
import type { BootstrapView } from '../../../shared/bootstrap/bootstrap.js';
import type { unknownRoutes } from '../../../shared/bootstrap/routes.js';
import { Problem } from '../../../shared/problems.js';
import { adoptProject, removeUnknown, viewUnknown } from '../../cleanup/unknown-project.js';
import type { Context } from '../../context.js';
import type { StoredBootstrap } from '../../engine/record/documents.js';
import type { AnyStep } from '../../engine/step.js';
import type { Caller } from '../../identity/auth.js';
import type { Handlers } from '../router.js';
import { checkMayOwn } from './permission.js';

function checkOperator({ operator }: Caller): void {
  if (!operator) throw new Problem('forbidden', 'Projects without a record are for operators.');
}

export const unknownHandlers = (
  context: Context,
  steps: readonly AnyStep[],
  view: (found: StoredBootstrap) => Promise<BootstrapView>,
): Handlers<typeof unknownRoutes> => ({
  async getUnknownProject({ caller, params: { projectId } }) {
    checkOperator(caller);
    return { status: 200, body: await viewUnknown(context, steps, projectId) };
  },
  async takeInProject({ caller, params: { projectId }, body: { owner, ttl, team } }) {
    checkOperator(caller);
    checkMayOwn(context.config, owner);
    const taken = await adoptProject(context, projectId, { by: caller.email, owner, ttl, team });
    return { status: 201, body: await view(taken) };
  },
  async removeUnknownProject({ caller, params: { projectId }, query: { plan: agreed } }) {
    checkOperator(caller);
    const asked = { by: caller.email, agreed };
    return { status: 200, body: await view(await removeUnknown(context, steps, projectId, asked)) };
  },
});
