/** What jobs said on machines, as the API tells it: free of secrets, kept by instance. Read by the route table, the engine and the CLI. */
import * as z from 'zod';

const at = z.iso.datetime();

export const LogView = z.object({
  instance: z.string(),
  /** The last in which it said something, and the byte where that begins. */
  generation: z.int(),
  begins: z.int(),
  /** All that is stored. */
  bytes: z.int(),
});
export type LogView = z.infer<typeof LogView>;

export const LogPage = z.object({
  instance: z.string(),
  chunks: z.array(z.object({ offset: z.int(), generation: z.int(), at, text: z.string() })),
  /** The `offset` to go on with. */
  next: z.int(),
  /** There may be more now. */
  more: z.boolean(),
});
export type LogPage = z.infer<typeof LogPage>;
