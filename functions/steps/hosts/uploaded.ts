/** Finds a file that the caller's machine uploaded to the jumpbox, by its hash. */
import { type Upload, uploadPath } from '../../../shared/bootstrap/upload.js';
import type { Host } from '../../remote/remote.js';
import { runScript } from './script.js';

/** The path of the whole file. Undefined if only the caller's machine can provide it. */
export async function uploaded(host: Host, upload: Upload): Promise<string | undefined> {
  const path = `/home/ubuntu/${uploadPath(upload)}`;
  const { exitCode } = await runScript(host, 'echo "$2  $1" | sha256sum --check --status', [path, upload.sha256]);
  return exitCode === 0 ? path : undefined;
}
