/** The machine types of the simulated zones: vCPUs and memory. */
import { notSimulated } from '../kernel/errors.js';
import { knownMachineTypes } from '../kernel/known.js';

export interface MachineType {
  readonly name: string;
  readonly cpus: number;
  readonly memoryMb: number;
  readonly isShared: boolean;
  readonly description: string;
}

/** Of a physical core, each has the part in the text. */
const shared: readonly MachineType[] = (
  [
    ['e2-micro', 1, '1/8'],
    ['e2-small', 2, '1/4'],
    ['e2-medium', 4, '1/2'],
  ] as const
).map(([name, gb, part]) => ({
  name,
  cpus: 2,
  memoryMb: gb * 1024,
  isShared: true,
  description: `Efficient Instance, 2 vCPU (${part} shared physical core) and ${gb} GB RAM`,
}));

/** Each family: GB per vCPU for standard, highmem and highcpu, and its sizes. */
const families: readonly { family: string; kinds: Readonly<Record<string, number>>; sizes: readonly number[] }[] = [
  { family: 'e2', kinds: { standard: 4, highmem: 8, highcpu: 1 }, sizes: [2, 4, 8, 16, 32] },
  { family: 'n1', kinds: { standard: 3.75, highmem: 6.5, highcpu: 0.9 }, sizes: [1, 2, 4, 8, 16, 32, 64, 96] },
  { family: 'n2', kinds: { standard: 4, highmem: 8, highcpu: 1 }, sizes: [2, 4, 8, 16, 32, 48, 64, 80] },
  { family: 'n2d', kinds: { standard: 4, highmem: 8, highcpu: 1 }, sizes: [2, 4, 8, 16, 32, 48, 64, 80, 96] },
  { family: 'c3', kinds: { standard: 4, highmem: 8, highcpu: 2 }, sizes: [4, 8, 22, 44, 88] },
];

const regular = families.flatMap(({ family, kinds, sizes }) =>
  Object.entries(kinds).flatMap(([kind, gb]) =>
    sizes.map(
      (cpus): MachineType => ({
        name: `${family}-${kind}-${cpus}`,
        cpus,
        memoryMb: Math.round(cpus * gb * 1024),
        isShared: false,
        description: `${cpus} vCPUs, ${cpus * gb} GB RAM`,
      }),
    ),
  ),
);

export const machineTypes: readonly MachineType[] = [...shared, ...regular];

const byName = new Map(machineTypes.map((one) => [one.name, one]));

export const machineTypeOf = (name: string): MachineType | undefined => byName.get(name);

/** Throws if Google has this machine type and no simulated zone does. */
export function checkMachineTypeLimit(name: string): void {
  if (Object.hasOwn(knownMachineTypes(), name)) throw notSimulated(`machine type ${name}`);
}
