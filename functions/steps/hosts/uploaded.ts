/** A file that the caller's machine put on the jumpbox: found by its hash, or asked for. */
import { type Upload, uploadPath } from '../../../shared/bootstrap/upload.js';
import type { Host } from '../../remote/remote.js';
import { runScript } from './script.js';

/** Where it lies, whole; undefined: only the caller's machine can go on. */
export async function uploaded(host: Host, upload: Upload): Promise<string | undefined> {
  const path = `/home/ubuntu/${uploadPath(upload)}`;
  const { exitCode } = await runScript(host, 'echo "$2  $1" | sha256sum --check --status', [path, upload.sha256]);
  return exitCode === 0 ? path : undefined;
}
