/**
 * Gathers the code that reads and makes the two files of a datacenter, with their schemas, YAML and SOPS. Steps load it on
 * first use. Otherwise every process that loads the steps would load all of it before its first answer.
 */
export { baseDirIn } from '../../../shared/install-config/config.js';
export { configMeaning } from '../../../shared/install-config/edit-config.js';
export { optionsText } from '../../../shared/install-config/recovered-options.js';
export * from '../../../shared/install-config/secrets.js';
export { madeSecretsName, makeSecrets, readMadeSecrets } from './made-secrets.js';
export { checkPairs } from './pairs.js';
export { missingBeforeInstall } from './secrets-file.js';
export { sopsMeans } from './sops-means.js';
export { configFile, mergeSecrets, readStandingFiles, secretsFile } from './standing-files.js';
export { newServerCertificate, wantedFiles } from './wanted-files.js';
