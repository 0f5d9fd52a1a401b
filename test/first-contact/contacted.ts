/** A simulated cloud as an operator's own, and `npm run first-contact` against it over the wire, as a process. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { endpointsText } from '../../functions/endpoints.js';
import { createSimulatedCloud, type SimulatedCloud, type SimulatedCloudOptions } from '../../local/cloud/index.js';
import { type Answer, createFabric } from '../../local/machines/network/fabric.js';
import { createPair } from '../../local/machines/network/streams.js';

export const operator = 'operator@office-project.iam.gserviceaccount.com';
export const billingAccount = '01AB23-45CD67-89EF01';
export const parent = 'folders/1000000000002';
export const dns = { project: 'office-project', zone: 'office', domain: 'office.example.com' };

/** Sees all projects, and changes none. */
export const watcher = 'watcher@example.com';

const organization = 'organizations/1000000000001';

/** What docs/operate/deploy.md asks of whoever runs it. */
const roles = [
  { resource: parent, names: ['resourcemanager.projectCreator', 'orgpolicy.policyViewer'] },
  { resource: `billingAccounts/${billingAccount}`, names: ['billing.user'] },
  { resource: `projects/${dns.project}`, names: ['dns.admin'] },
];

/** The APIs that count in the project of the operator's credentials, by the same page, and that of its zone. */
const operatorsApis = ['cloudresourcemanager', 'cloudbilling', 'serviceusage', 'orgpolicy', 'cloudquotas', 'dns'];

/** Behind the tunnel each VM that is up says who it is, and nothing else, where its firewall rules let IAP in. */
function sshBehind({ world }: SimulatedCloud) {
  const accept = async (): Promise<Answer> => {
    const [near, far] = createPair();
    far.write('SSH-2.0-simulated\r\n');
    return { kind: 'open', stream: near };
  };
  const metadata = (_: unknown, stream: Duplex): void => void stream.destroy();
  return createFabric({ world, accept, metadata, isOutside: () => false, asksRules: true }).connectFromIap;
}

export async function operatorsCloud(options: SimulatedCloudOptions = {}): Promise<SimulatedCloud> {
  const cloud = await createSimulatedCloud({
    dnsPort: 0,
    // Nothing is done in the first reply, and what spreads slowly is not waited for long.
    timeFactor: 0.004,
    metadata: { project: dns.project, serviceAccount: operator },
    ...options,
    // A network is still being made when the next call comes.
    worldSettings: { 'pace.compute': 8, 'pace.dns': 3, ...options.worldSettings },
    initial: {
      organizations: [{ name: organization, displayName: 'example.com' }],
      folders: [{ name: parent, displayName: 'first contact', parent: organization }],
      billingAccounts: [{ name: `billingAccounts/${billingAccount}`, displayName: 'Main account' }],
      projects: [
        {
          projectId: dns.project,
          parent: organization,
          billingAccountName: `billingAccounts/${billingAccount}`,
          services: operatorsApis.map((api) => `${api}.googleapis.com`),
        },
      ],
      serviceAccounts: [operator],
      unprovenDomains: ['google.com.'],
      bindings: [
        { resource: organization, role: 'roles/browser', members: [`user:${watcher}`] },
        ...roles.flatMap(({ resource, names }) =>
          names.map((name) => ({ resource, role: `roles/${name}`, members: [`serviceAccount:${operator}`] })),
        ),
      ],
      ...options.initial,
    },
  });
  cloud.tunnel.leadTo(sshBehind(cloud));
  await fetch(`${cloud.endpoints.dns}/dns/v1/projects/${dns.project}/managedZones`, {
    method: 'POST',
    headers: { authorization: `Bearer ${cloud.identity.accessToken(operator)}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: dns.zone, dnsName: `${dns.domain}.`, description: 'Office' }),
  });
  return cloud;
}

/** What a machine of Google's would have, and base URLs. */
export const environmentOf = (cloud: SimulatedCloud): Record<string, string> => ({
  PLINTH_ENDPOINTS: endpointsText({
    ...cloud.endpoints,
    'iap-tunnel': cloud.tunnel.url,
    'dns-resolver': cloud.nameServers?.resolver,
  }),
  GCE_METADATA_HOST: cloud.metadataHost,
  METADATA_SERVER_DETECTION: 'assume-present',
  GOOGLE_CLOUD_PROJECT: dns.project,
});

export interface Contacted {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export const program = join('dist', 'tools', 'first-contact', 'main.js');

interface Running {
  kill(signal: NodeJS.Signals): void;
  /** As where the terminal is closed, or `tee` ends first: nobody reads any more what it writes. */
  hangUp(): void;
}

interface Going {
  /** Called with all of stdout so far. */
  readonly onOutput?: (stdout: string, running: Running) => void;
}

export const given = ['--billing-account', billingAccount, '--parent', parent] as const;
export const delegating = ['--dns-project', dns.project, '--dns-zone', dns.zone, '--domain', dns.domain] as const;

export function contact(
  env: Record<string, string>,
  args: readonly string[],
  { onOutput }: Going = {},
): Promise<Contacted> {
  const child = spawn(process.execPath, ['--', program, ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
    onOutput?.(stdout, {
      kill: (signal) => child.kill(signal),
      hangUp: () => {
        child.stdout.destroy();
        child.stderr.destroy();
      },
    });
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

/** A folder for recordings, gone afterwards. */
export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'plinth-first-contact-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
