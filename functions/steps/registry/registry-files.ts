/** Files of the registry on the jumpbox, and of those who trust it: pure, written by the steps beside it. */
export const registryUnit = 'platform-registry.service';
const folder = '/etc/platform/registry';
/** Outlives the service, and with the disk the machine's restarts. */
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

/** Of docker-registry 2. It listens in the subnet alone. */
export async function registryConfig(server: string): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify({
    version: '0.1',
    log: { level: 'info', formatter: 'text' },
    storage: { filesystem: { rootdirectory: dataFolder }, delete: { enabled: true } },
    http: {
      addr: server,
      // Whoever asks by name goes on by name.
      relativeurls: true,
      tls: { certificate: registryPaths.certificate, key: registryPaths.key },
    },
    auth: { htpasswd: { realm: 'platform', path: registryPaths.users } },
  });
}

/** Root, as nobody else may read the key; of root's powers it has none. */
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
 * What k0s gives its containerd besides: drop-ins in this folder, see https://docs.k0sproject.io/stable/runtime/. It watches them;
 * the files of a host are read at each pull, so that another authority is known without a restart.
 */
const dropIns = '/etc/k0s/containerd.d';
const hostsFolder = `${dropIns}/certs.d`;

/** By path. `version = 2` is containerd 1.7's form, and newer ones take it. */
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
