/** Plans that people agree to, computed from what is asked and from the record. Pure. */

import { amountText } from '../../shared/bootstrap/money.js';
import {
  type BootstrapOptions,
  flagName,
  isSecret,
  type Option,
  optionNames,
  type SecretOptions,
} from '../../shared/bootstrap/options.js';
import { type PlanDocument, sealed } from '../../shared/bootstrap/plan.js';
import { Problem } from '../../shared/problems.js';
import { sha256 } from '../../shared/sha256.js';
import type { Context } from '../context.js';
import { graphOf } from '../engine/graph.js';
import { type Instance, planOf, titleOf } from '../engine/plan.js';
import {
  type BootstrapRecord,
  loadBalancersOf,
  machineAccessOf,
  optionsOf,
  type PriceRecord,
  type StoredBootstrap,
} from '../engine/record/documents.js';
import { planOfRecord } from '../engine/record/plan-of-record.js';
import { removalPlanOf } from '../engine/record/removal-plan.js';
import type { AnyStep, PlanFacts, PlannedBy } from '../engine/step.js';
import type { BeginFacts, Resumed } from './begin/begin-facts.js';

/** What a command would do, for a name that is free or for what stands. */
export function planOfCommand(
  { config }: Pick<Context, 'config'>,
  steps: readonly AnyStep[],
  facts: BeginFacts,
  price: PriceRecord | undefined,
  standing?: { readonly bootstrap: StoredBootstrap; readonly resumed: Resumed },
): PlanDocument {
  const record = standing?.bootstrap.data;
  const { options, secrets } = standing?.resumed ?? facts;
  const changed = new Set(standing?.resumed.changes.map(({ option }) => option));
  const chosen = facts.package ?? record?.package;
  const machineAccess = record === undefined ? config.machineAccess : machineAccessOf(record);
  return sealed({
    schema: 1,
    kind: 'bootstrap',
    name: options.projectName,
    bootstrap: standing?.bootstrap.id ?? null,
    values: {
      ...valuesOf(options),
      'machine access': machineAccess,
      'load balancers': record === undefined ? config.loadBalancers : loadBalancersOf(record),
      parent: options.folderId ?? config.defaultParent ?? 'none',
      'SSH public key': `sha256:${sha256(facts.sshPublicKey)}`,
      ...(price === undefined
        ? {}
        : { 'USD an hour': price.microsAnHour === 0 ? 'not known' : amountText(price.microsAnHour) }),
      ...(price?.maxMicros === undefined ? {} : { '--max-cost': amountText(price.maxMicros) }),
      ...(standing === undefined ? {} : { 'removed at': standing.resumed.deadlineAt }),
      ...(chosen === undefined
        ? {}
        : { package: `${chosen.version} ${chosen.hash} ${chosen.archive} sha256:${chosen.sha256}` }),
    },
    secrets: secretNames(secrets).map((name) => ({
      name,
      action: standing === undefined ? 'make' : changed.has(name) ? 'change' : 'keep',
    })),
    items: itemsOf(
      steps,
      { options, machineAccess, secrets },
      record && { record, secrets: standing?.resumed.secretsBefore },
    ),
  });
}

const valuesOf = (options: BootstrapOptions): Record<string, string> =>
  Object.fromEntries(
    optionNames.flatMap((option) => {
      const value = (options as Partial<Record<Option, unknown>>)[option];
      if (value === undefined || isSecret(option)) return [];
      return [[flagName(option), typeof value === 'string' ? value : JSON.stringify(value)]];
    }),
  );

const secretNames = (secrets: SecretOptions): string[] =>
  optionNames.filter((option) => (secrets as Partial<Record<Option, unknown>>)[option] !== undefined).map(flagName);

function itemsOf(
  steps: readonly AnyStep[],
  facts: PlanFacts & PlannedBy,
  standing: { readonly record: BootstrapRecord; readonly secrets: SecretOptions | undefined } | undefined,
): PlanDocument['items'] {
  const { options, machineAccess, secrets } = facts;
  const record = standing?.record;
  const wanted = planOf(graphOf(steps), facts);
  const before = record === undefined ? undefined : planOfRecord(steps, record);
  const stood = record && optionsOf(record);
  const made = ({ id }: Instance) => record?.instances[id]?.output !== undefined;
  const what = (instance: Instance, by: BootstrapOptions) => [
    ...instance.step.describe(by, instance.key, machineAccess),
  ];
  const content = (instance: Instance, by: PlannedBy) =>
    JSON.stringify([what(instance, by.options), instance.step.content?.(by, instance.key)]);
  const given = [...(before?.values() ?? [])].filter((instance) => !wanted.has(instance.id) && made(instance));
  return [
    ...[...wanted.values()].map((instance) => {
      const { id } = instance;
      const things = what(instance, options);
      const cleared = stood === undefined ? [] : clearedBy(instance, stood, options);
      const differs =
        stood !== undefined &&
        content(instance, { options: stood, secrets: standing?.secrets ?? {} }) !==
          content(instance, { options, secrets });
      const kept = differs || cleared.length > 0 ? ('change' as const) : ('keep' as const);
      const action = made(instance) ? kept : ('make' as const);
      return { id, title: titleOf(instance), action, what: [...things, ...cleared.map(deletes)] };
    }),
    ...given.map((instance) => {
      const cleared = instance.step.clears?.(stood ?? options, instance.key) ?? [];
      const [action, things] =
        cleared.length > 0 ? (['remove', cleared] as const) : (['give-up', what(instance, stood ?? options)] as const);
      return { id: instance.id, title: titleOf(instance), action, what: [...things] };
    }),
  ];
}

/** What the instance deletes because the options no longer ask for it. */
function clearedBy({ step, key }: Instance, before: BootstrapOptions, options: BootstrapOptions): readonly string[] {
  const kept = new Set(step.clears?.(options, key));
  return (step.clears?.(before, key) ?? []).filter((thing) => !kept.has(thing));
}

const deletes = (thing: string): string => `deletes ${thing}`;

/** All that a removal may take away. It takes nothing else, and leaves what is no longer as plinth wrote it. */
export function planOfRemoval(steps: readonly AnyStep[], { id, data }: StoredBootstrap): PlanDocument {
  const at = { id, projectId: data.projectId, options: optionsOf(data) };
  return sealed({
    schema: 1,
    kind: 'removal',
    name: data.name,
    bootstrap: id,
    values: { owner: data.owner, 'project id': data.projectId },
    secrets: [],
    items: [...removalPlanOf(planOfRecord(steps, data, true)).values()].flatMap((instance) => {
      const what = [...(instance.step.removes?.(at, instance.key) ?? [])];
      return what.length === 0 ? [] : [{ id: instance.id, title: titleOf(instance), action: 'remove' as const, what }];
    }),
  });
}

/** Throws a 412 with the plan as it is now, if another one was agreed to. */
export function checkAgreed(agreed: string | undefined, now: () => PlanDocument): void {
  if (agreed === undefined) return;
  const plan = now();
  if (plan.hash === agreed) return;
  throw new Problem('precondition-failed', 'The plan is another one by now, so nothing was done.', {
    advice: 'Look at the plan again with --dry-run, and agree to that one.',
    members: { plan },
  });
}

/** In the order in which instances may start. */
export const previewOf = (steps: readonly AnyStep[], facts: PlanFacts) =>
  [...planOf(graphOf(steps), facts).values()].map(({ id, step, key, lane, needs }) => ({
    id,
    title: titleOf({ step, key }),
    lane,
    needs: [...needs],
    makes: [...step.describe(facts.options, key, facts.machineAccess)],
  }));
