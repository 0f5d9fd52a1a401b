/** What an install needs of a PostgreSQL server of the caller's own (`--custom-pg-ip`). Pure. */
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import { installs } from './k0s.js';

/** An install that skips PostgreSQL needs no values for it. */
export const needsPostgres = (options: BootstrapOptions): boolean =>
  installs(options) && !options.installSkipSteps.includes('postgres');

/** The values that only a person can give, with the file of each, where no file has been written yet. */
export const valuesOfOwnPostgres = (options: BootstrapOptions): readonly string[] =>
  options.customPgIp !== undefined && needsPostgres(options)
    ? ['postgres.caCertPem in config.yaml', 'postgresPassword in prod.vault.yaml']
    : [];
