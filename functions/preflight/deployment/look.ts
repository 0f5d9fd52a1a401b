/** Looks at the deployment itself, as an operator asks: go or no go. Nothing is made or changed. */
import type { PreflightReply } from '../../../shared/bootstrap/preflight.js';
import { Problem } from '../../../shared/problems.js';
import type { Trace } from '../../../shared/trace.js';
import type { Context } from '../../context.js';
import { optionsOf } from '../../engine/record/documents.js';
import { foundAs, shownOf } from '../look.js';
import { preflight } from '../preflight.js';
import { deploymentFindings } from './index.js';
import { cloudLane, functionsOf, hostLane } from './lanes.js';
import { logsOf, triggersOf } from './mends.js';

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
  const intent = {
    options: optionsOf({ options: {} }),
    owner: caller.email,
    ownerMember: caller.member,
    machineAccess: config.machineAccess,
    loadBalancers: config.loadBalancers,
    machines,
    projectId: config.project,
  };
  const found = await preflight(context, deploymentFindings, {
    asking: { intent, secrets: {}, signal },
    trace,
    // Without machines nothing is sent to the host lane, and its function may not be there.
    wants: ({ by }) => by !== 'host-lane' || machines,
    wrong: () => [],
  });
  const lanes: readonly string[] = [cloudLane.code, hostLane.code];
  const findings = found
    .map((each) => {
      const { code, verdict } = each;
      // A lane that says nothing in time is no riddle here: it does not work.
      if (!lanes.includes(code) || verdict.state !== 'unknown') return each;
      const name = functionsOf[code === cloudLane.code ? 'cloud' : 'host'];
      const advice = `See whether its trigger (Eventarc) is there: ${triggersOf(config)}\nThen look at the log of its function: ${logsOf(name, config)}`;
      return foundAs(each, { state: 'stop', problem: new Problem('unavailable', `${verdict.what}.`, { advice }) });
    })
    .map(shownOf);
  return { go: findings.every(({ state }) => state !== 'stop'), findings };
}
