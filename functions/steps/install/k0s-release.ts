/** Where a release of k0s is, and the refusal of one that is not. */
import { type BootstrapOptions, flagName } from '../../../shared/bootstrap/options.js';
import { Problem } from '../../../shared/problems.js';

export interface K0sRelease {
  readonly version: string;
  readonly folder: string;
  /** The program's name in the folder. */
  readonly name: string;
  readonly programUrl: string;
  /** Checksums of all files, in the form of sha256sum. */
  readonly sumsUrl: string;
}

export function k0sRelease(
  { k0sReleasesUrl }: { readonly k0sReleasesUrl: string },
  { kubeDistroVersion: version }: Pick<BootstrapOptions, 'kubeDistroVersion'>,
): K0sRelease {
  const folder = `${k0sReleasesUrl}/${encodeURIComponent(version)}`;
  const name = `k0s-${version}-amd64`;
  return {
    version,
    folder,
    name,
    programUrl: `${folder}/${encodeURIComponent(name)}`,
    sumsUrl: `${folder}/sha256sums.txt`,
  };
}

const flag = flagName('kubeDistroVersion');

export const noRelease = ({ version, folder }: K0sRelease): Problem =>
  new Problem('bad-input', `${flag} ${version} is no release of k0s: ${folder} is not there.`, {
    errors: [{ path: flag, message: `names ${version}, which is no release of k0s` }],
    advice: `Run the same command again with a version of k0s that has been released, or without ${flag}.`,
  });
