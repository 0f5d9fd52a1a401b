/** The steps as a checked graph of names, needs and order. It does not depend on options. */
import { type AnyStep, type Need, type Selection, stepNamePattern } from './step.js';

export interface Graph {
  readonly steps: readonly AnyStep[];
  readonly byName: ReadonlyMap<string, AnyStep>;
}

export const isSelection = (need: Need): need is Selection => 'keys' in need && 'step' in need;
export const stepOf = (need: Need): AnyStep => (isSelection(need) ? need.step : need) as AnyStep;

/** We write the steps. An error here is a bug of this release, and its own tests find it. */
export function createGraph(steps: readonly AnyStep[]): Graph {
  const byName = new Map<string, AnyStep>();
  for (const step of steps) {
    if (!stepNamePattern.test(step.name)) throw new Error(`A step may not be named ${JSON.stringify(step.name)}`);
    if (byName.has(step.name)) throw new Error(`Two steps are named ${step.name}`);
    byName.set(step.name, step);
  }
  for (const step of steps) {
    for (const [name, need] of Object.entries(step.needs)) {
      const needed = stepOf(need);
      if (byName.get(needed.name) !== needed) {
        throw new Error(`${step.name} needs ${needed.name} (as ${name}), which is not in the list of steps`);
      }
    }
    if ((step.undo === undefined) === (step.goes === 'undo')) {
      throw new Error(
        `${step.name} goes by ${step.goes}, but ${step.undo === undefined ? 'has no undo' : 'has an undo'}`,
      );
    }
  }
  refuseCycles(steps);
  return { steps, byName };
}

function refuseCycles(steps: readonly AnyStep[]): void {
  const finished = new Set<AnyStep>();
  const walk = (step: AnyStep, path: readonly AnyStep[]): void => {
    if (finished.has(step)) return;
    if (path.includes(step)) {
      const names = [...path.slice(path.indexOf(step)), step].map(({ name }) => name);
      throw new Error(`Steps need each other in a circle: ${names.join(' → ')}`);
    }
    for (const need of Object.values(step.needs)) walk(stepOf(need), [...path, step]);
    finished.add(step);
  };
  for (const step of steps) walk(step, []);
}

const graphs = new WeakMap<readonly AnyStep[], Graph>();

/** The graph of a list of steps, checked on first use. */
export function graphOf(steps: readonly AnyStep[]): Graph {
  const graph = graphs.get(steps) ?? createGraph(steps);
  graphs.set(steps, graph);
  return graph;
}
