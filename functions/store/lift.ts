/** Reads documents of any release. */
import type * as z from 'zod';
import { Problem } from '../../shared/problems.js';
import type { Data, Document } from './store.js';

/** At place n: the lift from schema n to n + 1. */
type Lifts = Readonly<Record<number, (data: Data) => Data>>;

/** Makes the one function that lifts documents of a kind to what this release reads. */
export const lift =
  <T>(kind: string, current: z.ZodType<T>, newest: number, lifts: Lifts = {}) =>
  (data: Data): T => {
    let lifted = data;
    for (let schema = Number(data['schema']); schema !== newest; schema++) {
      const next = lifts[schema];
      if (next === undefined) {
        throw new Problem('internal', `This release cannot read a ${kind} of schema ${String(data['schema'])}.`);
      }
      lifted = next(lifted);
    }
    return current.parse(lifted);
  };

/** A document with lifted data. */
export const read = <T>(document: Document | undefined, liftKind: (data: Data) => T): Document<T> | undefined =>
  document && { ...document, data: liftKind(document.data) };
