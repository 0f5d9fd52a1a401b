/** All of doctor's checks, in the order in which they are shown. */
import type { CommandContext } from '../frame/command.js';
import type { Check } from './check.js';
import { fileChecks, sshChecks } from './computer.js';
import { serviceChecks } from './service.js';

export const allChecks = async (call: CommandContext): Promise<Check[]> => [
  ...(await fileChecks(call)),
  ...(await serviceChecks(call)),
  ...(await sshChecks(call)),
];
