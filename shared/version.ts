/** The version of plinth, as package.json has it (a test compares): for bundles and the single executable, which have no package.json. */
export const version = '2.113.0';

/** Which header of every reply names the version of the service. */
export const versionHeader = 'plinth-version';
