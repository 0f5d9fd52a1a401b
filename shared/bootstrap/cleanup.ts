/** What cleanup found and did, or would do: the reply of its function, and of the API to operators. */
import * as z from 'zod';

const Found = z.object({
  projectId: z.string(),
  /** Without one, the project is known by its labels alone. */
  bootstrapId: z.string().optional(),
  /** Of the record; a project without one has none that is known. */
  owner: z.string().optional(),
  why: z.string(),
});

export const CleanupReport = z.object({
  /** Handed to teardown; in a dry run: would be. */
  remove: z.array(Found),
  /** Its time looks over, and it stays. */
  keep: z.array(Found),
  /** It could not be handed over this time. */
  failed: z.array(Found),
  /** There is more than one run takes; another follows at once if this one removes something, else the next one of the schedule. */
  more: z.boolean(),
});
export type CleanupReport = z.infer<typeof CleanupReport>;
export type CleanupFound = z.infer<typeof Found>;
