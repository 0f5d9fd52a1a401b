/** Maps compute's methods to permissions: insert needs `create`, patch needs `update`, and a VM needs more for its parts. */

import { serviceAccounts } from '../iam/service-accounts.js';
import type { Access, CloudCall, World } from '../kernel/api.js';
import { objectOf, objectsOf, textOf } from '../kernel/json-fields.js';
import { isImageProject } from './images.js';
import { collections, held } from './resources.js';

const verbs: Readonly<Record<string, string>> = {
  insert: 'create',
  patch: 'update',
  aggregatedList: 'list',
  wait: 'get',
  getRouterStatus: 'get',
};

/** Changes in a network or subnetwork also need these. */
const besides: Readonly<Record<string, readonly string[]>> = {
  'compute.subnetworks.insert': ['compute.networks.updatePolicy'],
  'compute.firewalls.insert': ['compute.networks.updatePolicy'],
  'compute.firewalls.patch': ['compute.networks.updatePolicy'],
  'compute.firewalls.update': ['compute.networks.updatePolicy'],
  'compute.firewalls.delete': ['compute.networks.updatePolicy'],
  'compute.routers.insert': ['compute.networks.updatePolicy'],
  'compute.routers.delete': ['compute.networks.updatePolicy'],
};

export function computeAccess(call: CloudCall, world: World): readonly Access[] {
  const project = call.params['project'] ?? '';
  if (isImageProject(project)) return [];
  const [, collection = '', verb = ''] = call.method.split('.');
  const permissions = [`compute.${collection}.${verbs[verb] ?? verb}`, ...(besides[call.method] ?? [])];
  permissions.push(...(parts[call.method]?.(call, world) ?? []));
  const resource = `projects/${world.project(project).projectId}`;
  return [
    ...permissions.map((permission) => ({ permission, resource })),
    ...accountsIn(call).map((email) => ({
      permission: 'iam.serviceAccounts.actAs',
      resource: serviceAccounts(world)[email] === undefined ? resource : `${projectOf(email)}/serviceAccounts/${email}`,
    })),
  ];
}

const has = ({ body }: CloudCall, field: string): boolean => {
  const value = body[field];
  return Array.isArray(value) ? value.length > 0 : textOf(value) !== undefined && value !== '';
};

/** What a call needs for the resources that its body names. */
const parts: Readonly<Record<string, (call: CloudCall, world: World) => string[]>> = {
  'compute.instances.insert': instanceNeeds,
  'compute.addresses.insert': ({ body }) =>
    body['addressType'] === 'INTERNAL' ? ['compute.addresses.createInternal', 'compute.subnetworks.use'] : [],
  'compute.addresses.delete': (call, world) => {
    const { project = '', region = '', address = '' } = call.params;
    const path = `projects/${world.project(project).projectId}/regions/${region}/addresses/${address}`;
    const isInternal = held(world, collections.addresses)[path]?.resource['addressType'] === 'INTERNAL';
    return isInternal ? ['compute.addresses.deleteInternal'] : [];
  },
  'compute.forwardingRules.insert': (call) =>
    call.body['loadBalancingScheme'] === 'INTERNAL'
      ? [
          'compute.regionBackendServices.use',
          'compute.subnetworks.use',
          ...(has(call, 'network') ? ['compute.networks.use'] : []),
          ...(has(call, 'IPAddress') ? ['compute.addresses.useInternal'] : []),
        ]
      : ['compute.targetPools.use', ...(has(call, 'IPAddress') ? ['compute.addresses.use'] : [])],
};

/** The accounts that a new VM is to act as. */
const accountsIn = ({ method, body }: CloudCall): string[] =>
  method === 'compute.instances.insert'
    ? objectsOf(body['serviceAccounts']).flatMap(({ email }) => textOf(email) ?? [])
    : [];

const projectOf = (email: string): string => `projects/${email.split('@')[1]?.split('.')[0] ?? ''}`;

function instanceNeeds(call: CloudCall): string[] {
  const { body } = call;
  const isExternal = objectsOf(body['networkInterfaces']).some((nic) => objectsOf(nic['accessConfigs']).length > 0);
  return [
    'compute.disks.create',
    'compute.subnetworks.use',
    ...(isExternal ? ['compute.subnetworks.useExternalIp'] : []),
    ...(objectOf(body['metadata']) === undefined ? [] : ['compute.instances.setMetadata']),
    ...(objectOf(body['tags']) === undefined ? [] : ['compute.instances.setTags']),
    ...(objectOf(body['labels']) === undefined ? [] : ['compute.instances.setLabels']),
    ...(accountsIn(call).length > 0 ? ['compute.instances.setServiceAccount'] : []),
  ];
}
