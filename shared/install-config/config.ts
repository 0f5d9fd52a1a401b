/** The install config, config.yaml: its schema, its text, and which parts of an older one survive a rewrite. */
import * as z from 'zod';
import { portableYaml } from '../portable-yaml.js';
import { type Fault, Problem } from '../problems.js';
import { parseYaml } from '../yaml-text.js';

const text = (description: string) => z.string().min(1).meta({ description });
const optionalText = (description: string) => z.string().min(1).optional().meta({ description });
const flag = (description: string) => z.boolean().meta({ description });
const pem = (description: string) => z.string().startsWith('-----BEGIN CERTIFICATE-----').meta({ description });
const ip = (description: string) => z.union([z.ipv4(), z.ipv6()]).meta({ description });
const cidr = (description: string) => z.cidrv4().meta({ description });
/** What a person adds by hand. The installer merges it over what plinth wrote. */
const override = () =>
  z
    .record(z.string(), z.unknown())
    .optional()
    .meta({ description: 'Added by hand. Its text stays as it is, here and on the jumpbox' });
const loadBalancer = (description: string) =>
  z
    .strictObject({
      serviceType: z.literal('LoadBalancer').meta({ description: 'Type of the Kubernetes service' }),
      ipAddress: ip('Static address of that name'),
      internal: z.literal(true).optional().meta({
        description: 'Set where the address is one of the subnet, so that the load balancer must be internal',
      }),
      override: override(),
    })
    .meta({ description });
const datacenter = {
  id: z.int().positive().meta({ description: '`--datacenter-id`; 2 for the second one' }),
  name: text('`--datacenter-name`; the second one ends in `-dc2`'),
};
const node = () => z.strictObject({ hostname: text('Name of the VM'), ipAddress: ip('Its internal address') });

const postgresPrimary = {
  ip: ip('Internal address of the VM `postgres`, or `--custom-pg-ip`'),
  hostname: text('`postgres`'),
};
const Postgres = z
  .discriminatedUnion('mode', [
    z
      .strictObject({
        mode: z.literal('install').meta({ description: 'The installer sets up the server' }),
        caCertPem: pem('CA of the server; its key is the secret `postgresCaKeyPem`'),
        primary: z
          .strictObject({
            ...postgresPrimary,
            sslConfig: z
              .strictObject({
                serverCertPem: pem(
                  "The server's certificate for hostname and address; its key is the secret `postgresPrimaryServerKeyPem`",
                ),
              })
              .meta({ description: 'TLS of the server' }),
          })
          .meta({ description: 'The server' }),
        override: override(),
      })
      .meta({ description: 'A server that is installed' }),
    z
      .strictObject({
        mode: z
          .literal('external')
          .meta({ description: 'The server is there: second datacenter, or `--custom-pg-ip`' }),
        caCertPem: pem('CA of the server; with `--custom-pg-ip` added by hand').optional().meta({
          description: 'CA of the server; with `--custom-pg-ip` added by hand, and needed before an install',
        }),
        primary: z.strictObject(postgresPrimary).meta({ description: 'The server' }),
        override: override(),
      })
      .meta({ description: 'A server that is there already' }),
  ])
  .meta({ description: 'PostgreSQL' });

const Registry = z
  .strictObject({
    type: z.enum(['local-container', 'artifact-registry', 'forge1']).meta({ description: '`--registry-type`' }),
    server: text('`<jumpbox ip>:5000`, `R-docker.pkg.dev/P/platform-registry` or `ghcr.io`, by type'),
    replaceImagesInBom: flag('Whether images are named by this registry; false for forge1'),
    loadContainerImages: flag('Whether images are loaded into this registry; false for forge1'),
    caCertPem: pem('CA of the registry').optional().meta({ description: 'CA of the registry; local-container only' }),
    override: override(),
  })
  .refine(({ type, caCertPem }) => (type === 'local-container') === (caCertPem !== undefined), {
    path: ['caCertPem'],
    message: 'goes with the type local-container, and with no other',
  })
  .meta({ description: 'Where images come from' });

const Ceph = z
  .strictObject({
    nodesSubnet: cidr('Subnet of the nodes'),
    cephAdmSshKey: z
      .strictObject({ publicKey: text('OpenSSH form; the private half is the secret `cephSshPrivateKey`') })
      .meta({ description: 'Key of cephadm' }),
    csiKubeletDir: text("k0s's kubelet folder"),
    hosts: z
      .array(
        z.strictObject({
          hostname: text('Name of the VM'),
          ipAddress: ip('Its internal address'),
          isMaster: flag('True for the first'),
        }),
      )
      .meta({ description: 'The Ceph VMs of the datacenter' }),
    osds: z
      .array(
        z.strictObject({
          specId: text('Name of the specification'),
          placement: z.strictObject({ hostPattern: text('Hosts it is for') }).meta({ description: 'Where' }),
          dataDevices: z
            .strictObject({
              size: text('Sizes of disks that hold data'),
              limit: z.int().meta({ description: 'At most so many a host' }),
            })
            .meta({ description: 'Disks for data' }),
          dbDevices: z
            .strictObject({
              size: text('Sizes of disks that hold the metadata'),
              limit: z.int().meta({ description: 'At most so many a host' }),
            })
            .meta({ description: 'Disks for metadata' }),
        }),
      )
      .meta({ description: 'Which disks become OSDs' }),
    override: override(),
  })
  .meta({ description: 'Storage' });

