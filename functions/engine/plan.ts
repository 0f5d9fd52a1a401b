/** Turns steps and options into instances, with what each of them needs. Pure. */
import type { Lane } from '../../shared/names.js';
import { type Graph, isSelection, stepOf } from './graph.js';
import type { AnyStep, Need, PlanFacts } from './step.js';

/**
 * Fills one member of `needs` with the output of one instance, or with several by key. `absent`: the step is not in this plan.
 */
type Filling =
  | { readonly kind: 'one'; readonly id: string }
  | { readonly kind: 'byKey'; readonly ids: Readonly<Record<string, string>> }
  | { readonly kind: 'absent' };

export interface Instance {
  /** `<step>` or `<step>:<key>`. */
  readonly id: string;
  readonly step: AnyStep;
  /** `''` for a step without `each`. */
  readonly key: string;
  readonly lane: Lane;
  readonly fillings: Readonly<Record<string, Filling>>;
  /** Ids of all needed instances, each once. */
  readonly needs: readonly string[];
}

/** Instances by id. Each comes after those it needs. */
export type Plan = ReadonlyMap<string, Instance>;

/** For people: `VM k0s-1`. */
export const titleOf = ({ step, key }: Pick<Instance, 'step' | 'key'>): string =>
  key === '' ? step.title : `${step.title} ${key}`;

const instanceId = (step: string, key: string): string => (key === '' ? step : `${step}:${key}`);

/** `goes`: plan for the removal. It includes every step with an undo, because earlier options may have asked for it. */
export function planOf(graph: Graph, { options, machineAccess, unclaimed = false }: PlanFacts, goes = false): Plan {
  const keys = new Map<AnyStep, readonly string[]>();
  for (const step of graph.steps) {
    if (unclaimed && step.prepares === undefined) continue;
    if (step.when !== undefined && !step.when(options, machineAccess) && !(goes && step.goes === 'undo')) continue;
    const own = step.each === undefined ? [''] : step.each.keys(options);
    if (new Set(own).size < own.length) throw new Error(`${step.name} has the same key twice: ${own.join(', ')}`);
    keys.set(step, own);
  }

  const fill = (step: AnyStep, key: string, need: Need): Filling => {
    const needed = stepOf(need);
    const there = keys.get(needed);
    if (there === undefined) return { kind: 'absent' };
    const byKey = (chosen: readonly string[]): Filling => {
      const unknown = chosen.filter((each) => !there.includes(each));
      if (unknown.length > 0)
        throw new Error(`${instanceId(step.name, key)} needs ${needed.name} of ${unknown.join(', ')}`);
      return { kind: 'byKey', ids: Object.fromEntries(chosen.map((each) => [each, instanceId(needed.name, each)])) };
    };
    if (isSelection(need)) return byKey(need.keys(options, key));
    if (needed.each === undefined) return { kind: 'one', id: needed.name };
    if (step.each?.of !== needed.each.of) return byKey(there);
    if (!there.includes(key)) throw new Error(`${instanceId(step.name, key)} needs ${needed.name} of the same key`);
    return { kind: 'one', id: instanceId(needed.name, key) };
  };

  const instances = [...keys].flatMap(([step, own]) =>
    own.map((key): Instance => {
      const fillings = Object.fromEntries(
        Object.entries(step.needs).map(([name, need]) => [name, fill(step, key, need)]),
      );
      const needs = Object.values(fillings).flatMap((filling) => {
        if (filling.kind === 'one') return [filling.id];
        return filling.kind === 'byKey' ? Object.values(filling.ids) : [];
      });
      return { id: instanceId(step.name, key), step, key, lane: step.lane, fillings, needs: [...new Set(needs)] };
    }),
  );
  return inOrder(instances);
}

/** Needs come first, otherwise the order of the steps. Steps have no cycles, so instances have none. */
function inOrder(instances: readonly Instance[]): Plan {
  const byId = new Map(instances.map((instance) => [instance.id, instance]));
  const ordered = new Map<string, Instance>();
  const add = (instance: Instance): void => {
    if (ordered.has(instance.id)) return;
    for (const id of instance.needs) add(byId.get(id) as Instance);
    ordered.set(instance.id, instance);
  };
  for (const instance of instances) add(instance);
  return ordered;
}

export type States = Readonly<Record<string, { readonly state: string } | undefined>>;

/** Instances that no longer wait for anything. An instance without a state is waiting. */
export const readyIn = (plan: Plan, states: States, over: 'done' | 'gone' = 'done'): Instance[] =>
  [...plan.values()].filter(
    ({ id, needs }) =>
      (states[id]?.state ?? 'waiting') === 'waiting' && needs.every((need) => states[need]?.state === over),
  );

/**
 * What a release gave to a step's needs after the instance had become ready. Needs whose output has a default are as it says, and
 * are not waited for.
 */
export const unmetNeeds = (instance: Instance, outputOf: (id: string) => unknown): string[] =>
  Object.entries(instance.fillings).flatMap(([name, filling]) => {
    if (filling.kind === 'absent') return [];
    const { output } = stepOf(instance.step.needs[name] as Need);
    const ids = filling.kind === 'one' ? [filling.id] : Object.values(filling.ids);
    return ids.filter((id) => outputOf(id) === undefined && !output.safeParse(undefined).success);
  });

/** The needed outputs that an instance is called with. */
export function needOutputs(instance: Instance, outputOf: (id: string) => unknown): Readonly<Record<string, unknown>> {
  const outputs = Object.entries(instance.fillings).map(([name, filling]) => {
    if (filling.kind === 'absent') return [name, undefined];
    const parse = (id: string): unknown => stepOf(instance.step.needs[name] as Need).output.parse(outputOf(id));
    if (filling.kind === 'one') return [name, parse(filling.id)];
    return [name, Object.fromEntries(Object.entries(filling.ids).map(([key, id]) => [key, parse(id)]))];
  });
  return Object.fromEntries(outputs);
}
