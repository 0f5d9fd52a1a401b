/** The jumpbox of a project whose record is lost: enough to ask it, by SSH, for what lies there. */
import * as z from 'zod';
import { VmView } from './bootstrap.js';

export const LostJumpbox = z.object({
  /** Of the bootstrap that made it. */
  id: z.string(),
  /** Of the project. */
  name: z.string(),
  projectId: z.string(),
  jumpbox: VmView.pick({ internalIp: true, externalIp: true, hostKeys: true }),
});
export type LostJumpbox = z.infer<typeof LostJumpbox>;
