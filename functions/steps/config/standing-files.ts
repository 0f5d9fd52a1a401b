/** Reads a datacenter's existing config and secrets: what the bootstrap wrote last, and what the caller sent as base. */
import { parseInstallConfig, readInstallConfig } from '../../../shared/install-config/config.js';
import { checkOverrides } from '../../../shared/install-config/overrides.js';
import {
  decryptSecrets,
  isWrittenByHosts,
  type SecretsFile,
  withoutRemoved,
} from '../../../shared/install-config/secrets.js';
import { Problem } from '../../../shared/problems.js';
import { registerSecretsFile } from '../../../shared/secret-texts.js';
import type { BootstrapFacts, StepFiles, StepSecrets } from '../../engine/step.js';
import { ageIdentitySecret } from './age-identity.js';
import type { Standing } from './made-secrets.js';
import { checkPairs } from './pairs.js';

export const configFile = (datacenter: string): string => `config-${datacenter}`;
export const secretsFile = (datacenter: string): string => `secrets-${datacenter}`;

export interface StandingFiles {
  /** What the bootstrap wrote last. */
  readonly written: Standing & { readonly configText: string | undefined; readonly secretsText: string | undefined };
  /** What the caller sent. */
  readonly base: Standing & { readonly configText: string | undefined; readonly secretsText: string | undefined };
  /** Both merged. The caller's edits win, except over values that the hosts wrote. */
  readonly merged: Standing;
  /** The age identity, which opens the secrets of all datacenters. */
  readonly identity: string;
}

interface Reading {
  readonly bootstrap: BootstrapFacts;
  readonly files: StepFiles;
  readonly secrets: StepSecrets;
}

/**
 * Throws a `Problem` if the base belongs to another bootstrap, has the wrong form, was tampered with, or has lost half of a
 * pair.
 */
export async function readStandingFiles(
  call: Reading,
  identityVersion: string,
  datacenter: string,
): Promise<StandingFiles> {
  const identity = await call.secrets.read(ageIdentitySecret, identityVersion);
  const [configText, secretsText] = await Promise.all([
    call.files.read(configFile(datacenter)),
    call.files.read(secretsFile(datacenter)),
  ]);
  const written = {
    configText,
    secretsText,
    config: configText === undefined ? undefined : readInstallConfig(configText),
    secrets:
      secretsText === undefined
        ? undefined
        : await decryptSecrets(secretsText, identity, `The secrets file of ${datacenter} that plinth keeps`),
  };
  const base = await readBase(call.bootstrap, identity, datacenter, written).catch((error: unknown) => {
    throw error instanceof Problem ? ofDatacenter(error, datacenter) : error;
  });
  for (const file of [written.secrets, base.secrets]) {
    if (file !== undefined) registerSecretsFile(call.secrets, file);
  }
  const merged = { config: base.config ?? written.config, secrets: mergeSecrets(leftOf(written, base), base.secrets) };
  return { written, base, merged, identity };
}

/** The written secrets, without those that the caller removed. */
const leftOf = (written: StandingFiles['written'], base: StandingFiles['base']): SecretsFile | undefined =>
  written.secrets === undefined || base.secrets === undefined
    ? written.secrets
    : withoutRemoved(written.secrets, base.secrets, {
        under: written.secretsText ?? '',
        over: base.secretsText ?? '',
      });

async function readBase(
  bootstrap: BootstrapFacts,
  identity: string,
  datacenter: string,
  written: Standing,
): Promise<StandingFiles['base']> {
  const { config: configText, secrets: secretsText } = bootstrap.base[datacenter] ?? {};
  const secrets = secretsText === undefined ? undefined : await decryptSecrets(secretsText, identity);
  // Check pairs before the form. A config that lost a half has an invalid form too, and the error must name the half.
  const tree = configText === undefined ? undefined : parseInstallConfig(configText);
  if (tree !== undefined || secrets !== undefined) {
    checkPairs(datacenter, tree ?? written.config, secrets ?? written.secrets);
  }
  const config = configText === undefined ? undefined : readInstallConfig(configText);
  if (config !== undefined && config.bootstrap.id !== bootstrap.id) {
    throw new Problem(
      'conflict',
      `The install config that was sent for ${datacenter} belongs to the project ${config.bootstrap.projectId}, not to ${bootstrap.projectId}.`,
      { advice: 'Move it aside, or run the command in another folder.' },
    );
  }
  if (configText !== undefined) checkOverrides(configText);
  return { config, configText, secrets, secretsText };
}

/** The same problem, with the datacenter of the file. */
const ofDatacenter = ({ code, detail, advice, errors }: Problem, datacenter: string): Problem =>
  new Problem(code, detail.includes(datacenter) ? detail : `In what was sent for ${datacenter}: ${detail}`, {
    ...(advice !== undefined && { advice }),
    ...(errors !== undefined && { errors }),
  });

/** Merges by name, in the order of `under`. `over` wins, except over values that the hosts wrote into `under`. */
export function mergeSecrets(under: SecretsFile | undefined, over: SecretsFile | undefined): SecretsFile | undefined {
  if (under === undefined || over === undefined) return over ?? under;
  const byName = new Map(under.secrets.map((secret) => [secret.name, secret]));
  for (const secret of over.secrets) {
    if (!(byName.has(secret.name) && isWrittenByHosts(secret.name))) byName.set(secret.name, secret);
  }
  return { version: 1, secrets: [...byName.values()] };
}
