/** How a file of the caller's gets to the jumpbox, as the service answers it. */
import * as z from 'zod';

export const UploadWay = z
  .object({
    by: z.enum(['ssh', 'storage']).meta({ description: '`ssh`: by SFTP to the jumpbox. `storage`: by Cloud Storage' }),
    session: z
      .url()
      .optional()
      .meta({
        description:
          "URI of a resumable upload of Cloud Storage, for exactly the file's bytes. Whoever has it may send, for a week: keep it secret. Missing with `storage`: the file has arrived there",
        examples: ['https://storage.googleapis.com/upload/storage/v1/b/uploads/o?uploadType=resumable&upload_id=A1b2'],
      }),
  })
  .meta({ id: 'UploadWay', description: 'How a file gets to the jumpbox' });
export type UploadWay = z.infer<typeof UploadWay>;
