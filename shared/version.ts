/**
 * The semantic version of plinth, equal to that in package.json (a test compares). Bundles and the single executable have no
 * package.json.
 */
export const version = '3.0.0';

/** The release whose command reference the flags of `beta bootstrap-cloud` follow. It changes only with that reference. */
export const flagsRelease = '2.113.0';

/** The name that `plinth --version --json` prints beside the version. */
export const programName = 'plinth';

/** The header of every reply that names the version of the service. */
export const versionHeader = 'plinth-version';
