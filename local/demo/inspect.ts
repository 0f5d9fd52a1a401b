/**
 * Inspects a bootstrap from outside. It reads what exists over the simulated cloud's own HTTP with one person's token, one
 * line per thing.
 *
 * It compares that with what should exist, which is deliberately written down here a second time.
 */

export interface Wanted {
  readonly projectId: string;
  readonly projectName: string;
  readonly region: string;
  readonly zone: string;
  readonly baseDomain: string;
  readonly dnsZone: string;
  /** Undefined means the project itself. */
  readonly dnsProject?: string | undefined;
  readonly multiDc?: boolean;
  readonly customPg?: boolean;
  /** Default: external. */
  readonly loadBalancers?: 'external' | 'internal';
  readonly artifactRegistry?: boolean;
  readonly rootDiskSize?: number;
  /** By VM name; `*` means the other VMs. Default STANDARD. */
  readonly provisioning?: Readonly<Record<string, 'STANDARD' | 'SPOT' | 'PREEMPTIBLE'>>;
  /** The owner as an IAM member. */
  readonly owner: string;
}

export interface Eyes {
  readonly frontUrl: string;
  readonly accessToken: string;
}

type Json = { readonly [field: string]: unknown };

async function ask(eyes: Eyes, method: 'GET' | 'POST', path: string, body?: object): Promise<Json> {
  const reply = await fetch(`${eyes.frontUrl}/${path}`, {
    method,
    headers: { authorization: `Bearer ${eyes.accessToken}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${method} ${path} → ${reply.status} ${text.slice(0, 300)}`);
  return JSON.parse(text) as Json;
}

const list = (value: unknown): readonly Json[] => (value ?? []) as readonly Json[];
const nested = (value: unknown): Json => (value ?? {}) as Json;
const last = (value: unknown): string => String(value).split('/').at(-1) ?? '';

/** What a Shielded VM has on, `shielded` if all of it. */
const shieldOf = (vm: Json): string => {
  const config = nested(vm['shieldedInstanceConfig']);
  const on = ['enableSecureBoot', 'enableVtpm', 'enableIntegrityMonitoring'].filter((name) => config[name] === true);
  return on.length === 3 ? 'shielded' : `not shielded: only ${on.join(' and ')}`;
};

const vmLine = (vm: Json): string => {
  const [nic = {}] = list(vm['networkInterfaces']);
  const scheduling = nested(vm['scheduling']);
  const provisioning =
    scheduling['preemptible'] === true && scheduling['provisioningModel'] !== 'SPOT'
      ? 'PREEMPTIBLE'
      : (scheduling['provisioningModel'] ?? 'STANDARD');
  const disks = list(vm['disks']).map(({ diskSizeGb }) => Number(diskSizeGb));
  const account = last(list(vm['serviceAccounts'])[0]?.['email'] ?? 'no account').replace(/@.*/, '');
  return [
    `VM ${String(vm['name'])}`,
    last(vm['machineType']),
    vm['status'],
    `disks ${disks.join('+')}`,
    list(nic['accessConfigs']).some(({ natIP }) => natIP !== undefined) ? 'external IP' : 'no external IP',
    account,
    `tags ${[...((nested(vm['tags'])['items'] ?? []) as string[])].sort().join(' ')}`,
    provisioning,
    shieldOf(vm),
  ].join(', ');
};

const roleLines = (where: string, policy: Json): string[] =>
  list(policy['bindings']).flatMap(({ role, members }) =>
    (members as string[]).map((member) => `role ${String(role)} on ${where}: ${member}`),
  );

/** A line for everything that exists, in no order. Throws if something cannot be read. */
async function lookAt(eyes: Eyes, wanted: Wanted): Promise<string[]> {
  const { projectId, region, zone, dnsZone, dnsProject = projectId } = wanted;
  const compute = `compute.googleapis.com/compute/v1/projects/${projectId}`;
  const dns = `dns.googleapis.com/dns/v1/projects/${dnsProject}/managedZones/${dnsZone}`;
  const project = await ask(eyes, 'GET', `cloudresourcemanager.googleapis.com/v3/projects/${projectId}`);
  const billing = await ask(eyes, 'GET', `cloudbilling.googleapis.com/v1/projects/${projectId}/billingInfo`);
  const policy = await ask(
    eyes,
    'POST',
    `cloudresourcemanager.googleapis.com/v3/projects/${projectId}:getIamPolicy`,
    {},
  );
  const instances = list((await ask(eyes, 'GET', `${compute}/zones/${zone}/instances`))['items']);
  const addresses = list((await ask(eyes, 'GET', `${compute}/regions/${region}/addresses`))['items']);
  const firewalls = list((await ask(eyes, 'GET', `${compute}/global/firewalls`))['items']);
  const subnets = list((await ask(eyes, 'GET', `${compute}/regions/${region}/subnetworks`))['items']);
  const routers = list((await ask(eyes, 'GET', `${compute}/regions/${region}/routers`))['items']);
  const managedZone = await ask(eyes, 'GET', dns);
  const records = list((await ask(eyes, 'GET', `${dns}/rrsets`))['rrsets']);
  const zonePolicy = await ask(eyes, 'POST', `${dns}:getIamPolicy`, {});
  const labels = nested(project['labels']);
  const nameOf = new Map(addresses.map(({ name, address }) => [String(address), String(name)]));
  const found = [
    `project ${projectId}: ${String(project['displayName'])}, ${String(project['state'])}`,
    ...Object.keys(labels).map((name) => `label ${name}`),
    `billing ${billing['billingEnabled'] === true ? 'on' : 'off'}`,
    ...instances.map(vmLine),
    ...addresses.map(({ name, addressType }) => `address ${String(name)}, ${String(addressType)}`),
    ...firewalls
      .filter(({ network }) => last(network) === `${projectId}-vpc`)
      .map(({ name, direction }) => `firewall ${String(name)}, ${String(direction)}`),
    ...subnets.map(({ name, ipCidrRange }) => `subnet ${String(name)}, ${String(ipCidrRange)}`),
    ...routers.map(
      ({ name, nats }) =>
        `router ${String(name)}, NAT ${list(nats)
          .map((nat) => nat['name'])
          .join(' ')}`,
    ),
    `zone ${dnsZone}: ${String(managedZone['dnsName'])}`,
    ...records
      .filter(({ type }) => type === 'A')
      .flatMap(({ name, ttl, rrdatas }) =>
        (rrdatas as string[]).map((value) => `record ${String(name)} ${String(ttl)} A → ${nameOf.get(value) ?? value}`),
      ),
    ...roleLines('the project', policy),
    ...roleLines('the zone', zonePolicy),
  ];
  if (wanted.artifactRegistry !== true) return found;
  const repository = `artifactregistry.googleapis.com/v1/projects/${projectId}/locations/${region}/repositories/platform-registry`;
  const { format } = await ask(eyes, 'GET', repository);
  const repositoryPolicy = await ask(eyes, 'GET', `${repository}:getIamPolicy`);
  return [
    ...found,
    `repository platform-registry, ${String(format)}`,
    ...roleLines('the repository', repositoryPolicy),
  ];
}

/** The lines that must be among them. */
function linesOf(wanted: Wanted): string[] {
  const { projectId, projectName, region, baseDomain, dnsZone, owner, multiDc = false, customPg = false } = wanted;
  const { artifactRegistry = false, rootDiskSize = 50, provisioning = {}, loadBalancers = 'external' } = wanted;
  const suffixes = multiDc ? ['', '-dc2'] : [''];
  const own = wanted.dnsProject === undefined;
  const vm = (name: string, type: string, ip: string, account: string, tags: string, more: number[] = []): string =>
    `VM ${name}, ${type}, RUNNING, disks ${[rootDiskSize, ...more].join('+')}, ${ip}, ${account}, tags ${tags}, ${
      provisioning[name] ?? provisioning['*'] ?? 'STANDARD'
    }, shielded`;
  const record = (name: string, address: string): string => `record ${name}.${baseDomain}. 300 A → ${address}`;
  const pair = (name: string, address: string): string[] => [record(name, address), record(`*.${name}`, address)];
  const controller = `serviceAccount:cloud-controller@${projectId}.iam.gserviceaccount.com`;
  const writer = `serviceAccount:artifact-registry-writer@${projectId}.iam.gserviceaccount.com`;
  return [
    `project ${projectId}: ${projectName}, ACTIVE`,
    ...['plinth-managed', 'plinth-bootstrap', 'plinth-deployment', 'plinth-owner', 'plinth-proof', 'delete-after'].map(
      (name) => `label ${name}`,
    ),
    'billing on',
    vm(
      'jumpbox',
      'e2-medium',
      'external IP',
      artifactRegistry ? 'artifact-registry-writer' : 'no account',
      'jumpbox ssh',
    ),
    ...(customPg ? [] : [vm('postgres', 'e2-standard-2', 'no external IP', 'no account', 'postgres')]),
    ...suffixes.flatMap((suffix) =>
      [1, 2, 3].flatMap((n) => [
        vm(`ceph-${n}${suffix}`, 'e2-standard-8', 'no external IP', 'no account', 'ceph', [10, 100]),
        vm(`k0s-${n}${suffix}`, 'e2-standard-8', 'no external IP', 'cloud-controller', 'k0s'),
      ]),
    ),
    ...suffixes.flatMap((suffix) =>
      ['gateway', 'public-gateway', 'ssh-proxy'].map(
        (name) => `address ${name}${suffix}, ${loadBalancers.toUpperCase()}`,
      ),
    ),
    'firewall allow-ssh-ext, INGRESS',
    'firewall allow-internal, INGRESS',
    'firewall allow-all-egress, EGRESS',
    'firewall allow-ingress-web, INGRESS',
    'firewall allow-health-checks, INGRESS',
    `subnet ${projectId}-${region}-subnet, 10.10.0.0/20`,
    `router ${projectId}-router, NAT ${projectId}-nat-gateway`,
    ...(own ? [`zone ${dnsZone}: ${baseDomain}.`] : []),
    ...pair('cs', 'gateway'),
    ...(multiDc
      ? [1, 2].flatMap((n) => {
          const suffix = n === 1 ? '' : '-dc2';
          return [
            ...pair(`${n}.cs`, `gateway${suffix}`),
            ...pair(`${n}.ws`, `public-gateway${suffix}`),
            record(`*.${n}.ssh.cs`, `ssh-proxy${suffix}`),
          ];
        })
      : [...pair('ws', 'public-gateway'), record('*.ssh.cs', 'ssh-proxy')]),
    `role projects/${projectId}/roles/plinthCloudController on the project: ${controller}`,
    `role roles/editor on the project: ${owner}`,
    ...(own ? [`role roles/dns.admin on the zone: ${controller}`] : []),
    ...(artifactRegistry
      ? [
          'repository platform-registry, DOCKER',
          `role roles/artifactregistry.reader on the repository: ${controller}`,
          `role roles/artifactregistry.writer on the repository: ${writer}`,
        ]
      : []),
  ];
}

export interface Findings {
  readonly found: readonly string[];
  readonly wanted: readonly string[];
  readonly missing: readonly string[];
  /** VMs, addresses and records that should not exist. */
  readonly extra: readonly string[];
}

export async function inspect(eyes: Eyes, wanted: Wanted): Promise<Findings> {
  const lines = linesOf(wanted);
  const found = await lookAt(eyes, wanted);
  return {
    found,
    wanted: lines,
    missing: lines.filter((line) => !found.includes(line)),
    extra: found.filter((line) => /^(VM|address|record|firewall) /.test(line) && !lines.includes(line)),
  };
}
