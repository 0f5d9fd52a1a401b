/** The semantic version of plinth, as package.json has it (a test compares): for bundles and the single executable, which have no package.json. */
export const version = '3.0.0';

/** The release whose command reference the flags of `beta bootstrap-cloud` follow. It moves with that reference alone. */
export const flagsRelease = '2.113.0';

/** What `plinth --version --json` names, beside the version. */
export const programName = 'plinth';

/** Which header of every reply names the version of the service. */
export const versionHeader = 'plinth-version';
