/**
 * The first instance of a removal: it deletes nothing, and ends the removal if something forbids it, such as a lien on the
 * project.
 */
import * as z from 'zod';
import { type Instance, titleOf } from '../plan.js';
import { type AnyStep, defineStep, done, doneWith } from '../step.js';

/** Undefined: nothing can forbid the removal of these instances. */
export function undoCheckOf(undone: readonly Instance[]): Instance | undefined {
  const checked = undone.filter(({ step }) => step.checkUndo !== undefined);
  if (checked.length === 0) return undefined;
  const step = defineStep({
    name: 'undo-check',
    title: 'Check for liens',
    lane: 'cloud',
    needs: {},
    describe: () => [],
    output: z.object({}),
    observe: async () => ({}),
    run: async () => done,
    goes: 'undo',
    async undo({ context, bootstrap }) {
      for (const each of checked) await each.step.checkUndo?.({ context, bootstrap });
      return doneWith(`nothing forbids the deletion of: ${checked.map(titleOf).join(', ')}`);
    },
  }) as unknown as AnyStep;
  return { id: step.name, step, key: '', lane: step.lane, fillings: {}, needs: [] };
}
