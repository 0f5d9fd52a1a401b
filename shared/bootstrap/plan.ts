/**
 * A plan that people agree to: what a bootstrap would make, change, keep and give up, or what a removal would take away. The
 * same plan has the same hash. Both sides of the wire read it, and the command line keeps it in a file.
 */
import * as z from 'zod';
import { text } from '../api.js';
import type { Fault } from '../problems.js';
import { sha256 } from '../sha256.js';
import { redacted } from './options.js';

const PlanItem = z
  .object({
    id: text('`<step>` or `<step>:<key>`', 'vm:k0s-1'),
    title: text('For people', 'VM k0s-1'),
    action: z.enum(['make', 'change', 'keep', 'give-up', 'remove']).meta({
      description:
        '`keep`: it is looked at, and made again if it is gone. `give-up`: it is no longer looked after, and goes with the bootstrap. `remove`: it is deleted',
    }),
    what: z.array(z.string()).meta({
      description: 'The things, in words. What begins with `deletes` was there for earlier options',
      examples: [['VM k0s-1']],
    }),
  })
  .meta({ id: 'PlanItem', description: 'What becomes of one instance' });

export const PlanDocument = z
  .object({
    schema: z.literal(1).meta({ description: 'Version of this form' }),
    kind: z.enum(['bootstrap', 'removal']).meta({ description: 'What is planned' }),
    name: text('Of the project', 'my first'),
    bootstrap: z
      .string()
      .nullable()
      .meta({ description: 'Id of what stands; null: nothing does', examples: ['b0123456789abcde'] }),
    values: z.record(z.string(), z.string()).meta({
      description: 'What it goes by: options, price by the hour, build of the package; each as text, none secret',
      examples: [{ '--region': 'europe-west4', 'USD an hour': '2.116001' }],
    }),
    secrets: z
      .array(
        z.object({
          name: text('The flag', '--forge1-app-client-secret'),
          action: z.enum(['make', 'change', 'keep']).meta({ description: 'What becomes of it' }),
        }),
      )
      .meta({ description: 'Secrets that were given or are kept, by name alone' }),
    items: z.array(PlanItem).meta({ description: 'In the order in which they may start' }),
    hash: text('SHA-256 of all of that', '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'),
  })
  .meta({ id: 'Plan', description: 'What would become of each thing. The same plan has the same hash' });
export type PlanDocument = z.infer<typeof PlanDocument>;

export const PlanHash = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'must be the hash of a plan, 64 hex digits')
  .meta({
    description:
      'Hash of the plan that was agreed to. If it is another one by now, nothing is done, and the answer is a 412',
    examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
  });

export function hashOf({ schema, kind, name, bootstrap, values, secrets, items }: Omit<PlanDocument, 'hash'>): string {
  const parts = [
    schema,
    kind,
    name,
    bootstrap,
    sorted(Object.entries(values)),
    sorted(secrets.map((each) => [each.name, each.action])),
    sorted(items.map(({ id, title, action, what }) => [id, title, action, ...what])),
  ];
  return sha256(JSON.stringify(parts));
}

const sorted = <T extends readonly string[]>(rows: readonly T[]): T[] =>
  rows.toSorted((a, b) => ((a[0] ?? '') < (b[0] ?? '') ? -1 : 1));

export const sealed = (plan: Omit<PlanDocument, 'hash'>): PlanDocument => ({ ...plan, hash: hashOf(plan) });

/** By name, as texts: each difference names both sides. */
export function planDifferences(planned: PlanDocument, now: PlanDocument): Fault[] {
  const [before, after] = [planned, now].map(textsOf) as [Record<string, string>, Record<string, string>];
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((path) => {
    const [was, is] = [before[path] ?? 'not there', after[path] ?? 'not there'];
    return was === is ? [] : [{ path, message: `is ${was} in the plan, and would be ${is} now` }];
  });
}

/** Ids of applications are secrets of the files, so a problem may hide them. The hash tells whether they are as planned. */
export function unhidden(planned: PlanDocument, now: PlanDocument): PlanDocument {
  const values = Object.fromEntries(
    Object.entries(now.values).map(([name, value]) => [
      name,
      value.includes(redacted) ? (planned.values[name] ?? value) : value,
    ]),
  );
  const whole = { ...now, values };
  return hashOf(whole) === now.hash ? whole : now;
}

/**
 * How far a plan has been carried out, by the plan that the same command has now. `begun`: the rest is still as planned.
 * Undefined: something else has changed.
 */
export function progressOf(planned: PlanDocument, now: PlanDocument): 'done' | 'begun' | undefined {
  if (now.bootstrap === null || planned.kind !== 'bootstrap') return undefined;
  if (planned.bootstrap !== null && planned.bootstrap !== now.bootstrap) return undefined;
  // A new bootstrap gets its end when it begins.
  const { 'removed at': _end, ...values } = now.values;
  const expected = planned.bootstrap === null ? values : now.values;
  if (!isSame(planned.values, expected)) return undefined;
  const names = (plan: PlanDocument) => plan.secrets.map(({ name }) => name).sort();
  if (!isSame(names(planned), names(now)) || now.secrets.some(({ action }) => action !== 'keep')) return undefined;
  const stands = new Map(now.items.map((item) => [item.id, item]));
  let begun = planned.bootstrap === null;
  let left = false;
  for (const { id, action, what } of planned.items) {
    const item = stands.get(id);
    stands.delete(id);
    const isThere = item?.action === 'keep' && isSame(item.what, what);
    const isOver = action === 'give-up' && item === undefined;
    if (isThere || isOver) begun ||= action !== 'keep';
    else if (item?.action === action && isSame(item.what, what)) left = true;
    else return undefined;
  }
  return stands.size > 0 || !begun ? undefined : left ? 'begun' : 'done';
}

const isSame = (one: object, other: object): boolean =>
  JSON.stringify(sorted(Object.entries(one))) === JSON.stringify(sorted(Object.entries(other)));

const textsOf = ({ name, kind, bootstrap, values, secrets, items }: PlanDocument): Record<string, string> => ({
  plan: kind,
  project: name,
  bootstrap: bootstrap ?? 'none',
  ...values,
  ...Object.fromEntries(secrets.map((each) => [each.name, each.action])),
  ...Object.fromEntries(items.map(({ id, action, what }) => [id, [action, ...what].join('; ')])),
});
