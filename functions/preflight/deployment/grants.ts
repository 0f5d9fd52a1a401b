/** Whether the functions hold in plinth's own project what terraform/roles.json grants them there. Each asks for itself. */
import { collections, schedulerJobs } from '../../../shared/names.js';
import { Problem } from '../../../shared/problems.js';
import { liftGrants, type Scheduled, scheduledPermissions } from '../../host/own-grants.js';
import { read } from '../../store/lift.js';
import { persist } from '../../store/persist.js';
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

const lacking = (name: string, missing: readonly string[], project: string): Problem =>
  new Problem('cloud-permission', `plinth-${name} lacks ${missing.join(', ')} in ${project}.`, {
    advice: 'Apply terraform again: its grants stand in terraform/roles.json.',
  });

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
      return stop(lacking(name, missing, project));
    },
  });

/** What a function said of itself is old after this. */
const freshMs = 3_600_000;

const reportedGrantsOf = (name: Scheduled): Finding =>
  defineFinding({
    code: `grants-${name}`,
    title: `Grants of ${name}`,
    why: 'Nobody but Cloud Scheduler calls it. So it looks at them itself, while it runs.',
    by: 'door',
    about: [],
    async ask({ context: { store, config, clock } }: Asking) {
      const found = read(await persist(() => store.get(collections.grants, name)), liftGrants)?.data;
      return { project: config.project, found, now: clock.now().getTime() };
    },
    judge({ project, found, now }) {
      const mend = `Look at its schedule: gcloud scheduler jobs describe ${schedulerJobs[name]} --project=${project}`;
      if (found === undefined) return { state: 'unknown', what: `${name} has not looked at them yet`, mend };
      if (now - Date.parse(found.at) > freshMs) {
        return { state: 'unknown', what: `${name} has not looked at them since ${found.at}`, mend };
      }
      if (found.missing === '') return ok(`all ${scheduledPermissions[name].length} in ${project}, at ${found.at}`);
      return stop(lacking(name, found.missing.split(' '), project));
    },
  });

export const grants: readonly Finding[] = [
  grantsOf('bootstraps', 'door'),
  grantsOf('run-cloud-step', 'lane'),
  grantsOf('run-host-step', 'host-lane'),
  reportedGrantsOf('sweep'),
  reportedGrantsOf('cleanup'),
];
