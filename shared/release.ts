/** The release of plinth's single executable that machines fetch: where it is, and the checksum by which they know it. */
import { Problem } from './problems.js';
import { version } from './version.js';

/** All that lies beneath the base URL of this version. */
export const releaseFolder = `v${version}`;

/** What the executable is called wherever it is published. */
export const releaseFile = 'plinth-linux-amd64';

/**
 * Of the executable, beneath the base URL. By its checksum, as two releases (commits) may be of one version: each deployment,
 * also one that was rolled back, finds the file that it knows, and none is ever overwritten.
 */
export const releasePath = (sha256: string): string => `${releaseFolder}/${sha256}/${releaseFile}`;

/** Tells releasePath and checksum, in the form of sha256sum: for whoever puts the executable there, and whoever looks after it. */
export const releaseSum = `${releaseFile}.sha256`;

/** The checksum in such a file; undefined where it is none, or of another version. */
export function sumOfRelease(text: string): string | undefined {
  const [, sha256, path] = /^([0-9a-f]{64}) {2}(\S+)\n$/.exec(text) ?? [];
  return sha256 !== undefined && path === releasePath(sha256) ? sha256 : undefined;
}

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
  return { url: `${url}/${releasePath(sha256)}`, sha256 };
}
