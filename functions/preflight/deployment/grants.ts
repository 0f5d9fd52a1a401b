/** Whether the functions hold in plinth's own project what terraform/roles.json grants them there. Each asks for itself. */
import { Problem } from '../../../shared/problems.js';
import { type Asking, defineFinding, type Finding, ok, stop } from '../finding.js';

/** By function, what it needs in plinth's own project, API by API. */
export const ownPermissions = {
  bootstraps: [
    'datastore.entities.create',
    'secretmanager.secrets.create',
    'compute.regions.get',
    'compute.machineTypes.get',
    'cloudscheduler.jobs.get',
    'cloudscheduler.jobs.pause',
    'cloudscheduler.jobs.enable',
    'cloudscheduler.jobs.run',
  ],
  'run-cloud-step': ['datastore.entities.create', 'secretmanager.secrets.create'],
  'run-host-step': ['datastore.entities.create'],
} as const;

const grantsOf = (name: keyof typeof ownPermissions, by: Finding['by']): Finding =>
  defineFinding({
    code: `grants-${name}`,
    title: `Grants of ${name}`,
    why: 'Without them it fails at its first call.',
    by,
    mustBeAsked: true,
    about: [],
    async ask({ context: { cloud, config } }: Asking) {
      const held = await cloud.projects.held(config.project, ownPermissions[name]);
      return { project: config.project, missing: ownPermissions[name].filter((each) => !held.includes(each)) };
    },
    judge({ project, missing }) {
      if (missing.length === 0) return ok(`all ${ownPermissions[name].length} in ${project}`);
      return stop(
        new Problem('cloud-permission', `plinth-${name} lacks ${missing.join(', ')} in ${project}.`, {
          advice: 'Apply terraform again: its grants stand in terraform/roles.json.',
        }),
      );
    },
  });

export const grants: readonly Finding[] = [
  grantsOf('bootstraps', 'door'),
  grantsOf('run-cloud-step', 'lane'),
  grantsOf('run-host-step', 'host-lane'),
];
