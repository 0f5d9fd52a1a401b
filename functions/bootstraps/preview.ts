/** What a bootstrap would make, without making it, for `--dry-run`. */
import type { BootstrapOptions } from '../../shared/bootstrap/options.js';
import { graphOf } from '../engine/graph.js';
import { planOf, titleOf } from '../engine/plan.js';
import type { AnyStep } from '../engine/step.js';

/** In the order in which instances may start. */
export const previewOf = (steps: readonly AnyStep[], options: BootstrapOptions) =>
  [...planOf(graphOf(steps), options).values()].map(({ id, step, key, lane, needs }) => ({
    id,
    title: titleOf({ step, key }),
    lane,
    needs: [...needs],
    makes: [...step.describe(options, key)],
  }));
