/**
 * Keeps the URI of an upload's session, so that the same command goes on with it after a kill. Whoever has it may send the
 * file, so only the caller can read it.
 */
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Upload } from '../../shared/bootstrap/upload.js';
import { fileWord, makeSecretFolder, secretMode, writeWhole } from '../files/files.js';
import { readSecretTextIfThere, registerText } from '../files/secret-text.js';
import type { Settings } from '../settings.js';

const folderIn = (configFolder: string): string => join(configFolder, 'uploads');

export function keptSession(
  settings: Pick<Settings, 'configFolder' | 'redactor'>,
  bootstrapId: string,
  { sha256 }: Pick<Upload, 'sha256'>,
) {
  const { configFolder } = settings;
  const folder = folderIn(configFolder);
  const path = join(folder, `${fileWord(bootstrapId)}-${fileWord(sha256)}`);
  return {
    read: (): string | undefined => readSecretTextIfThere(path, 'upload session', settings)?.trim(),
    write(session: string): void {
      makeSecretFolder(folder);
      // Bootstraps also end by their time, and nobody runs cleanup then.
      forgetSessions(configFolder);
      writeWhole(path, `${registerText(session, 'upload session', settings)}\n`, secretMode);
    },
    forget: (): void => rmSync(path, { force: true }),
  };
}

/** As Google ends a session: https://cloud.google.com/storage/docs/resumable-uploads */
const longestMs = 7 * 86_400_000;

/** Deletes the sessions that are over by now, and those of a bootstrap that goes. */
export function forgetSessions(configFolder: string, bootstrapId?: string): void {
  const folder = folderIn(configFolder);
  for (const name of namesIn(folder)) {
    const path = join(folder, name);
    const { mtimeMs = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
    if (name.slice(0, -65) === bootstrapId || Date.now() - mtimeMs > longestMs) rmSync(path, { force: true });
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
