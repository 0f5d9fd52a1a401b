/**
 * Generates the secrets of a datacenter that are made once and kept, and defines their schema in Secret Manager. It needs
 * nothing of the cloud, so slow keys are made while the machines are created.
 */
import * as z from 'zod';
import type { InstallConfig } from '../../../shared/install-config/config.js';
import {
  fieldSecret,
  fileSecret,
  findSecret,
  postgresServices,
  Secret,
  type SecretsFile,
} from '../../../shared/install-config/secrets.js';
import { openSshPair } from '../../../shared/openssh.js';
import type { StepCall, StepSecrets } from '../../engine/step.js';
import { makeCaCertificate } from './certificates.js';

/** The payload in Secret Manager. `registry` never goes into the secrets file, because only the jumpbox uses it. */
export const MadeSecrets = z.object({
  schema: z.literal(1),
  secrets: z.array(Secret),
  public: z.object({
    cephPublicKey: z.string(),
    clusterCaCertPem: z.string(),
    postgresCaCertPem: z.string().optional(),
  }),
  registry: z.object({ caKeyPem: z.string(), caCertPem: z.string(), password: z.string() }).optional(),
});
export type MadeSecrets = z.infer<typeof MadeSecrets>;

/** Name of the secret within the bootstrap. */
export const madeSecretsName = (datacenter: string): string => `secrets-${datacenter}`;

export async function readMadeSecrets(store: StepSecrets, datacenter: string, version: string): Promise<MadeSecrets> {
  return MadeSecrets.parse(await store.readJson(madeSecretsName(datacenter), version));
}

export interface Standing {
  readonly config: InstallConfig | undefined;
  readonly secrets: SecretsFile | undefined;
}

type KeyMaker = StepCall['context']['keys'];

export interface Making {
  readonly keys: KeyMaker;
  readonly random: StepCall['context']['random'];
  readonly now: Date;
  readonly bootstrapId: string;
  readonly datacenter: string;
  /** The first datacenter makes what all of them share. Another one makes only its own. */
  readonly first: boolean;
  /** False with `--custom-pg-ip`: plinth doesn't make that server's CA and password. */
  readonly ownPostgres: boolean;
  /** Earlier values to take over. Both halves of each pair are there (see pairs.ts). */
  readonly standing: Standing;
}

export async function makeSecrets(making: Making): Promise<MadeSecrets> {
  const { first, ownPostgres, standing } = making;
  const [cluster, ceph, shared, postgres, registry] = await Promise.all([
    clusterCa(making),
    cephKey(making),
    first ? sharedSecrets(making) : [],
    first && ownPostgres ? postgresSecrets(making) : undefined,
    first ? registrySecrets(making) : undefined,
  ]);
  const made = [...shared, ...(postgres?.secrets ?? []), cluster.secret, ceph.secret];
  return {
    schema: 1,
    secrets: made.map((secret) => findSecret(standing.secrets, secret.name) ?? secret),
    public: {
      clusterCaCertPem: cluster.certPem,
      cephPublicKey: ceph.publicKey,
      ...(postgres !== undefined && { postgresCaCertPem: postgres.caCertPem }),
    },
    ...(registry !== undefined && { registry }),
  };
}

async function clusterCa(making: Making): Promise<{ secret: Secret; certPem: string }> {
  const [secret, certPem] = [
    kept(making, 'selfSignedCaKeyPem'),
    making.standing.config?.cluster.certificates.ca.certPem,
  ];
  if (secret !== undefined && certPem !== undefined) return { secret, certPem };
  return newCa(making, 'selfSignedCaKeyPem', `plinth cluster CA ${making.bootstrapId} ${making.datacenter}`);
}

async function cephKey(making: Making): Promise<{ secret: Secret; publicKey: string }> {
  const [secret, publicKey] = [kept(making, 'cephSshPrivateKey'), making.standing.config?.ceph.cephAdmSshKey.publicKey];
  if (secret !== undefined && publicKey !== undefined) return { secret, publicKey };
  const key = await making.keys.make('rsa-4096');
  const pair = openSshPair(key.privateKey, `ceph-${making.datacenter}`);
  return { secret: fileSecret('cephSshPrivateKey', 'ceph_id_rsa', pair.privateKey), publicKey: pair.publicKey };
}

