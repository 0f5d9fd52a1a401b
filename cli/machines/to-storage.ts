/** Sends a file of the caller's to Cloud Storage, if the service says that it goes there. Goes on with a kept session. */
import type { FileSource } from '../../functions/remote/remote.js';
import { Problem } from '../../shared/problems.js';
import type { Client } from '../service/client.js';
import type { Settings } from '../settings.js';
import { keptSession } from './kept-session.js';
import { sendToStorage } from './storage-upload.js';
import type { LocalUpload } from './upload-source.js';

interface Service {
  readonly client: Pick<Client, 'uploadWay'>;
  /** Of the bootstrap. */
  readonly id: string;
  readonly settings: Pick<Settings, 'configFolder' | 'redactor' | 'env'>;
}

/** `there`: an earlier try has sent it. Undefined: it goes to the jumpbox itself. Throws a transient Problem to be called again. */
export async function toStorage(
  { client, id, settings }: Service,
  file: LocalUpload,
  source: FileSource,
  sending: Omit<Parameters<typeof sendToStorage>[2], 'env'>,
): Promise<'sent' | 'there' | undefined> {
  const kept = keptSession(settings, id, file);
  let session = kept.read();
  if (session === undefined) {
    const way = await client.uploadWay(id, file.sha256);
    if (way.by === 'ssh') return undefined;
    if (way.session === undefined) return 'there';
    session = way.session;
    kept.write(session);
  }
  const end = await sendToStorage(session, source, { ...sending, env: settings.env });
  kept.forget();
  if (end === 'sent') return end;
  throw new Problem('unavailable', `The session in which ${file.name} went to Cloud Storage is over. It begins anew.`);
}
