/**
 * The options and secrets of a bootstrap as its jumpbox holds them, for a recovery that is given nothing of them. A
 * jumpbox may have lost its file of options, and then only what its config shows is known. Pure.
 */
import * as z from 'zod';
import {
  type BootstrapOptions,
  type GivenOptions,
  isLocal,
  isSecret,
  type Option,
  optionNames,
  type SecretOption,
  type SecretOptions,
} from '../bootstrap/options.js';
import { fillOptions } from '../bootstrap/rules.js';
import type { InstallConfig } from './config.js';
import { findSecret, type SecretsFile } from './secrets.js';

const OptionsFile = z.object({
  version: z.literal(1),
  bootstrap: z.string(),
  options: z.record(z.string(), z.unknown()),
});

const isOpen = (option: string): option is Option =>
  optionNames.includes(option as Option) && !isLocal(option as Option) && !isSecret(option as Option);

/**
 * What a command gives in order to mean these options. A default counts as given with some rules between flags, so it is left
 * out, and so is what follows from another option.
 */
export function asGiven(options: Readonly<Record<string, unknown>>): GivenOptions {
  const given = Object.fromEntries(
    Object.entries(options).filter(([option, value]) => value !== undefined && isOpen(option)),
  );
  for (const option of optionNames) {
    const { [option]: value, ...others } = given;
    const implied = (fillOptions(others) as Readonly<Partial<Record<Option, unknown>>>)[option];
    if (JSON.stringify(implied) === JSON.stringify(value)) delete given[option];
  }
  return given;
}

/** The file of options. It holds no secrets. */
export const optionsText = (bootstrap: string, options: BootstrapOptions): string =>
  `${JSON.stringify({ version: 1, bootstrap, options: asGiven({ ...options }) }, null, 2)}\n`;

/** Undefined if the text is no file of options, or the file of another bootstrap. */
export function optionsIn(text: string | undefined, bootstrap: string): GivenOptions | undefined {
  try {
    const read = OptionsFile.parse(JSON.parse(text ?? ''));
    return read.bootstrap === bootstrap ? asGiven(read.options) : undefined;
  } catch {
    return undefined;
  }
}

/** What the config of the first datacenter shows of the options. Those that it shows not to be given are undefined. */
export function optionsInConfig(
  config: InstallConfig,
  secrets: SecretsFile,
): Readonly<Partial<Record<Option, unknown>>> {
  const { dataCenter, dataCenters, kubernetes, platform, postgres, registry, cluster } = config;
  const secret = (name: string) => findSecret(secrets, name)?.fields?.password;
  const { remoteWrite } = cluster.monitoring.prometheus;
  const appName = /\/apps\/([^/]+)\/installations/.exec(platform.forges.forge1?.oauth.installationUri ?? '')?.[1];
  return {
    baseDomain: platform.domain.replace(/^cs\./, ''),
    multiDc: dataCenters !== undefined,
    datacenterId: dataCenters === undefined ? dataCenter.id : undefined,
    datacenterName: dataCenter.name,
    customPgIp: postgres.mode === 'external' ? postgres.primary.ip : undefined,
    kubeDistroVersion: kubernetes.version,
    installSkipSteps: config.operations.skip,
    featureFlags: Object.keys(platform.features),
    internalFlags: platform.internal,
    previewFlags: Object.keys(platform.preview),
    clusterAdminEmail: platform.clusterAdminEmail,
    registryType: registry.type,
    registryUser: registry.type === 'forge1' ? secret('registryUsername') : undefined,
    forge1AppClientId: secret('forge1AppClientId'),
    forge1AppName: appName === undefined ? undefined : decodeURIComponent(appName),
    forge2AppClientId: secret('forge2AppClientId'),
    forge3AppClientId: secret('forge3AppClientId'),
    forge4AppClientId: secret('forge4AppClientId'),
    oidcClientId: secret('oidcClientId'),
    oidcIssuerUrl: platform.oauth?.oidc.issuerUrl,
    oidcProviderName: platform.oauth?.oidc.name,
    vaultUri: platform.vault?.uri,
    vaultUser: platform.vault?.user,
    vaultEngine: platform.vault?.engine,
    secretsDir: config.secrets.baseDir,
    centralOtelEndpoint: platform.telemetry.remoteEndpoint,
    centralOtelUsername: platform.telemetry.remoteUser,
    centralOtelSpanMetrics: platform.telemetry.spanMetrics,
    localTraceEndpoint: platform.telemetry.localTraceEndpoint,
    externalLogstoreEndpoint: cluster.monitoring.logs?.endpoint,
    externalLogstoreUser: cluster.monitoring.logs?.user,
    metricsRemoteWriteUrl: remoteWrite.url,
    metricsRemoteWriteUser: remoteWrite.username,
  };
}

/** Whose value the secrets file holds under another name. */
const namesOf: Readonly<Partial<Record<SecretOption, string>>> = {
  forge1AppClientSecret: 'forge1AppClientSecret',
  forge2AppClientSecret: 'forge2AppClientSecret',
  forge3AppClientSecret: 'forge3AppClientSecret',
  forge4AppClientSecret: 'forge4AppClientSecret',
  oidcClientSecret: 'oidcClientSecret',
  vaultPassword: 'vaultPassword',
  centralOtelPassword: 'centralOtelCreds',
  externalLogstoreSecret: 'logstorePassword',
  metricsRemoteWritePassword: 'metricsRemoteWritePassword',
};

/** The caller's secrets in the secrets file. With other registries the password there is no token of forge1's. */
export function secretsIn(secrets: SecretsFile, registryType: InstallConfig['registry']['type']): SecretOptions {
  const names = { ...namesOf, ...(registryType === 'forge1' && { forge1Pat: 'registryPassword' }) };
  return Object.fromEntries(
    Object.entries(names).flatMap(([option, name]) => {
      const value = findSecret(secrets, name)?.fields?.password;
      return value === undefined ? [] : [[option, value]];
    }),
  );
}
