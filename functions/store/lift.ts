/** Reads documents whichever release wrote them. */
import type * as z from 'zod';
import { Problem } from '../../shared/problems.js';
import type { Data, Document } from './store.js';

/** From schema n to n + 1, at place n. */
type Lifts = Readonly<Record<number, (data: Data) => Data>>;

/** The one function that lifts a kind of document to what this release reads. */
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

/** A document with its data lifted. */
export const read = <T>(document: Document | undefined, liftKind: (data: Data) => T): Document<T> | undefined =>
  document && { ...document, data: liftKind(document.data) };