const Kubernetes = z
  .strictObject({
    managedByPlatform: z.literal(true).meta({ description: 'The nodes are set up by plinth' }),
    version: text('`--kube-distro-version`'),
    apiServerHost: ip('Address of the first node, `k0s-1`'),
    controlPlanes: z.array(node()).meta({ description: 'Nodes that run the control plane: `k0s-1`' }),
    workers: z.array(node()).meta({ description: 'Nodes that run pods: `k0s-1` to `k0s-3`' }),
    podCidr: cidr('Addresses of pods'),
    serviceCidr: cidr('Addresses of services'),
    override: override(),
  })
  .meta({ description: 'The Kubernetes cluster' });

const Cluster = z
  .strictObject({
    certificates: z
      .strictObject({
        ca: z
          .strictObject({
            algorithm: z.literal('RSA').meta({ description: 'Kind of key' }),
            keySizeBits: z.literal(2048).meta({ description: 'Size of key' }),
            certPem: pem('Its key is the secret `selfSignedCaKeyPem`'),
          })
          .meta({ description: 'CA of the cluster' }),
        override: override(),
      })
      .meta({ description: 'Certificates' }),
    gateway: loadBalancer("Entry of the platform's own services"),
    publicGateway: loadBalancer('Entry of what users host'),
    sshProxy: loadBalancer('Entry of SSH to workspaces'),
    monitoring: z
      .strictObject({
        prometheus: z
          .strictObject({
            remoteWrite: z
              .strictObject({
                enabled: flag('True when a URL is given'),
                url: z.url().optional().meta({ description: '`--metrics-remote-write-url`' }),
                username: optionalText(
                  '`--metrics-remote-write-user`; the password is the secret `metricsRemoteWritePassword`',
                ),
                clusterName: text(
                  'Name under which the metrics are sent: the project, and `-dc2` for the second datacenter',
                ),
              })
              .meta({ description: 'Metrics sent elsewhere' }),
            override: override(),
          })
          .meta({ description: 'Metrics' }),
        logs: z
          .strictObject({
            endpoint: z.string().min(1).meta({ description: '`--external-logstore-endpoint`' }),
            user: optionalText('`--external-logstore-user`; the password is the secret `logstorePassword`'),
          })
          .optional()
          .meta({ description: 'Logs sent elsewhere' }),
        override: override(),
      })
      .meta({ description: 'Monitoring' }),
    certManager: z
      .strictObject({
        dnsSolver: z
          .strictObject({
            cloudDns: z
              .strictObject({ project: text('Project of the DNS zone'), zone: text('Name of the DNS zone') })
              .meta({ description: 'The zone that proves the domain' }),
          })
          .meta({ description: 'How the domain is proven' }),
        override: override(),
      })
      .meta({ description: 'cert-manager' }),
    override: override(),
  })
  .meta({ description: 'What runs in the cluster' });

const forge = (description: string) =>
  z
    .strictObject({
      enabled: flag('True'),
      url: z.url().meta({ description: 'Where people go' }),
      apiBaseUrl: z.url().meta({ description: 'Its API' }),
      oauth: z
        .strictObject({
          clientAuthMethod: z
            .enum(['client_secret_post', 'client_secret_basic'])
            .meta({ description: 'How the client proves itself' }),
          redirectUri: z.url().meta({ description: '`https://cs.D/ide/auth/<forge>/callback`' }),
          installationUri: z.url().optional().meta({ description: 'forge1 only, by `--forge1-app-name`' }),
        })
        .meta({ description: 'The OAuth client' }),
      override: override(),
    })
    .optional()
    .meta({ description });
const switches = (description: string) => z.record(z.string(), z.literal(true)).meta({ description });

