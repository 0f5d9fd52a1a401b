/** Builds the secrets file of a datacenter from generated secrets, flags and existing files. Pure. */

import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import type { InstallConfig } from '../../../shared/install-config/config.js';
import {
  fieldSecret,
  findSecret,
  isDatacentersOwn,
  type Secret,
  type SecretsFile,
} from '../../../shared/install-config/secrets.js';
import { localRegistryUser } from '../topology.js';
import type { MadeSecrets } from './made-secrets.js';
import { mergeSecrets } from './standing-files.js';

export interface GivenSecretsParts {
  readonly options: BootstrapOptions;
  /** The secret flags, by option name. */
  readonly caller: Readonly<Record<string, string>>;
  readonly registryType: InstallConfig['registry']['type'];
  /** The password of the registry on the jumpbox. */
  readonly registryPassword: string | undefined;
}

/** The secrets that flags give. Without its flag, a secret stays while the feature it belongs to is wanted (see ownersOf). */
export function givenSecrets({ options, caller, registryType, registryPassword }: GivenSecretsParts): Secret[] {
  const field = (name: string, value: string | undefined): Secret[] =>
    value === undefined || value === '' ? [] : [fieldSecret(name, value)];
  const client = (name: string, id: string | undefined, secret: string | undefined): Secret[] =>
    id === undefined ? [] : [...field(`${name}Id`, id), ...field(`${name}Secret`, secret)];
  const { centralOtelUsername, clusterAdminEmail } = options;
  return [
    ...registrySecrets(registryType, options.registryUser, caller['forge1Pat'], registryPassword, field),
    ...client('forge1AppClient', options.forge1AppClientId, caller['forge1AppClientSecret']),
    ...client('forge2AppClient', options.forge2AppClientId, caller['forge2AppClientSecret']),
    ...client('forge3AppClient', options.forge3AppClientId, caller['forge3AppClientSecret']),
    ...client('forge4AppClient', options.forge4AppClientId, caller['forge4AppClientSecret']),
    ...client('oidcClient', options.oidcClientId, caller['oidcClientSecret']),
    ...field('logstorePassword', caller['externalLogstoreSecret']),
    ...field('metricsRemoteWriteUser', options.metricsRemoteWriteUser),
    ...field('metricsRemoteWritePassword', caller['metricsRemoteWritePassword']),
    ...(caller['centralOtelPassword'] === undefined
      ? []
      : [fieldSecret('centralOtelCreds', caller['centralOtelPassword'], centralOtelUsername)]),
    ...field('vaultPassword', caller['vaultPassword']),
    ...field('cluster-admin-email', clusterAdminEmail?.toLowerCase()),
  ];
}

function registrySecrets(
  type: InstallConfig['registry']['type'],
  user: string | undefined,
  token: string | undefined,
  localPassword: string | undefined,
  field: (name: string, value: string | undefined) => Secret[],
): Secret[] {
  switch (type) {
    case 'forge1':
      return [...field('registryUsername', user), ...field('registryPassword', token)];
    case 'local-container':
      return [...field('registryUsername', localRegistryUser), ...field('registryPassword', localPassword)];
    case 'artifact-registry':
      // No account keys. Machines get a token from their metadata server, which is the password of this user.
      return field('registryUsername', 'oauth2accesstoken');
  }
}

/**
 * Secrets that plinth writes and that belong to a flag. Without the flag they are removed. Whatever else people or hosts wrote
 * stays.
 */
const ownersOf: Readonly<Record<string, keyof BootstrapOptions>> = {
  registryUsername: 'registryUser',
  forge2AppClientId: 'forge2AppClientId',
  forge2AppClientSecret: 'forge2AppClientId',
  forge3AppClientId: 'forge3AppClientId',
  forge3AppClientSecret: 'forge3AppClientId',
  forge4AppClientId: 'forge4AppClientId',
  forge4AppClientSecret: 'forge4AppClientId',
  oidcClientId: 'oidcClientId',
  oidcClientSecret: 'oidcClientId',
  logstorePassword: 'externalLogstoreEndpoint',
  metricsRemoteWriteUser: 'metricsRemoteWriteUrl',
  metricsRemoteWritePassword: 'metricsRemoteWriteUrl',
  centralOtelCreds: 'centralOtelEndpoint',
  vaultPassword: 'vaultUri',
  'cluster-admin-email': 'clusterAdminEmail',
};

const isOrphan = (name: string, options: BootstrapOptions): boolean => {
  const owner = Object.hasOwn(ownersOf, name) ? ownersOf[name] : undefined;
  return owner !== undefined && (options[owner] === undefined || options[owner] === '');
};

export interface SecretsFileParts {
  readonly options: BootstrapOptions;
  readonly made: MadeSecrets;
  /** The existing file, with the caller's edits. */
  readonly standing: SecretsFile | undefined;
  readonly given: readonly Secret[];
}

/**
 * The secrets of the first datacenter. Existing ones, which a person may have edited, override generated ones. Flags override
 * both.
 */
export function secretsOfFirst({ options, made, standing, given }: SecretsFileParts): SecretsFile {
  const { secrets } = mergeSecrets(asFile(made.secrets), standing) ?? asFile(made.secrets);
  return replace(asFile(secrets.filter(({ name }) => !isOrphan(name, options))), given);
}

/** The secrets of a second datacenter: its own and existing ones, and all others as the first has them. */
export function secretsOfOther({ first, ...own }: SecretsFileParts & { readonly first: SecretsFile }): SecretsFile {
  const mine = secretsOfFirst(own);
  const copied = first.secrets.filter(({ name }) => !isDatacentersOwn(name));
  return {
    version: 1,
    secrets: [...mine.secrets.filter(({ name }) => findSecret(asFile(copied), name) === undefined), ...copied],
  };
}

const asFile = (secrets: readonly Secret[]): SecretsFile => ({ version: 1, secrets: [...secrets] });

const replace = (file: SecretsFile, secrets: readonly Secret[]): SecretsFile => {
  const byName = new Map(file.secrets.map((secret) => [secret.name, secret]));
  for (const secret of secrets) byName.set(secret.name, secret);
  return asFile([...byName.values()]);
};

/** What an install needs and nobody has given yet, as names of keys and files for people. Only with `--custom-pg-ip`. */
export function missingBeforeInstall(config: InstallConfig, secrets: SecretsFile, suffix: string): string[] {
  if (config.postgres.mode !== 'external') return [];
  return [
    ...(config.postgres.caCertPem === undefined ? [`postgres.caCertPem in config${suffix}.yaml`] : []),
    ...(findSecret(secrets, 'postgresPassword') === undefined ? [`postgresPassword in prod${suffix}.vault.yaml`] : []),
  ];
}
