/** Shows operators what the next cleanup would do, and what it would leave alone. */
import type { surveyRoutes } from '../../../shared/bootstrap/routes.js';
import { Problem } from '../../../shared/problems.js';
import { survey } from '../../cleanup/survey.js';
import type { Context } from '../../context.js';
import type { AnyStep } from '../../engine/step.js';
import type { Handlers } from '../router.js';

export const surveyHandlers = (context: Context, steps: readonly AnyStep[]): Handlers<typeof surveyRoutes> => ({
  async surveyCleanup({ caller }) {
    if (!caller.operator) throw new Problem('forbidden', 'What cleanup would do is for operators.');
    return { status: 200, body: await survey(context, steps) };
  },
});
