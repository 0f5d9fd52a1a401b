/** What cleanup found and did, or would do. Its function replies with it, and the API shows it to operators. */
import * as z from 'zod';
import { text } from '../api.js';

const Found = z
  .object({
    projectId: text('Of the project', 'my-first-1a2b3c'),
    bootstrapId: text(
      'Of its record; without one, the project is known by its labels alone',
      'b0123456789abcde',
    ).optional(),
    owner: text('Of the record; a project without one has none that is known', 'alice@example.com').optional(),
    why: text('Why it is in this list', 'Its time is over.'),
  })
  .meta({ id: 'CleanupFound', description: 'A project that cleanup has looked at' });
/** A list of projects that cleanup found. */
export const listed = (description: string) => z.array(Found).meta({ description });

export const CleanupReport = z.object({
  remove: listed('Handed to teardown; in a dry run: would be'),
  keep: listed('Its time looks over, and it stays'),
  failed: listed('It could not be handed over this time'),
  more: z.boolean().meta({
    description:
      'There is more than one run takes; another follows at once if this one removes something, else the next one of the schedule',
    examples: [false],
  }),
});
export type CleanupReport = z.infer<typeof CleanupReport>;
export type CleanupFound = z.infer<typeof Found>;
