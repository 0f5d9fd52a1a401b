/** What a new bootstrap would be, before anything is made: its size, price, time and end, and the hash of its plan. */
import type { Beginning } from '../../../shared/bootstrap/preflight.js';
import type { BeginFacts } from '../../bootstraps/begin/begin-facts.js';
import { ttlSeconds } from '../../bootstraps/begin/new-record.js';
import { endFor, priceOf } from '../../bootstraps/budget/price.js';
import { forecast, learntTimes } from '../../bootstraps/lifetime/forecast.js';
import { planOfCommand } from '../../bootstraps/plan.js';
import type { Context } from '../../context.js';
import { costOfPlan } from '../../cost/of-bootstrap.js';
import { graphOf } from '../../engine/graph.js';
import { planOf } from '../../engine/plan.js';
import type { AnyStep } from '../../engine/step.js';
import { vmsOf } from '../../steps/topology.js';

export async function beginningOf(context: Context, steps: readonly AnyStep[], facts: BeginFacts): Promise<Beginning> {
  const { config, clock } = context;
  const now = clock.now();
  const wanted = { options: facts.options, machineAccess: config.machineAccess };
  const plan = planOf(graphOf(steps), wanted);
  const { loadBalancers } = config;
  const price = priceOf(config, { ...wanted, loadBalancers }, facts.maxMicros);
  const { deadlineAt } = endFor(price, now, ttlSeconds(facts.options));
  return {
    vms: vmsOf(facts.options).length,
    cost: costOfPlan(config.prices, wanted, now, deadlineAt, loadBalancers),
    forecast: forecast(plan, await learntTimes(context), now),
    removedAt: deadlineAt,
    ...(facts.sshPublicKey !== '' && { hash: planOfCommand(context, steps, facts, price).hash }),
  };
}
