/**
 * A file of the caller's that a machine needs: what travels of it in place of its path is name, hash and size, and so a changed
 * file is a changed option. The content goes to the jumpbox over SSH, by the command line; never through a function.
 */
export interface Upload {
  /** Without folders. */
  readonly name: string;
  /** Hex. */
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

/** Beneath the home folder of `ubuntu` on the jumpbox, where what was uploaded waits for the steps that use it. */
export const uploadPath = ({ sha256 }: Pick<Upload, 'sha256'>): string => `.plinth/uploads/${sha256}`;
