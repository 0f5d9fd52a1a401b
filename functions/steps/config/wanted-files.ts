/**
 * Works out what the two files of a datacenter should hold, from other steps' outputs, existing files and flags. It only
 * reads.
 */
import { createPublicKey } from 'node:crypto';
import type { InstallConfig } from '../../../shared/install-config/config.js';
import { editInstallConfig, keepOverrides } from '../../../shared/install-config/edit-config.js';
import {
  fieldSecret,
  findSecret,
  type SecretsFile,
  type StandingSecrets,
} from '../../../shared/install-config/secrets.js';
import type { StepCall } from '../../engine/step.js';
import { readEabKey } from '../cloud/eab-key.js';
import { datacenterOf, type datacenters, localRegistryServer, repositoryServer, vmsOf } from '../topology.js';
import { type Means, makeServerCertificate, servesAs } from './certificates.js';
import type { configNeeds } from './config.js';
import { buildInstallConfig, postgresHostname } from './install-config.js';
import { readMadeSecrets } from './made-secrets.js';
import { checkPairs } from './pairs.js';
import { givenSecrets, secretsOfFirst, secretsOfOther } from './secrets-file.js';
import { readStandingFiles, type StandingFiles } from './standing-files.js';

type ConfigCall = StepCall<typeof configNeeds, typeof datacenters>;

export interface WantedFiles {
  readonly standing: StandingFiles;
  readonly secrets: SecretsFile;
  /** The secrets file whose recipients, rules and comments the new one keeps. */
  readonly like: StandingSecrets | undefined;
  /** Undefined until a PostgreSQL server certificate fits the server's name and address. */
  readonly config: InstallConfig | undefined;
  readonly postgres: { readonly ip: string; readonly caCertPem: string | undefined };
  withServerCertificate(certPem: string): InstallConfig;
  /** The caller's text, else what the bootstrap wrote last, edited. */
  textOf(config: InstallConfig): string;
}

export async function wantedFiles(call: ConfigCall): Promise<WantedFiles> {
  const { context, bootstrap, key } = call;
  const { options } = bootstrap;
  const datacenter = datacenterOf(options, key);
  const isFirst = key === 'dc1';
  const secretsOf = output(call.needs.secrets);
  const [own, first] = [secretsOf(key), secretsOf('dc1')];
  const { standing, firstStanding, secrets: wantedSecrets } = await wantedSecretsOf(call);

  const vmOf = output(call.needs.vms);
  const addressOf = output(call.needs.addresses);
  const nodes = (role: 'ceph' | 'k0s') => vmsOf(options, key, role).map(({ name }) => vmOf(name));
  const ownServer = isFirst && options.customPgIp === undefined;
  const postgres = {
    ip: options.customPgIp ?? vmOf('postgres').internalIp,
    // A person may have replaced the CA, key and certificate, and theirs counts. Both datacenters use the same server.
    caCertPem:
      firstStanding.merged.config?.postgres.caCertPem ??
      first.postgresCaCertPem ??
      standing.merged.config?.postgres.caCertPem,
  };
  const build = (serverCertPem: string | undefined): InstallConfig =>
    keepOverrides(
      buildInstallConfig({
        options,
        settings: context.config,
        bootstrap,
        datacenter,
        registry: {
          type: options.registryType,
          server: registryServer(call, vmOf('jumpbox').internalIp),
          caCertPem: options.registryType === 'local-container' ? first.registryCaCertPem : undefined,
        },
        postgres: { ...postgres, serverCertPem },
        cephPublicKey: standing.merged.config?.ceph.cephAdmSshKey.publicKey ?? own.cephPublicKey,
        clusterCaCertPem: standing.merged.config?.cluster.certificates.ca.certPem ?? own.clusterCaCertPem,
        ceph: nodes('ceph'),
        k0s: nodes('k0s'),
        addresses: {
          gateway: addressOf(datacenter.addresses.gateway).address,
          publicGateway: addressOf(datacenter.addresses.publicGateway).address,
          sshProxy: addressOf(datacenter.addresses.sshProxy).address,
        },
        zone: call.needs.zone,
        eabKeyId: call.needs.eabKey?.keyId,
      }),
      standing.merged.config,
    );
  const standingCertificate = ownServer
    ? servingCertificate(standing, wantedSecrets, postgres, context.clock.now())
    : undefined;
  const config = ownServer && standingCertificate === undefined ? undefined : build(standingCertificate);
  if (config !== undefined) checkPairs(key, config, wantedSecrets);
  const likeText = standing.base.secretsText ?? standing.written.secretsText;
  const like = likeText === undefined ? undefined : { text: likeText, identity: standing.identity };
  const textOf = (wanted: InstallConfig) =>
    editInstallConfig(standing.base.configText ?? standing.written.configText, wanted);
  return { standing, secrets: wantedSecrets, like, config, postgres, withServerCertificate: build, textOf };
}

