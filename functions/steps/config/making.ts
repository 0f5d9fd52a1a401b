/**
 * What reads and makes the two files of a datacenter: with it come their schemas, YAML and SOPS. Steps load it when they first
 * need it, as every process that knows the steps would else read all of it before its first answer.
 */
export { writeInstallConfig } from '../../../shared/install-config/config.js';
export * from '../../../shared/install-config/secrets.js';
export { madeSecretsName, makeSecrets, readMadeSecrets } from './made-secrets.js';
export { checkPairs } from './pairs.js';
export { missingBeforeInstall } from './secrets-file.js';
export { sopsMeans } from './sops-means.js';
export { configFile, mergeSecrets, readStandingFiles, secretsFile } from './standing-files.js';
export { newServerCertificate, wantedFiles } from './wanted-files.js';
