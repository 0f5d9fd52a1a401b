/** The jumpbox of a project whose record is lost: enough to fetch its files over SSH. */
import * as z from 'zod';
import { text } from '../api.js';
import { MachineLogin, VmView } from './bootstrap.js';

export const LostJumpbox = z
  .object({
    id: text('Of the bootstrap that made it', 'b0123456789abcde'),
    name: text('Of the project', 'my first'),
    projectId: text('Of the project', 'my-first-1a2b3c'),
    zone: text('Of the jumpbox', 'europe-west4-a').optional(),
    jumpbox: VmView.pick({ internalIp: true, externalIp: true, tunnel: true, hostKeys: true }).meta({
      description: 'Where it is, and the host keys that it published: the only ones to trust',
    }),
    machineLogin: MachineLogin.optional(),
  })
  .meta({ id: 'LostJumpbox', description: 'The jumpbox of a project whose record is lost' });
export type LostJumpbox = z.infer<typeof LostJumpbox>;
