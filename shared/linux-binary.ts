/** Decides whether a file could run on plinth's machines, which are Linux on amd64. */

/** How many bytes from the start of the file are examined. */
export const elfHeaderBytes = 64;

const magic = [0x7f, 0x45, 0x4c, 0x46];
/** Offsets and values of the ELF header, System V ABI chapter 4. */
const at = { class: 4, data: 5, osAbi: 7, type: 16, machine: 18 };
const class64 = 2;
const littleEndian = 1;
/** Linux's own programs have System V (0). Some linkers write GNU (3). */
const linuxAbis = [0, 3];
/**
 * A fixed-address program, or a position-independent one. Shared libraries have the same type, and the header can't tell them
 * apart.
 */
const executableTypes = [2, 3];
const amd64 = 62;
const machines: Readonly<Record<number, string>> = { 3: '32-bit x86', 40: '32-bit ARM', 183: 'arm64', 243: 'RISC-V' };

/** Why these bytes are not the start of a Linux amd64 executable, as the end of a sentence. Undefined if they are. */
export function linuxAmd64Fault(bytes: Uint8Array): string | undefined {
  if (bytes.length === 0) return 'is empty';
  if (bytes[0] === 0x23 && bytes[1] === 0x21) return 'is a script, not a Linux amd64 executable';
  if (bytes[0] === 0x4d && bytes[1] === 0x5a) return 'is a Windows program, not a Linux amd64 executable';
  if (isMachO(bytes)) return 'is a macOS program, not a Linux amd64 executable';
  if (!magic.every((byte, i) => bytes[i] === byte)) return 'is not an executable';
  if (bytes.length < elfHeaderBytes) return 'is cut off: its header is not whole';
  const header = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes[at.data] !== littleEndian) return 'is an executable for another kind of processor than amd64';
  const machine = header.getUint16(at.machine, true);
  if (machine !== amd64 || bytes[at.class] !== class64) {
    const built = machine === amd64 ? 'x32' : machines[machine];
    return `is an executable for ${built ?? 'another kind of processor'}, not for amd64`;
  }
  if (!linuxAbis.includes(bytes[at.osAbi] ?? -1)) return 'is an executable for another system than Linux';
  if (!executableTypes.includes(header.getUint16(at.type, true)))
    return 'is an object file or a core dump, not a program';
  return undefined;
}

const isMachO = ([a, b, c, d]: Uint8Array): boolean =>
  (a === 0xcf || a === 0xce ? b === 0xfa && c === 0xed && d === 0xfe : false) ||
  (a === 0xca && b === 0xfe && c === 0xba && d === 0xbe);
