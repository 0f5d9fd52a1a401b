/** Tells operators whether the deployment is as it must be. */
import type { deploymentRoutes } from '../../../shared/bootstrap/routes.js';
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import type { AnyStep } from '../../engine/step.js';
import { lookAtDeployment } from '../../preflight/deployment/look.js';
import { plinthBinary } from '../../steps/hosts/plinth-binary.js';
import type { Handlers } from '../router.js';

export const deploymentHandlers = (context: Context, steps: readonly AnyStep[]): Handlers<typeof deploymentRoutes> => ({
  async checkDeployment({ caller, span, gone }) {
    if (!caller.operator) throw new Problem('forbidden', 'How the deployment stands is for operators.');
    const machines = steps.includes(plinthBinary);
    return { status: 200, body: await lookAtDeployment(context, { caller, machines, signal: gone, trace: span }) };
  },
});