const Platform = z
  .strictObject({
    domain: text('`cs.D`'),
    workspaceHostingBaseDomain: text('`ws.D`, or `N.ws.D` with two datacenters'),
    sshBaseDomain: text('`ssh.cs.D`, or `N.ssh.cs.D` with two datacenters'),
    publicIp: ip('The public-gateway address'),
    certIssuer: z
      .strictObject({
        acme: z
          .strictObject({
            server: z.url().meta({ description: 'Directory; by `--acme-staging` and `--cloud-acme-issuer`' }),
            email: z.string().meta({ description: '`admin@D`' }),
            eabKeyId: optionalText('With `--cloud-acme-issuer`; its MAC key is the secret `acmeEabMacKey`'),
          })
          .meta({ description: 'The ACME authority' }),
      })
      .meta({ description: 'Who issues certificates' }),
    internal: z.array(z.string()).meta({ description: '`--internal-flags`' }),
    preview: switches('`--preview-flags`'),
    features: switches('`--feature-flags`'),
    clusterAdminEmail: z
      .string()
      .lowercase()
      .optional()
      .meta({ description: '`--cluster-admin-email`, in lower case' }),
    forges: z
      .strictObject({
        forge1: forge('Present when `--forge1-app-client-id` is given'),
        forge2: forge('Present when `--forge2-app-client-id` is given'),
        forge3: forge('Present when `--forge3-app-client-id` is given'),
        forge4: forge('Present when `--forge4-app-client-id` is given'),
      })
      .meta({ description: 'Source-code hosting' }),
    oauth: z
      .strictObject({
        oidc: z
          .strictObject({
            enabled: flag('True'),
            name: text('`--oidc-provider-name`, else `OIDC`'),
            issuerUrl: z.url().meta({ description: '`--oidc-issuer-url`' }),
            scopes: z.array(z.string()).meta({ description: 'openid, profile, email' }),
          })
          .meta({ description: 'A provider of identities; its client is in the secrets' }),
      })
      .optional()
      .meta({ description: 'Present when `--oidc-client-id` is given' }),
    vault: z
      .strictObject({
        uri: z.url().meta({ description: '`--vault-uri`' }),
        engine: text('`--vault-engine`'),
        user: text('`--vault-user`; the password is the secret `vaultPassword`'),
      })
      .optional()
      .meta({ description: 'Secrets store; present when `--vault-uri` is given' }),
    telemetry: z
      .strictObject({
        remoteEndpoint: optionalText('`--central-otel-endpoint`'),
        remoteUser: optionalText('`--central-otel-username`; user and password are the secret `centralOtelCreds`'),
        remoteExport: flag('True when an endpoint is given'),
        spanMetrics: flag('`--central-otel-span-metrics`'),
        localTraceEndpoint: optionalText('`--local-trace-endpoint`'),
      })
      .meta({ description: 'Traces' }),
    override: override(),
  })
  .meta({ description: 'The platform' });

export const InstallConfig = z
  .strictObject({
    version: z.literal(1).meta({ description: 'Version of this form' }),
    bootstrap: z
      .strictObject({ id: text('Id of the bootstrap'), projectId: text('Its project') })
      .meta({ description: 'Whose config this is' }),
    dataCenter: z.strictObject(datacenter).meta({ description: 'The datacenter that this file is for' }),
    dataCenters: z
      .array(z.strictObject(datacenter))
      .optional()
      .meta({ description: 'All datacenters; only with `--multi-dc`' }),
    defaultDataCenterId: z.int().positive().optional().meta({ description: '1; only with `--multi-dc`' }),
    secrets: z.strictObject({ baseDir: text('`--secrets-dir`') }).meta({ description: 'Secrets on the jumpbox' }),
    registry: Registry,
    postgres: Postgres,
    ceph: Ceph,
    kubernetes: Kubernetes,
    cluster: Cluster,
    platform: Platform,
    operations: z
      .strictObject({
        skip: z
          .array(z.string())
          .meta({ description: '`--install-skip-steps`, and `postgres` in the second datacenter' }),
      })
      .meta({ description: 'How it is installed' }),
    override: override(),
  })
  .meta({ description: 'config.yaml' });
export type InstallConfig = z.infer<typeof InstallConfig>;

/** The parsed YAML of a config, whatever its form. `Problem` bad-input if it is not YAML. */
export function parseInstallConfig(content: string): unknown {
  const parsed = parseYaml(content);
  if ('content' in parsed) return parsed.content;
  throw new Problem('bad-input', `The install config is not YAML: ${parsed.fault}.`, { advice: correctIt });
}

/** Where the text says that the secrets are on the jumpbox. It may be damaged. */
export function baseDirIn(content: string): string | undefined {
  const parsed = parseYaml(content);
  const read = z
    .object({ secrets: z.object({ baseDir: z.string() }) })
    .safeParse('content' in parsed && parsed.content);
  return read.data?.secrets.baseDir;
}

const correctIt =
  'Correct the file, or move it and the secrets file aside: both are then written again from what the bootstrap holds.';

/** `Problem` bad-input if it is no install config. It lists every fault by its path. */
export function readInstallConfig(content: string): InstallConfig {
  const parsed = InstallConfig.safeParse(parseInstallConfig(content));
  if (parsed.success) return parsed.data;
  const errors: Fault[] = parsed.error.issues.map((issue) => ({
    path: issue.path.join('.') || 'config',
    message: issue.message,
  }));
  throw new Problem('bad-input', `The install config does not have the form that it must have: ${named(errors)}.`, {
    errors,
    advice: `Keys added by hand go under an \`override\` key. ${correctIt}`,
  });
}

const named = (faults: readonly Fault[]) => faults.map(({ path, message }) => `${path}: ${message}`).join('; ');

/** Readers of YAML 1.1 and 1.2 read it alike. Any text that either would take for something else is quoted. */
export const writeInstallConfig = (config: InstallConfig): string => portableYaml(config);
