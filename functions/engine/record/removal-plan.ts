/**
 * The order in which a bootstrap goes away: `undo` in reverse. What needs a thing goes before the thing. What the project
 * neither takes with it nor needs is kept until the project is gone. Pure.
 */

import type { Instance, Plan } from '../plan.js';
import { callerSecret } from './caller-secret.js';
import { undoCheckOf } from './undo-check.js';

/** Its removal takes every step with `goes: 'project'` along. */
const projectStep = 'project';

const known = new WeakMap<Plan, Plan>();

/** The instances with an undo, in an order in which they may go. Their needs are the instances that must be gone first. */
export function removalPlanOf(plan: Plan): Plan {
  const removal = known.get(plan) ?? newRemovalPlan(plan);
  known.set(plan, removal);
  return removal;
}

function newRemovalPlan(plan: Plan): Plan {
  const below = new Map<string, ReadonlySet<string>>();
  for (const { id, needs } of plan.values()) {
    below.set(id, new Set(needs.flatMap((need) => [need, ...(below.get(need) ?? [])])));
  }
  const undone = [...plan.values()].filter(({ step }) => step.goes === 'undo').reverse();
  const project = undone.find(({ step }) => step.name === projectStep);
  const check = undoCheckOf(undone);
  const first = check === undefined ? [] : [check.id];
  const removals = undone.map((instance): Instance => {
    const { id } = instance;
    const dependents = undone.filter((other) => below.get(other.id)?.has(id)).map((other) => other.id);
    const outlivesProject = project !== undefined && id !== project.id && !below.get(id)?.has(project.id);
    const needs = new Set([...dependents, ...(outlivesProject ? [project.id] : [])]);
    return { ...instance, fillings: {}, needs: needs.size === 0 ? first : [...needs] };
  });
  const last: Instance = {
    id: callerSecret.name,
    step: callerSecret,
    key: '',
    lane: callerSecret.lane,
    fillings: {},
    needs: [...first, ...removals.map(({ id }) => id)],
  };
  return new Map(
    [...(check === undefined ? [] : [check]), ...removals, last].map((instance) => [instance.id, instance]),
  );
}
