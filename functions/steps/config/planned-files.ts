/** What options and secrets decide of the two files of a datacenter, so that a plan says whether they are rewritten. Pure. */
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import type { PlannedBy } from '../../engine/step.js';
import { datacenterOf, vmsOf } from '../topology.js';
import { buildInstallConfig } from './install-config.js';

const settings = {
  forgeUrls: { forge1: 'forge1', forge2: 'forge2', forge3: 'forge3', forge4: 'forge4' },
};

/** Options that are values of the secrets file, and not of the config. */
const inSecretsFile = [
  'registryUser',
  'forge1AppClientId',
  'forge2AppClientId',
  'forge3AppClientId',
  'forge4AppClientId',
  'oidcClientId',
] as const;

/** Two results that differ mean other files. Names stand for what the cloud decides. */
export function plannedFiles({ options, secrets }: PlannedBy, key: string): unknown {
  const { forge1Pat, ...others } = secrets;
  // The token is the password of forge1's registry, and in no file otherwise.
  const password = options.registryType === 'forge1' ? { forge1Pat } : {};
  return [configOf(options, key), inSecretsFile.map((option) => options[option]), { ...others, ...password }];
}

function configOf(options: BootstrapOptions, key: string) {
  const nodes = (role: 'ceph' | 'k0s') => vmsOf(options, key, role).map(({ name }) => ({ name, internalIp: name }));
  return buildInstallConfig({
    options,
    settings,
    bootstrap: { id: 'id', projectId: 'project', loadBalancers: 'external' },
    datacenter: datacenterOf(options, key),
    registry: { type: options.registryType, server: 'registry' },
    postgres: { ip: options.customPgIp ?? 'postgres', caCertPem: undefined, serverCertPem: undefined },
    cephPublicKey: 'key',
    clusterCaCertPem: 'ca',
    ceph: nodes('ceph'),
    k0s: nodes('k0s'),
    addresses: { gateway: 'gateway', publicGateway: 'public-gateway', sshProxy: 'ssh-proxy' },
    zone: { project: options.dnsProjectId ?? 'project', zone: options.dnsZoneName },
    ...(options.cloudAcmeIssuer && { eabKeyId: 'key' }),
  });
}
