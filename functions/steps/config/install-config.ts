/** Builds the install config of a datacenter from what the bootstrap has made. Pure. */

import { podCidr, serviceCidr, subnetRange } from '../../../shared/bootstrap/network-ranges.js';
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import type { InstallConfig } from '../../../shared/install-config/config.js';
import type { StepCall } from '../../engine/step.js';
import { type Datacenter, datacentersOf } from '../topology.js';

type Config = StepCall['context']['config'];

interface Node {
  readonly name: string;
  readonly internalIp: string;
}

export interface InstallConfigParts {
  readonly options: BootstrapOptions;
  readonly settings: Pick<Config, 'forgeUrls'>;
  readonly bootstrap: Pick<StepCall['bootstrap'], 'id' | 'projectId' | 'loadBalancers'>;
  readonly datacenter: Datacenter;
  readonly registry: {
    readonly type: InstallConfig['registry']['type'];
    readonly server: string;
    readonly caCertPem?: string | undefined;
  };
  readonly postgres: {
    readonly ip: string;
    readonly caCertPem: string | undefined;
    /** Undefined if the server is external. */
    readonly serverCertPem: string | undefined;
  };
  readonly cephPublicKey: string;
  readonly clusterCaCertPem: string;
  readonly ceph: readonly Node[];
  readonly k0s: readonly Node[];
  readonly addresses: { readonly gateway: string; readonly publicGateway: string; readonly sshProxy: string };
  readonly zone: { readonly project: string; readonly zone: string };
  readonly eabKeyId?: string | undefined;
}

export const postgresHostname = 'postgres';

export function buildInstallConfig(parts: InstallConfigParts): InstallConfig {
  const { options, bootstrap, datacenter, registry, k0s, addresses, zone } = parts;
  const first = k0s[0];
  if (first === undefined) throw new Error(`no k0s node in ${datacenter.key}`);
  const ownImages = registry.type !== 'forge1';
  const balancer = (ipAddress: string) => ({
    serviceType: 'LoadBalancer' as const,
    ipAddress,
    ...(bootstrap.loadBalancers === 'internal' && { internal: true as const }),
  });
  return {
    version: 1,
    bootstrap: { id: bootstrap.id, projectId: bootstrap.projectId },
    dataCenter: { id: datacenter.id, name: datacenter.name },
    ...(options.multiDc && {
      dataCenters: datacentersOf(options).map(({ id, name }) => ({ id, name })),
      defaultDataCenterId: 1,
    }),
    secrets: { baseDir: datacenter.files.secretsDir },
    registry: {
      type: registry.type,
      server: registry.server,
      replaceImagesInBom: ownImages,
      loadContainerImages: ownImages,
      ...(registry.caCertPem !== undefined && { caCertPem: registry.caCertPem }),
    },
    postgres: postgresSection(parts),
    ceph: cephSection(parts),
    kubernetes: {
      managedByPlatform: true,
      version: options.kubeDistroVersion,
      apiServerHost: first.internalIp,
      controlPlanes: [{ hostname: first.name, ipAddress: first.internalIp }],
      workers: k0s.map(({ name, internalIp }) => ({ hostname: name, ipAddress: internalIp })),
      podCidr,
      serviceCidr,
    },
    cluster: {
      certificates: { ca: { algorithm: 'RSA', keySizeBits: 2048, certPem: parts.clusterCaCertPem } },
      gateway: balancer(addresses.gateway),
      publicGateway: balancer(addresses.publicGateway),
      sshProxy: balancer(addresses.sshProxy),
      monitoring: monitoringSection(parts),
      certManager: { dnsSolver: { cloudDns: { project: zone.project, zone: zone.zone } } },
    },
    platform: platformSection(parts),
    operations: {
      skip: [...new Set([...options.installSkipSteps, ...(datacenter.key === 'dc1' ? [] : ['postgres'])])],
    },
  };
}

function cephSection({ ceph, cephPublicKey }: InstallConfigParts): InstallConfig['ceph'] {
  return {
    nodesSubnet: subnetRange,
    cephAdmSshKey: { publicKey: cephPublicKey },
    csiKubeletDir: '/var/lib/k0s/kubelet',
    hosts: ceph.map(({ name, internalIp }, position) => ({
      hostname: name,
      ipAddress: internalIp,
      isMaster: position === 0,
    })),
    osds: [
      {
        specId: 'default',
        placement: { hostPattern: '*' },
        dataDevices: { size: '50G:', limit: 1 },
        dbDevices: { size: '10G:50G', limit: 1 },
      },
    ],
  };
}

