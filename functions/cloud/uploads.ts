/**
 * The bucket of uploads: sessions in which callers send big files to Cloud Storage themselves, and the objects that these
 * become. See https://cloud.google.com/storage/docs/performing-resumable-uploads.
 */
import { Problem } from '../../shared/problems.js';
import { orUndefined } from './errors.js';
import { createRest, type Transport } from './rest.js';

/** Where a file lies in the bucket of uploads. */
interface UploadPlace {
  readonly bucket: string;
  readonly object: string;
}

export function createUploads(transport: Transport) {
  const rest = createRest(transport, 'storage');
  const pathOf = ({ bucket, object }: UploadPlace): string => `/storage/v1/b/${bucket}/o/${encodeURIComponent(object)}`;

  return {
    /** Its size in bytes. Undefined if it is not there. */
    async size(place: UploadPlace): Promise<number | undefined> {
      const doing = `look at the upload ${place.object}`;
      const found = await orUndefined(
        rest<{ size: string }>('GET', pathOf(place), { doing, query: { fields: 'size' } }),
      );
      return found === undefined ? undefined : Number(found.size);
    },

    /**
     * Begins a session for exactly so many bytes, which overwrites nothing. Returns its URI. Whoever has that may send, for a
     * week: never store or log it.
     */
    async begin({ bucket, object }: UploadPlace, bytes: number): Promise<string> {
      const doing = `begin the upload ${object}`;
      const session = await rest<string>('POST', `/upload/storage/v1/b/${bucket}/o`, {
        doing,
        query: { uploadType: 'resumable', name: object, ifGenerationMatch: '0' },
        headers: { 'x-upload-content-length': String(bytes) },
        body: {},
        as: 'location',
      });
      if (session === '') throw new Problem('cloud-unavailable', `Could not ${doing}: the answer names no session.`);
      return session;
    },

    /** One that is gone already is no error. */
    async remove(place: UploadPlace): Promise<void> {
      await orUndefined(rest('DELETE', pathOf(place), { doing: `delete the upload ${place.object}`, as: 'text' }));
    },
  };
}
