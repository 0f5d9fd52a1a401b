/** The message that makes a lane look at an instance. It is only a hint: lost, late and duplicate messages are harmless. */
import * as z from 'zod';

export const StepMessage = z.object({
  schema: z.literal(1),
  /** For `preflightInstance`, the id of a preflight. */
  bootstrapId: z.string().min(1),
  /** `<step>` or `<step>:<key>`. */
  instance: z.string().min(1),
  generation: z.int().positive(),
});
export type StepMessage = z.infer<typeof StepMessage>;

/** No step has this name. A release that knows no preflights finds no such bootstrap, and drops the message. */
export const preflightInstance = 'preflight';
