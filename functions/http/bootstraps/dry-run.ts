/** What a command would do, without doing it: the reply of a dry run. */
import type { PlanReply } from '../../../shared/bootstrap/routes.js';
import type { BeginFacts } from '../../bootstraps/begin/begin-facts.js';
import { ttlSeconds } from '../../bootstraps/begin/new-record.js';
import { endFor, priceOf } from '../../bootstraps/budget/price.js';
import { forecast, learntTimes } from '../../bootstraps/lifetime/forecast.js';
import { planOfCommand, previewOf } from '../../bootstraps/plan.js';
import type { Context } from '../../context.js';
import { costOf, costOfPlan } from '../../cost/of-bootstrap.js';
import { graphOf } from '../../engine/graph.js';
import { planOf } from '../../engine/plan.js';
import { machineAccessOf } from '../../engine/record/documents.js';
import type { AnyStep } from '../../engine/step.js';

export async function dryRunOf(context: Context, steps: readonly AnyStep[], facts: BeginFacts): Promise<PlanReply> {
  const { config, clock } = context;
  const now = clock.now();
  if (facts.checked !== undefined) {
    const { of: bootstrap, resumed } = facts.checked;
    const { options, price, deadlineAt, changes } = resumed;
    return {
      instances: previewOf(steps, { options, machineAccess: machineAccessOf(bootstrap.data) }),
      warnings: [...facts.warnings],
      plan: planOfCommand(context, steps, facts, price, { bootstrap, resumed }),
      changes: [...changes],
      cost: costOf(config.prices, { ...bootstrap.data, options: { ...options }, deadlineAt }, now),
    };
  }
  const wanted = { options: facts.options, machineAccess: config.machineAccess };
  const { loadBalancers } = config;
  const price = priceOf(config, { ...wanted, loadBalancers }, facts.maxMicros);
  const { deadlineAt, warning } = endFor(price, now, ttlSeconds(facts.options));
  return {
    instances: previewOf(steps, wanted),
    warnings: [...facts.warnings, ...(warning === undefined ? [] : [warning])],
    plan: planOfCommand(context, steps, facts, price),
    forecast: forecast(planOf(graphOf(steps), wanted), await learntTimes(context), now),
    cost: costOfPlan(config.prices, wanted, now, deadlineAt, loadBalancers),
  };
}
