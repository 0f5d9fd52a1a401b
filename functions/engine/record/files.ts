/** Files of a bootstrap, stored as documents: those it makes for its owner, and those its owner sent. */
import { collections } from '../../../shared/names.js';
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import { persist } from '../../store/persist.js';
import { type FileRecord, fileId, liftFile, read } from './documents.js';

/** Firestore's limit for a document is 1 MiB. */
const maxFileBytes = 900 * 1024;

export function fileWrite(bootstrapId: string, name: string, content: string, now: Date) {
  if (Buffer.byteLength(content) > maxFileBytes) {
    throw new Problem('payload-too-large', `${name} is larger than ${maxFileBytes / 1024} KiB.`);
  }
  const data: FileRecord = { schema: 1, bootstrapId, name, content, writtenAt: now.toISOString() };
  return { kind: 'set', collection: collections.files, id: fileId(bootstrapId, name), data } as const;
}

/** A generated file: `config-dc1`, `secrets-dc1`, … */
export async function readFile(
  { store }: Pick<Context, 'store'>,
  id: string,
  name: string,
): Promise<string | undefined> {
  return read(await persist(() => store.get(collections.files, fileId(id, name))), liftFile)?.data.content;
}
