/** The release of plinth's single executable that machines fetch: where it is, and the checksum that identifies it. */
import { Problem } from './problems.js';
import { version } from './version.js';

/** The folder of this version beneath the base URL. */
export const releaseFolder = `v${version}`;

/** The name of the executable wherever it is published. */
export const releaseFile = 'plinth-linux-amd64';

/**
 * The executable's path beneath the base URL. The path holds the checksum, because two releases (commits) may have the same
 * version. So each deployment, even one that was rolled back, finds the file that it knows, and none is ever overwritten.
 */
export const releasePath = (sha256: string): string => `${releaseFolder}/${sha256}/${releaseFile}`;

/** A file in the form of sha256sum that holds releasePath and checksum, for publishing the executable and verifying it. */
export const releaseSum = `${releaseFile}.sha256`;

/** The checksum in such a file. Undefined if it is malformed or belongs to another version. */
export function sumOfRelease(text: string): string | undefined {
  const [, sha256, path] = /^([0-9a-f]{64}) {2}(\S+)\n$/.exec(text) ?? [];
  return sha256 !== undefined && path === releasePath(sha256) ? sha256 : undefined;
}

export interface Releases {
  /** Base URL, without a trailing slash: `gs://<bucket>/<folder>` of a private bucket, or what needs no credentials. */
  readonly url?: string;
  /** Checksum of this version's file, as 64 hex digits. */
  readonly sha256?: string;
}

/** Throws a Problem if this deployment doesn't know where the release is, or which checksum it has. */
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

/** Bucket and object of a `gs://` URL. Undefined for any other. */
export function storedAt(url: string): { readonly bucket: string; readonly object: string } | undefined {
  const [, bucket, object] = /^gs:\/\/([^/]+)\/(.+)$/.exec(url) ?? [];
  return bucket === undefined || object === undefined ? undefined : { bucket, object };
}

/** The command that puts a release in its bucket. */
export const putRelease = ({ url, sha256 }: { readonly url: string; readonly sha256: string }): string =>
  `npm run build:binary && gcloud storage cp --no-clobber dist/release/${releasePath(sha256)} ${url} (docs/operate/deploy.md, section 4)`;

/** Refuses a release that is not in its bucket. `said` is Google's answer. */
export const missingRelease = (release: { readonly url: string; readonly sha256: string }, said: string): Problem =>
  new Problem(
    'bad-input',
    `Jumpboxes fetch plinth from ${release.url}, and it is not there, or this deployment may not read it: ${said}`,
    {
      errors: [{ path: '--remote-cli-binary', message: 'must be given here until the release is in its bucket' }],
      advice: `An operator puts it there from the release's sources: ${putRelease(release)}. Then run the same command again.`,
    },
  );
