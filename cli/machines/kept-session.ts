/**
 * Keeps the URI of an upload's session, so that the same command goes on with it after a kill. Whoever has it may send the
 * file, so only the caller can read it.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Upload } from '../../shared/bootstrap/upload.js';
import { makeSecretFolder, readIfThere, secretMode, writeWhole } from '../files/files.js';

export function keptSession(configFolder: string, bootstrapId: string, { sha256 }: Pick<Upload, 'sha256'>) {
  const folder = join(configFolder, 'uploads');
  const path = join(folder, `${bootstrapId}-${sha256}`);
  return {
    read: (): string | undefined => readIfThere(path)?.trim(),
    write(session: string): void {
      makeSecretFolder(folder);
      writeWhole(path, `${session}\n`, secretMode);
    },
    forget: (): void => rmSync(path, { force: true }),
  };
}
