/** What a bootstrap would make, without making it, for `--dry-run`. */
import { graphOf } from '../../engine/graph.js';
import { planOf, titleOf } from '../../engine/plan.js';
import type { AnyStep, PlanFacts } from '../../engine/step.js';

/** In the order in which instances may start. */
export const previewOf = (steps: readonly AnyStep[], facts: PlanFacts) =>
  [...planOf(graphOf(steps), facts).values()].map(({ id, step, key, lane, needs }) => ({
    id,
    title: titleOf({ step, key }),
    lane,
    needs: [...needs],
    makes: [...step.describe(facts.options, key, facts.machineAccess)],
  }));
