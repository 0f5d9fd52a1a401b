/** Files of a bootstrap, stored as documents: those it makes for its owner, and those its owner sent. */
import { addSeconds } from '../../../shared/add-seconds.js';
import { collections } from '../../../shared/names.js';
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import { type FileRecord, fileId, liftFile, read } from './documents.js';

/** Firestore's limit for a document is 1 MiB. */
const maxFileBytes = 900 * 1024;

/** Seconds until cleanup looks at something outside of a project again. */
export const outsideSeconds = 86_400;

/** A thing outside of the project that a file is about. */
export interface Outside {
  readonly outside: string;
  /** Of the bootstrap. */
  readonly projectId: string;
  readonly instance: string;
}

export function fileWrite(bootstrapId: string, name: string, content: string, now: Date, outside?: Outside) {
  if (Buffer.byteLength(content) > maxFileBytes) {
    throw new Problem('payload-too-large', `${name} is larger than ${maxFileBytes / 1024} KiB.`);
  }
  const looked = outside === undefined ? {} : { ...outside, lookAt: addSeconds(now, outsideSeconds) };
  const data: FileRecord = { schema: 1, bootstrapId, name, content, writtenAt: now.toISOString(), ...looked };
  return { kind: 'set', collection: collections.files, id: fileId(bootstrapId, name), data } as const;
}

/** A generated file: `config-dc1`, `secrets-dc1`, … */
export async function readFile(
  { store }: Pick<Context, 'store'>,
  id: string,
  name: string,
): Promise<string | undefined> {
  return read(await store.get(collections.files, fileId(id, name)), liftFile)?.data.content;
}
