import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { linuxAmd64Fault } from '../../shared/linux-binary.js';

/** A header as the System V ABI has it, for a program on amd64. */
function header(changes: Readonly<Record<number, number>> = {}): Uint8Array {
  const bytes = new Uint8Array(64);
  bytes.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0]);
  bytes[16] = 2;
  bytes[18] = 62;
  for (const [i, value] of Object.entries(changes)) bytes[Number(i)] = value;
  return bytes;
}

const cases: readonly { readonly name: string; readonly bytes: Uint8Array; readonly fault: RegExp | undefined }[] = [
  { name: 'a program for amd64', bytes: header(), fault: undefined },
  { name: 'one that may be loaded anywhere', bytes: header({ 16: 3 }), fault: undefined },
  { name: "one that says it is GNU's", bytes: header({ 7: 3 }), fault: undefined },
  { name: 'one for arm64', bytes: header({ 18: 183 }), fault: /arm64/ },
  { name: 'a 32-bit one', bytes: header({ 4: 1, 18: 3 }), fault: /32-bit x86/ },
  { name: 'an x32 one', bytes: header({ 4: 1 }), fault: /x32/ },
  { name: 'a big-endian one', bytes: header({ 5: 2 }), fault: /processor/ },
  { name: "FreeBSD's", bytes: header({ 7: 9 }), fault: /another system/ },
  { name: 'an object file', bytes: header({ 16: 1 }), fault: /object file/ },
  { name: 'half a header', bytes: header().subarray(0, 40), fault: /cut off/ },
  { name: 'an empty file', bytes: new Uint8Array(), fault: /empty/ },
  { name: 'a script', bytes: Buffer.from('#!/bin/sh\n'), fault: /script/ },
  { name: "a Mac's program", bytes: Uint8Array.from([0xcf, 0xfa, 0xed, 0xfe]), fault: /macOS/ },
  { name: 'one for Windows', bytes: Buffer.from('MZ\x90'), fault: /Windows/ },
  { name: 'a text', bytes: Buffer.from('plinth'), fault: /not an executable/ },
];

describe('a Linux amd64 executable', () => {
  for (const { name, bytes, fault } of cases) {
    it(`${fault === undefined ? 'is' : 'is not'} ${name}`, () => {
      const found = linuxAmd64Fault(bytes);
      if (fault === undefined) expect(found).to.equal(undefined);
      else expect(found).to.match(fault);
    });
  }

  if (process.platform === 'linux' && process.arch === 'x64') {
    it('is the Node that runs this', () => {
      expect(linuxAmd64Fault(readFileSync(process.execPath))).to.equal(undefined);
    });
  }
});
