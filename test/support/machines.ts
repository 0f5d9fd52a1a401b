/** For tests that need simulated VMs which answer SSH. */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { embedded } from '../../local/machines/embedded.js';
import type { Tier } from '../../local/machines/tier.js';
import { version as own } from '../../shared/version.js';

/** Throws where this computer can hold none. */
export function needMachines(tier: Tier = embedded): void {
  const why = tier.whyNot(tmpdir());
  if (why !== undefined) throw new Error(`This computer can hold no such machines: ${why}`);
}

/**
 * A Linux amd64 executable of so many bytes that answers as plinth does when it is asked for its version, whatever it is asked,
 * and is another for another `seed`. Returns its path.
 */
export function makeExecutable(path: string, size: number, seed = 'plinth', version = own): string {
  const answer = Buffer.from(`${JSON.stringify({ type: 'result', exitCode: 0, name: 'plinth', version })}\n`);
  const bytes = Buffer.alloc(size, createHash('sha256').update(seed).digest());
  // What follows an executable's own bytes does not trouble it.
  executableSaying(answer).copy(bytes);
  writeFileSync(path, bytes, { mode: 0o755 });
  return path;
}

/** As little as the kernel takes: ELF's header, one segment with all of it, and code that writes and exits. */
function executableSaying(text: Buffer): Buffer {
  const [base, headers] = [0x400000n, 64 + 56];
  const code = Buffer.from(
    [
      'b801000000', // mov eax, 1: write
      'bf01000000', // mov edi, 1: to standard output
      '488d3510000000', // lea rsi, [rip + 16]: what follows the code
      'ba00000000', // mov edx, the length
      '0f05', // syscall
      'b83c000000', // mov eax, 60: exit
      '31ff', // xor edi, edi: with 0
      '0f05', // syscall
    ].join(''),
    'hex',
  );
  code.writeUInt32LE(text.length, 18);
  const header = Buffer.alloc(headers);
  header.write('\x7fELF\x02\x01\x01', 'latin1');
  header.writeUInt16LE(2, 16);
  header.writeUInt16LE(62, 18);
  header.writeUInt32LE(1, 20);
  header.writeBigUInt64LE(base + BigInt(headers), 24);
  header.writeBigUInt64LE(64n, 32);
  for (const [at, value] of [
    [52, 64],
    [54, 56],
    [56, 1],
  ] as const)
    header.writeUInt16LE(value, at);
  // To be loaded, readable and executable.
  header.writeUInt32LE(1, 64);
  header.writeUInt32LE(5, 68);
  const length = BigInt(headers + code.length + text.length);
  for (const [at, value] of [
    [80, base],
    [88, base],
    [96, length],
    [104, length],
    [112, 0x1000n],
  ] as const)
    header.writeBigUInt64LE(value, at);
  return Buffer.concat([header, code, text]);
}
