/**
 * Examines the file of `--remote-cli-binary` before anything is made. Otherwise a wrong file would be found much later, on the
 * jumpbox.
 */
import { readSync } from 'node:fs';
import { elfHeaderBytes, linuxAmd64Fault } from '../../shared/linux-binary.js';
import { reason, withRegularFile } from '../files/files.js';

/** Why it cannot run on a machine. Undefined if nothing speaks against it. */
export function binaryFault(path: string): string | undefined {
  try {
    return withRegularFile(path, (file) => {
      const bytes = Buffer.alloc(elfHeaderBytes);
      return linuxAmd64Fault(bytes.subarray(0, readSync(file, bytes, 0, elfHeaderBytes, 0)));
    });
  } catch (error) {
    return reason(error);
  }
}
