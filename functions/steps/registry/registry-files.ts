/** Builds the files of the registry on the jumpbox, and those of the machines that trust it. Pure. */
export const registryUnit = 'platform-registry.service';
const folder = '/etc/platform/registry';
/** Outlives the service and, on the disk, restarts of the machine. */
const dataFolder = '/var/lib/platform/registry';

export const registryPaths = {
  config: `${folder}/config.yml`,
  caCertificate: `${folder}/ca.crt`,
  certificate: `${folder}/tls.crt`,
  key: `${folder}/tls.key`,
  users: `${folder}/htpasswd`,
  unit: `/etc/systemd/system/${registryUnit}`,
  data: dataFolder,
} as const;

/** Config of docker-registry 2. It listens only in the subnet. */
export async function registryConfig(server: string): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify({
    version: '0.1',
    log: { level: 'info', formatter: 'text' },
    storage: { filesystem: { rootdirectory: dataFolder }, delete: { enabled: true } },
    http: {
      addr: server,
      // A client that asks by name keeps using the name.
      relativeurls: true,
      tls: { certificate: registryPaths.certificate, key: registryPaths.key },
    },
    auth: { htpasswd: { realm: 'platform', path: registryPaths.users } },
  });
}

/** Runs as root, because nobody else may read the key, but without root's capabilities. */
export const registryUnitFile = `[Unit]
Description=Image registry of the platform
Wants=network-online.target
After=network-online.target

[Service]
ExecStart=/usr/bin/docker-registry serve ${registryPaths.config}
Restart=always
RestartSec=2
CapabilityBoundingSet=
NoNewPrivileges=yes
PrivateTmp=yes
ProtectHome=yes
ProtectSystem=strict
ReadWritePaths=${dataFolder}

[Install]
WantedBy=multi-user.target
`;

export const trustedPath = '/usr/local/share/ca-certificates/platform-registry.crt';

/**
 * k0s passes the drop-ins in this folder to its containerd, see https://docs.k0sproject.io/stable/runtime/. It watches them.
 * containerd reads a host's files at each pull, so a new CA needs no restart.
 */
const dropIns = '/etc/k0s/containerd.d';
const hostsFolder = `${dropIns}/certs.d`;

/** The files by path. `version = 2` is containerd 1.7's form, and newer releases accept it. */
export const containerdFiles = (server: string, caCertPem: string): Readonly<Record<string, string>> => ({
  [`${hostsFolder}/${server}/ca.crt`]: caCertPem,
  [`${hostsFolder}/${server}/hosts.toml`]: `server = "https://${server}"

[host."https://${server}"]
capabilities = ["pull", "resolve"]
ca = "ca.crt"
`,
  [`${dropIns}/registry.toml`]: `version = 2

[plugins."io.containerd.grpc.v1.cri".registry]
config_path = "${hostsFolder}"
`,
});
