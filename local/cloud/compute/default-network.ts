/** The network that a project gets when compute is enabled. */
import { grantAtOnce } from '../iam/policies.js';
import type { JsonObject, ProjectRecord, Served, World } from '../kernel/api.js';
import { textOf } from '../kernel/json-fields.js';
import { isEnforced } from '../org-policy/policies.js';
import { lookUpProject } from '../projects/projects.js';
import { networkResource } from './networks.js';
import { collections, computeService, held, lastOf, link, serverFields } from './resources.js';

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

/** Enabling compute brings a network `default` with its rules, some seconds later. This runs before every compute method. */
export function ensureDefaultNetwork(project: ProjectRecord, world: World): void {
  const seen = world.table<boolean>('compute.projects');
  if (project.services[computeService] === undefined || seen[project.projectId]) return;
  seen[project.projectId] = true;
  world.schedule(10, 'compute.networks.default', { project: project.projectId });
}

/** Compute's default service account becomes an editor, unless a policy says otherwise. */
function beginDefaultAccount(project: string, world: World): void {
  const number = lookUpProject(world, project)?.projectNumber;
  const policy = 'iam.automaticIamGrantsForDefaultServiceAccounts';
  if (number === undefined || isEnforced(world, `projects/${project}`, policy)) return;
  const members = [`serviceAccount:${number}-compute@developer.gserviceaccount.com`];
  grantAtOnce(world, `projects/${project}`, [{ role: 'roles/editor', members }]);
}

function makeDefaultNetwork(args: JsonObject, world: World): void {
  const project = textOf(args['project']) ?? '';
  const path = `projects/${project}/global/networks/default`;
  beginDefaultAccount(project, world);
  if (isEnforced(world, `projects/${project}`, 'compute.skipDefaultNetworkCreation')) return;
  if (held(world, networks)[path] !== undefined) return;
  const body = { name: 'default', description: 'Default network for the project', autoCreateSubnetworks: true };
  held(world, networks)[path] = { phase: 'ready', resource: networkResource(path, body, world) };
  for (const { name, rule } of defaultRules) {
    const at = `projects/${project}/global/firewalls/default-allow-${name}`;
    held(world, firewalls)[at] = {
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
    };
  }
}

export const servedDefaultNetwork: Served = {
  handlers: {},
  effects: { 'compute.networks.default': makeDefaultNetwork },
};