/** The secrets that all datacenters of the bootstrap share. */
async function sharedSecrets(making: Making): Promise<Secret[]> {
  const [token, domainAuth, proxyHostKey] = await Promise.all([
    keyPair(making, 'rsa-4096', 'tokenPrivateKey', 'tokenPublicKey'),
    keyPair(making, 'ec-p256', 'domainAuthPrivateKey', 'domainAuthPublicKey'),
    kept(making, 'sshWorkspaceProxyHostKey') ?? sshHostKey(making),
  ]);
  return [
    ...token,
    ...domainAuth,
    proxyHostKey,
    fieldSecret('postgresReplicaPassword', randomText(making.random, 32)),
    ...postgresServices.flatMap((service) => [
      fieldSecret(`postgresUser${service}`, `${service.toLowerCase()}_blue`),
      fieldSecret(`postgresPassword${service}`, randomText(making.random, 32)),
    ]),
    fieldSecret('mounterHmacSecret', making.random.bytes(32).toString('hex')),
    fieldSecret('openFgaPresharedKey', making.random.bytes(32).toString('hex')),
  ];
}

async function sshHostKey({ keys }: Making): Promise<Secret> {
  const { privateKey } = openSshPair((await keys.make('ed25519')).privateKey, 'workspace-proxy');
  return fileSecret('sshWorkspaceProxyHostKey', 'ssh_workspace_proxy_host_key', privateKey);
}

async function postgresSecrets(making: Making): Promise<{ secrets: Secret[]; caCertPem: string }> {
  const { standing, keys } = making;
  const [caKey, caCertPem] = [
    kept(making, 'postgresCaKeyPem'),
    standing.config?.postgres.mode === 'install' ? standing.config.postgres.caCertPem : undefined,
  ];
  const [ca, server] = await Promise.all([
    caKey !== undefined && caCertPem !== undefined
      ? { secret: caKey, certPem: caCertPem }
      : newCa(making, 'postgresCaKeyPem', `plinth PostgreSQL CA ${making.bootstrapId}`),
    kept(making, 'postgresPrimaryServerKeyPem') ??
      keys
        .make('rsa-2048')
        .then(({ privateKey }) => fileSecret('postgresPrimaryServerKeyPem', 'postgres_primary_server.key', privateKey)),
  ]);
  return {
    secrets: [ca.secret, server, fieldSecret('postgresPassword', randomText(making.random, 32))],
    caCertPem: ca.certPem,
  };
}

async function registrySecrets(making: Making): Promise<MadeSecrets['registry']> {
  const key = await making.keys.make('rsa-2048');
  const caCertPem = await makeCaCertificate(key, `plinth registry CA ${making.bootstrapId}`, making);
  return { caKeyPem: key.privateKey, caCertPem, password: randomText(making.random, 32) };
}

async function newCa(making: Making, name: string, commonName: string): Promise<{ secret: Secret; certPem: string }> {
  const key = await making.keys.make('rsa-2048');
  const file = name === 'postgresCaKeyPem' ? 'postgres_ca.key' : 'self_signed_ca.key';
  return {
    secret: fileSecret(name, file, key.privateKey),
    certPem: await makeCaCertificate(key, commonName, making),
  };
}

async function keyPair(
  making: Making,
  kind: Parameters<KeyMaker['make']>[0],
  privateName: string,
  publicName: string,
): Promise<Secret[]> {
  const [privateHalf, publicHalf] = [kept(making, privateName), kept(making, publicName)];
  if (privateHalf !== undefined && publicHalf !== undefined) return [privateHalf, publicHalf];
  const pair = await making.keys.make(kind);
  return [
    fileSecret(privateName, `${privateName}.pem`, pair.privateKey),
    fileSecret(publicName, `${publicName}.pem`, pair.publicKey),
  ];
}

const kept = ({ standing }: Making, name: string): Secret | undefined => findSecret(standing.secrets, name);

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
/** Only letters and digits, so that no file, URL or shell has to quote it. */
const randomText = (random: Making['random'], length: number): string =>
  Array.from({ length }, () => alphabet[random.whole(0, alphabet.length)]).join('');