function platformSection(parts: InstallConfigParts): InstallConfig['platform'] {
  const { options, datacenter, addresses } = parts;
  const { platform: domain, workspaces, ssh } = datacenter.domains;
  return {
    domain,
    workspaceHostingBaseDomain: workspaces,
    sshBaseDomain: ssh,
    publicIp: addresses.publicGateway,
    certIssuer: {
      acme: {
        server: acmeServer(parts),
        email: `admin@${options.baseDomain}`,
        ...(parts.eabKeyId !== undefined && { eabKeyId: parts.eabKeyId }),
      },
    },
    internal: [...options.internalFlags],
    preview: switches(options.previewFlags),
    features: switches(options.featureFlags),
    ...(options.clusterAdminEmail !== undefined && { clusterAdminEmail: options.clusterAdminEmail.toLowerCase() }),
    forges: forgesSection(parts, domain),
    ...(options.oidcClientId !== undefined &&
      options.oidcIssuerUrl !== undefined && {
        oauth: {
          oidc: {
            enabled: true,
            name: options.oidcProviderName ?? 'OIDC',
            issuerUrl: options.oidcIssuerUrl,
            scopes: ['openid', 'profile', 'email'],
          },
        },
      }),
    ...(options.vaultUri !== undefined && {
      vault: { uri: options.vaultUri, engine: options.vaultEngine, user: options.vaultUser },
    }),
    telemetry: {
      ...(options.centralOtelEndpoint !== undefined && { remoteEndpoint: options.centralOtelEndpoint }),
      ...(options.centralOtelUsername !== undefined && { remoteUser: options.centralOtelUsername }),
      remoteExport: options.centralOtelEndpoint !== undefined,
      spanMetrics: options.centralOtelSpanMetrics,
      ...(options.localTraceEndpoint !== undefined && { localTraceEndpoint: options.localTraceEndpoint }),
    },
  };
}

function postgresSection({ postgres }: InstallConfigParts): InstallConfig['postgres'] {
  const primary = { ip: postgres.ip, hostname: postgresHostname };
  if (postgres.serverCertPem !== undefined && postgres.caCertPem !== undefined) {
    const sslConfig = { serverCertPem: postgres.serverCertPem };
    return { mode: 'install', caCertPem: postgres.caCertPem, primary: { ...primary, sslConfig } };
  }
  return {
    mode: 'external',
    ...(postgres.caCertPem !== undefined && { caCertPem: postgres.caCertPem }),
    primary,
  };
}

function monitoringSection({
  options,
  bootstrap,
  datacenter,
}: InstallConfigParts): InstallConfig['cluster']['monitoring'] {
  const { metricsRemoteWriteUrl: url, metricsRemoteWriteUser: username } = options;
  const { externalLogstoreEndpoint: endpoint, externalLogstoreUser: user } = options;
  return {
    prometheus: {
      remoteWrite: {
        enabled: url !== undefined,
        ...(url !== undefined && { url }),
        ...(username !== undefined && { username }),
        clusterName: `${bootstrap.projectId}${datacenter.suffix}`,
      },
    },
    ...(endpoint !== undefined && { logs: { endpoint, ...(user !== undefined && { user }) } }),
  };
}

const acmeDirectories = {
  letsEncrypt: 'https://acme-v02.api.letsencrypt.org/directory',
  letsEncryptStaging: 'https://acme-staging-v02.api.letsencrypt.org/directory',
  google: 'https://dv.acme-v02.api.pki.goog/directory',
  googleStaging: 'https://dv.acme-v02.test-api.pki.goog/directory',
};

function acmeServer({ options }: InstallConfigParts): string {
  if (options.cloudAcmeIssuer) return options.acmeStaging ? acmeDirectories.googleStaging : acmeDirectories.google;
  return options.acmeStaging ? acmeDirectories.letsEncryptStaging : acmeDirectories.letsEncrypt;
}

function forgesSection({ options, settings }: InstallConfigParts, domain: string): InstallConfig['platform']['forges'] {
  const forge = (name: keyof Config['forgeUrls'], clientId: string | undefined, appName?: string) => {
    if (clientId === undefined) return {};
    const url = settings.forgeUrls[name].replace(/\/+$/, '');
    return {
      [name]: {
        enabled: true,
        url,
        apiBaseUrl: apiBaseUrl(name, url),
        oauth: {
          clientAuthMethod: 'client_secret_post',
          redirectUri: `https://${domain}/ide/auth/${name}/callback`,
          ...(appName !== undefined && {
            installationUri: `${url}/apps/${encodeURIComponent(appName)}/installations/new`,
          }),
        },
      },
    };
  };
  return {
    ...forge('forge1', options.forge1AppClientId, options.forge1AppName),
    ...forge('forge2', options.forge2AppClientId),
    ...forge('forge3', options.forge3AppClientId),
    ...forge('forge4', options.forge4AppClientId),
  };
}

/** Where each provider has its API. Public services have a separate host for it, self-hosted ones a path. */
function apiBaseUrl(name: keyof Config['forgeUrls'], url: string): string {
  switch (name) {
    case 'forge1':
      return url === 'https://github.com' ? 'https://api.github.com' : `${url}/api/v3`;
    case 'forge2':
      return `${url}/api/v4`;
    case 'forge3':
      return url === 'https://bitbucket.org' ? 'https://api.bitbucket.org/2.0' : `${url}/rest/api/latest`;
    case 'forge4':
      return url;
  }
}

const switches = (names: readonly string[]): Record<string, true> =>
  Object.fromEntries(names.map((name) => [name, true as const]));
