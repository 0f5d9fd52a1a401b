/** Looks at the deployment itself, as an operator asks: go or no go. Nothing is made or changed. */
import type { PreflightReply } from '../../../shared/bootstrap/preflight.js';
import { functionNames } from '../../../shared/names.js';
import { Problem } from '../../../shared/problems.js';
import type { Trace } from '../../../shared/trace.js';
import type { Context } from '../../context.js';
import { foundAs, shownOf } from '../look.js';
import { preflight } from '../preflight.js';
import { checkFunction } from './check-function.js';
import { deploymentFindings } from './index.js';
import { applyTerraform, logsOf } from './mends.js';
import { deploymentIntent } from './reports.js';

interface Asker {
  readonly caller: { readonly email: string; readonly member: string };
  readonly machines: boolean;
  readonly signal: AbortSignal;
  readonly trace: Trace;
}

export async function lookAtDeployment(
  context: Context,
  { caller, machines, signal, trace }: Asker,
): Promise<PreflightReply> {
  const { config } = context;
  const intent = deploymentIntent(context, { owner: caller.email, ownerMember: caller.member, machines });
  const found = await preflight(context, deploymentFindings, {
    asking: { intent, secrets: {}, signal },
    trace,
    // Without machines the function may not be there.
    wants: ({ by }) => by !== 'run-host-step' || machines,
    wrong: () => [],
  });
  const findings = found
    .map((each) => {
      const { code, verdict } = each;
      // Elsewhere no reply is unknown. Here it shows that the function does not work.
      if (code !== checkFunction.code || verdict.state !== 'unknown') return each;
      const advice = `${applyTerraform}, and look at its log: ${logsOf(functionNames.check, config)}`;
      return foundAs(each, { state: 'stop', problem: new Problem('unavailable', `${verdict.what}.`, { advice }) });
    })
    .map(shownOf);
  return { go: findings.every(({ state }) => state !== 'stop'), findings };
}
