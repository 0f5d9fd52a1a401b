/**
 * Examines the file of `--remote-cli-binary` before anything is made. Otherwise a wrong file would be found much later, on the
 * jumpbox.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { elfHeaderBytes, linuxAmd64Fault } from '../../shared/linux-binary.js';
import { reason } from '../files/files.js';

/** Why it cannot run on a machine. Undefined if nothing speaks against it. */
export function binaryFault(path: string): string | undefined {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    return reason(error);
  }
  try {
    if (fstatSync(file).isDirectory()) return 'it is a folder';
    const bytes = Buffer.alloc(elfHeaderBytes);
    return linuxAmd64Fault(bytes.subarray(0, readSync(file, bytes, 0, elfHeaderBytes, 0)));
  } catch (error) {
    return reason(error);
  } finally {
    closeSync(file);
  }
}
