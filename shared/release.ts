/**
 * The release of plinth's single executable that machines fetch: where it is, and the checksum by which they know it.
 * Called by the host steps with `context.config`; docs/build-binary.ts lays the files out the same way.
 */
import { Problem } from './problems.js';
import { version } from './version.js';

/** Beneath the base URL: `v<version>/plinth-linux-amd64`, with `SHA256SUMS` beside it. */
export const releaseFile = 'plinth-linux-amd64';
export const releaseFolder = `v${version}`;
export const sumsFile = 'SHA256SUMS';

/** The checksum of a file, out of what sha256sum has written. */
export const sumIn = (sums: string, file: string): string | undefined =>
  sums
    .split('\n')
    .find((line) => line.slice(64) === `  ${file}`)
    ?.slice(0, 64);

export interface Releases {
  /** Base URL, without a slash at its end. */
  readonly url?: string;
  /** Of this version's file, as 64 hex digits. */
  readonly sha256?: string;
}

/** Throws a Problem when this deployment cannot say where the release is, or how it would be known. */
export function releaseBinary({ releases: { url, sha256 } }: { readonly releases: Releases }): {
  readonly url: string;
  readonly sha256: string;
} {
  if (url === undefined || sha256 === undefined) {
    throw new Problem(
      'bad-input',
      url === undefined
        ? 'This deployment of plinth names no place where its releases are.'
        : `This deployment of plinth does not know the checksum of release ${version}, and fetches nothing that it cannot verify.`,
      {
        errors: [{ path: '--remote-cli-binary', message: 'must be given here' }],
        advice: `Give --remote-cli-binary, or let an operator set ${url === undefined ? 'PLINTH_RELEASES_URL' : 'PLINTH_RELEASE_SHA256'}.`,
      },
    );
  }
  return { url: `${url}/${releaseFolder}/${releaseFile}`, sha256 };
}
