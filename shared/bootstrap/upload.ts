/**
 * A file of the caller's that a machine needs. The request carries its name, hash and size in place of its path, so a changed
 * file is a changed option. The command line sends the content to the jumpbox over SSH, never through a function.
 */
export interface Upload {
  /** The file name alone, without folders. */
  readonly name: string;
  /** In hexadecimal. */
  readonly sha256: string;
  readonly bytes: number;
}

export const uploadForm = /^([^/]{1,255})@sha256:([\da-f]{64}):(\d{1,13})$/;

export const uploadText = ({ name, sha256, bytes }: Upload): string => `${name}@sha256:${sha256}:${bytes}`;

export function readUpload(text: string): Upload | undefined {
  const [, name, sha256, bytes] = uploadForm.exec(text) ?? [];
  if (name === undefined || sha256 === undefined || bytes === undefined) return undefined;
  return { name, sha256, bytes: Number(bytes) };
}

/** Relative to the home folder of `ubuntu` on the jumpbox. Uploaded files wait there for the steps that use them. */
export const uploadsFolder = '.plinth/uploads';
export const uploadPath = ({ sha256 }: Pick<Upload, 'sha256'>): string => `${uploadsFolder}/${sha256}`;
