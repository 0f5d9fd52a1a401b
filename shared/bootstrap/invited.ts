/**
 * What people get on the project that is shared with them: a custom role of that project. The permissions are those of Google's
 * predefined roles for viewers, for log-in and for logs, and of starting and stopping. The owner's role limits them further.
 */

/** The id of the role in the project. Ids have no hyphens. */
export const invitedRoleId = 'plinthInvited';

export const invitedRole = (projectId: string): string => `projects/${projectId}/roles/${invitedRoleId}`;

const readable = (service: string, nouns: readonly string[]): string[] =>
  nouns.flatMap((noun) => [`${service}.${noun}.get`, `${service}.${noun}.list`]);

interface Ability {
  /** Continues "They may". */
  readonly may: string;
  readonly permissions: readonly string[];
}

const abilities: readonly Ability[] = [
  {
    may: 'look at machines, network, zones, images and quotas',
    permissions: [
      'resourcemanager.projects.get',
      ...readable('compute', [
        'addresses',
        'backendServices',
        'disks',
        'diskTypes',
        'firewalls',
        'forwardingRules',
        'healthChecks',
        'instances',
        'machineTypes',
        'networks',
        'regions',
        'routers',
        'routes',
        'subnetworks',
        'targetPools',
        'zoneOperations',
        'zones',
      ]),
      'compute.projects.get',
      'compute.instances.getEffectiveFirewalls',
      'compute.instances.getGuestAttributes',
      'compute.instances.getSerialPortOutput',
      ...readable('dns', ['managedZones', 'resourceRecordSets']),
      'dns.projects.get',
      ...readable('artifactregistry', ['repositories', 'dockerimages']),
      ...readable('iam', ['serviceAccounts']),
      ...readable('serviceusage', ['services']),
      'serviceusage.quotas.get',
      'monitoring.timeSeries.list',
    ],
  },
  {
    // Google wants the last one of whoever logs in to a machine that has a service account.
    may: 'log in to machines, where Google decides who may (OS Login)',
    permissions: ['compute.instances.osLogin', 'compute.instances.osAdminLogin', 'iam.serviceAccounts.actAs'],
  },
  {
    may: 'start, stop and reset machines',
    permissions: ['start', 'stop', 'reset', 'suspend', 'resume'].map((verb) => `compute.instances.${verb}`),
  },
  {
    may: 'read logs',
    permissions: [
      'logging.logEntries.list',
      'logging.logs.list',
      'logging.logServiceIndexes.list',
      'logging.logServices.list',
      ...readable('logging', ['views']),
    ],
  },
];

/** Continues "They may". */
export const invitedMay: readonly string[] = abilities.map(({ may }) => may);

export const invitedPermissions: readonly string[] = abilities.flatMap(({ permissions }) => permissions);
