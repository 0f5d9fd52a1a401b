/** Whether the functions hold in plinth's own project what terraform/roles.json grants them there. Each asks for itself. */
import { collections, schedulerJobs } from '../../../shared/names.js';
import { Problem } from '../../../shared/problems.js';
import { countOf, type Holder, missingGrants } from '../../host/needed-grants.js';
import { liftGrants, restMs, type Scheduled } from '../../host/own-grants.js';
import { read } from '../../store/lift.js';
import { type Asking, defineFinding, type Finding, ok, stop, type Verdict } from '../finding.js';
import { applyTerraform, logsOf } from './mends.js';

const lacking = (name: Holder, missing: string, project: string): Problem =>
  new Problem('cloud-permission', `In ${project}, plinth-${name} lacks ${missing}.`, {
    advice: `${applyTerraform}: its grants stand in terraform/roles.json.`,
  });

/** Not to be told is not to hold nothing. */
const untoldOf = (what: string, project: string): Verdict => ({
  state: 'unknown',
  what,
  mend: `${applyTerraform}. If it stays so, see who may what: gcloud projects get-iam-policy ${project}`,
});

const grantsOf = (name: Holder, by: Finding['by']): Finding =>
  defineFinding({
    code: `grants-${name}`,
    title: `Grants of ${name}`,
    why: 'Without them it fails at its first call.',
    by,
    about: [],
    async ask({ context }: Asking) {
      const { project } = context.config;
      try {
        return { project, missing: (await missingGrants(context, name)).join(', ') };
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== 'cloud-permission') throw error;
        return { project, untold: error.detail };
      }
    },
    judge({ project, missing, untold }) {
      if (untold !== undefined) return untoldOf(untold, project);
      if (missing === '') return ok(`all ${countOf(name)} in ${project}`);
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
    async ask({ context: { cloud, store, config, clock } }: Asking) {
      const [document, job] = await Promise.all([
        store.get(collections.grants, name),
        cloud.scheduler.status(schedulerJobs[name]).catch(() => undefined),
      ]);
      const found = read(document, liftGrants)?.data;
      // Not known where the job cannot be looked at. Its own finding tells that.
      const calledAt = job?.state === 'enabled' ? job.lastRunAt : undefined;
      return { project: config.project, found, now: clock.now().getTime(), calledAt, logs: logsOf(name, config) };
    },
    judge({ project, found, now, calledAt, logs }) {
      const mend = `Look at its schedule: gcloud scheduler jobs describe ${schedulerJobs[name]} --project=${project}`;
      if (found === undefined) return { state: 'unknown', what: `${name} has not looked at them yet`, mend };
      const isOld = now - Date.parse(found.at) > freshMs;
      const wasCalled = calledAt !== undefined && Date.parse(calledAt) - Date.parse(found.at) > restMs;
      if (isOld && wasCalled) {
        const what = `${name} was called at ${calledAt}, and has not come to look at them since ${found.at}.`;
        return stop(new Problem('unavailable', what, { advice: `${applyTerraform}. If it stays so: ${logs}` }));
      }
      if (isOld) {
        return { state: 'unknown', what: `${name} has not looked at them since ${found.at}`, mend };
      }
      if (found.untold !== undefined) return untoldOf(found.untold, project);
      if (found.missing === '') return ok(`all ${countOf(name)} in ${project}, at ${found.at}`);
      return stop(lacking(name, found.missing, project));
    },
  });

export const grants: readonly Finding[] = [
  grantsOf('bootstraps', 'door'),
  grantsOf('run-cloud-step', 'lane'),
  grantsOf('run-host-step', 'host-lane'),
  reportedGrantsOf('sweep'),
  reportedGrantsOf('cleanup'),
];
