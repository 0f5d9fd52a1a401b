/** The message that makes a lane look at an instance. It is only a hint: lost, late and duplicate messages are harmless. */
import * as z from 'zod';

export const StepMessage = z.object({
  schema: z.literal(1),
  bootstrapId: z.string().min(1),
  /** `<step>` or `<step>:<key>`. */
  instance: z.string().min(1),
  generation: z.int().positive(),
});
export type StepMessage = z.infer<typeof StepMessage>;