/** The secrets of this datacenter, and the existing files of it and of the first datacenter. */
async function wantedSecretsOf(call: ConfigCall) {
  const { bootstrap, key } = call;
  const { options } = bootstrap;
  const isFirst = key === 'dc1';
  const secretsOf = output(call.needs.secrets);
  const [own, first] = [secretsOf(key), secretsOf('dc1')];
  const eab = call.needs.eabKey;
  const standingOf = (of: string) => readStandingFiles(call, call.needs.ageIdentity.secretVersion, of);
  const [standing, made, caller, eabSecret] = await Promise.all([
    standingOf(key),
    readMadeSecrets(call.secrets, key, own.secretVersion),
    call.secrets.caller(),
    eab === undefined
      ? []
      : readEabKey(call.secrets, key, eab.secretVersion).then(({ macKey }) => [fieldSecret('acmeEabMacKey', macKey)]),
  ]);
  const [firstStanding, firstMade] = isFirst
    ? [standing, made]
    : await Promise.all([standingOf('dc1'), readMadeSecrets(call.secrets, 'dc1', first.secretVersion)]);

  const { registryType } = options;
  const given = givenSecrets({ options, caller, registryType, registryPassword: firstMade.registry?.password });
  const firstSecrets = secretsOfFirst({ options, made: firstMade, standing: firstStanding.merged.secrets, given });
  const wantedSecrets = isFirst
    ? secretsOfFirst({ options, made, standing: standing.merged.secrets, given: [...given, ...eabSecret] })
    : secretsOfOther({ options, made, standing: standing.merged.secrets, given: eabSecret, first: firstSecrets });
  return { standing, firstStanding, secrets: wantedSecrets };
}

/** The existing server certificate, if it is still good. A new address, name or CA, or its expiry, needs a new one. */
function servingCertificate(
  { base, written }: StandingFiles,
  file: SecretsFile,
  postgres: WantedFiles['postgres'],
  now: Date,
): string | undefined {
  const key = findSecret(file, 'postgresPrimaryServerKeyPem')?.file?.content;
  const { caCertPem, ip } = postgres;
  if (key === undefined || caCertPem === undefined) return undefined;
  return [base.config, written.config]
    .map((config) =>
      config?.postgres.mode === 'install' ? config.postgres.primary.sslConfig.serverCertPem : undefined,
    )
    .find((pem) => pem !== undefined && servesAs(pem, caCertPem, key, { hostname: postgresHostname, ip }, now));
}

export async function newServerCertificate({ secrets: file, postgres }: WantedFiles, means: Means): Promise<string> {
  const content = (name: string) => findSecret(file, name)?.file?.content;
  const [caKey, serverKey] = [content('postgresCaKeyPem'), content('postgresPrimaryServerKeyPem')];
  const { caCertPem, ip } = postgres;
  if (caKey === undefined || serverKey === undefined || caCertPem === undefined) {
    throw new Error('no PostgreSQL CA was made for a server that is to be installed');
  }
  const publicKey = createPublicKey(serverKey).export({ type: 'spki', format: 'pem' }).toString();
  return makeServerCertificate(
    { privateKey: caKey, certPem: caCertPem },
    publicKey,
    { hostname: postgresHostname, ip },
    means,
  );
}

function registryServer({ bootstrap, context, needs }: ConfigCall, jumpboxIp: string): string {
  const { options, projectId } = bootstrap;
  const { artifactRegistry, forge1 } = context.config.registryUrls;
  switch (options.registryType) {
    case 'local-container':
      return localRegistryServer(jumpboxIp);
    case 'artifact-registry':
      return needs.repository?.server ?? repositoryServer(options, projectId, artifactRegistry);
    case 'forge1':
      return new URL(forge1).host;
  }
}

/** The output for a key. The plan guarantees it, or the instance would not run. */
const output =
  <T>(outputs: Readonly<Record<string, T>>) =>
  (key: string): T => {
    const found = outputs[key];
    if (found === undefined) throw new Error(`no output at the key ${key}`);
    return found;
  };
