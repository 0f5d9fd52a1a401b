/** The network that a project gets when compute is enabled. */
import { grantAtOnce } from '../iam/policies.js';
import { deletedAccounts, recordOfServiceAccount, serviceAccounts } from '../iam/service-accounts.js';
import type { JsonObject, ProjectRecord, Served, World } from '../kernel/api.js';
import { textOf } from '../kernel/json-fields.js';
import { lookUpProject } from '../kernel/projects.js';
import { isEnforced } from '../org-policy/policies.js';
import { networkResource } from './networks.js';
import { collections, computeService, type Held, held, hold, lastOf, link, serverFields } from './resources.js';

const { networks, firewalls } = collections;

const defaultRules: readonly { name: string; rule: JsonObject }[] = [
  { name: 'icmp', rule: { sourceRanges: ['0.0.0.0/0'], allowed: [{ IPProtocol: 'icmp' }] } },
  {
    name: 'internal',
    rule: {
      sourceRanges: ['10.128.0.0/9'],
      allowed: [
        { IPProtocol: 'tcp', ports: ['0-65535'] },
        { IPProtocol: 'udp', ports: ['0-65535'] },
        { IPProtocol: 'icmp' },
      ],
    },
  },
  { name: 'rdp', rule: { sourceRanges: ['0.0.0.0/0'], allowed: [{ IPProtocol: 'tcp', ports: ['3389'] }] } },
  { name: 'ssh', rule: { sourceRanges: ['0.0.0.0/0'], allowed: [{ IPProtocol: 'tcp', ports: ['22'] }] } },
];

/** The account that VMs get if their maker names none. */
export const defaultAccountOf = ({ projectNumber }: ProjectRecord): string =>
  `${projectNumber}-compute@developer.gserviceaccount.com`;

function makeDefaultAccount(project: ProjectRecord, world: World): void {
  const email = defaultAccountOf(project);
  if (deletedAccounts(world)[email] !== undefined) return;
  serviceAccounts(world)[email] ??= recordOfServiceAccount(world, email, {
    projectId: project.projectId,
    usableAt: world.now(),
    displayName: 'Compute Engine default service account',
  });
}

/**
 * Enabling compute brings a default service account at once, and a network `default` with its rules some seconds later. This
 * runs before every compute method.
 */
export function ensureDefaults(project: ProjectRecord, world: World): void {
  const seen = world.table<boolean>('compute.projects');
  if (project.services[computeService] === undefined || seen[project.projectId]) return;
  seen[project.projectId] = true;
  makeDefaultAccount(project, world);
  world.schedule(10, 'compute.networks.default', { project: project.projectId });
}

/** Compute's default service account becomes an editor, unless a policy says otherwise. */
function beginDefaultAccount(project: string, world: World): void {
  const record = lookUpProject(world, project);
  const policy = 'iam.automaticIamGrantsForDefaultServiceAccounts';
  if (record === undefined || isEnforced(world, `projects/${project}`, policy)) return;
  const members = [`serviceAccount:${defaultAccountOf(record)}`];
  grantAtOnce(world, `projects/${project}`, [{ role: 'roles/editor', members }]);
}

function makeDefaultNetwork(args: JsonObject, world: World): void {
  const project = textOf(args['project']) ?? '';
  const path = `projects/${project}/global/networks/default`;
  beginDefaultAccount(project, world);
  if (isEnforced(world, `projects/${project}`, 'compute.skipDefaultNetworkCreation')) return;
  if (held(world, networks)[path] !== undefined) return;
  const body = { name: 'default', description: 'Default network for the project', autoCreateSubnetworks: true };
  const network: Held = { phase: 'ready', resource: networkResource(path, body, world) };
  hold(world, networks, path, network);
  for (const { name, rule } of defaultRules) {
    const at = `projects/${project}/global/firewalls/default-allow-${name}`;
    hold(world, firewalls, at, {
      phase: 'ready',
      resource: {
        ...serverFields(at, firewalls, world),
        ...rule,
        name: lastOf(at),
        network: link(path),
        priority: 65534,
        direction: 'INGRESS',
        disabled: false,
        logConfig: { enable: false },
      },
    });
  }
}

export const servedDefaultNetwork: Served = {
  handlers: {},
  effects: { 'compute.networks.default': makeDefaultNetwork },
};
