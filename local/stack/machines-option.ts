/** `--machines` of `npm run local` and `npm run demo`: whether machines are behind VMs, if this computer can hold them. */
import { embedded } from '../machines/embedded.js';

export type MachinesChoice = 'embedded' | 'none';

const choices: readonly MachinesChoice[] = ['embedded', 'none'];

export const machinesUsage = `  --machines M         embedded (default, where it can be): SSH servers and sandboxes, no root · none: VMs are but entries
`;

/**
 * Reads the choice. Throws a sentence for people if it is unknown, or was given and is not possible here.
 *
 * The default is embedded. The stack then says so if it runs without machines. The disks will be in `folder`.
 */
export function readMachines(given: string | undefined, folder: string): MachinesChoice {
  const choice = choices.find((each) => each === (given ?? 'embedded'));
  if (choice === undefined) throw new Error(`--machines must be ${choices.join(' or ')}, not "${given}".`);
  if (given === undefined || choice === 'none') return choice;
  const why = embedded.whyNot(folder);
  if (why !== undefined) throw new Error(`--machines ${choice} is not possible: ${why}.`);
  return choice;
}
