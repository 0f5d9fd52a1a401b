/** What only operators may: new bootstraps, cleanup and its schedule, pools, and projects without a record. */
import type { BootstrapView } from '../../../shared/bootstrap/bootstrap.js';
import type {
  admissionRoutes,
  poolRoutes,
  scheduleRoutes,
  surveyRoutes,
  unknownRoutes,
} from '../../../shared/bootstrap/routes.js';
import type { ScheduleVerb, ScheduleView } from '../../../shared/cleanup-schedule.js';
import { schedulerJobs } from '../../../shared/names.js';
import { Problem } from '../../../shared/problems.js';
import { readAdmission, switchAdmission } from '../../bootstraps/begin/admission.js';
import { survey } from '../../cleanup/survey.js';
import { adoptProject, removeUnknown, viewUnknown } from '../../cleanup/unknown-project.js';
import type { Context } from '../../context.js';
import type { StoredBootstrap } from '../../engine/record/documents.js';
import type { AnyStep } from '../../engine/step.js';
import type { Caller } from '../../identity/auth.js';
import { readPools, turnPools } from '../../pools/status.js';
import type { Answer } from '../reply.js';
import type { Handlers } from '../router.js';
import { checkMayOwn } from './permission.js';

type View = (found: StoredBootstrap) => Promise<BootstrapView>;

export const operatorHandlers = (context: Context, steps: readonly AnyStep[], view: View) => ({
  ...scheduleHandlers(context),
  ...switchHandlers(context),
  ...unknownHandlers(context, steps, view),
});

/** `refusal` names what is theirs alone. */
export function checkOperator({ operator }: Caller, refusal: string): void {
  if (!operator) throw new Problem('forbidden', refusal);
}

const ok = async (body: Promise<unknown>): Promise<Answer> => ({ status: 200, body: await body });

const ofAdmission = 'Whether new bootstraps are taken is for operators.';
const ofPools = 'Pools of prepared projects are for operators.';

const switchHandlers = (context: Context): Handlers<typeof admissionRoutes & typeof poolRoutes> => ({
  async getAdmission({ caller }) {
    checkOperator(caller, ofAdmission);
    return ok(readAdmission(context));
  },
  async stopNewBootstraps({ caller, body: { reason } }) {
    checkOperator(caller, ofAdmission);
    return ok(switchAdmission(context, caller.email, { state: 'stopped', reason }));
  },
  async startNewBootstraps({ caller }) {
    checkOperator(caller, ofAdmission);
    return ok(switchAdmission(context, caller.email, { state: 'open' }));
  },
  async getPools({ caller }) {
    checkOperator(caller, ofPools);
    return ok(readPools(context));
  },
  async drainPools({ caller }) {
    checkOperator(caller, ofPools);
    return ok(turnPools(context, caller.email, 'drain'));
  },
  async fillPools({ caller }) {
    checkOperator(caller, ofPools);
    return ok(turnPools(context, caller.email, 'fill'));
  },
});

/** The Cloud Scheduler job that calls cleanup. */
function scheduleHandlers({ cloud, log }: Pick<Context, 'cloud' | 'log'>): Handlers<typeof scheduleRoutes> {
  const job = schedulerJobs.cleanup;

  async function standing(caller: Caller): Promise<ScheduleView> {
    checkOperator(caller, 'When cleanup runs is for operators.');
    const found = await cloud.scheduler.status(job);
    if (found !== undefined) return found;
    throw new Problem('not-found', `There is no job ${job} in Cloud Scheduler: nothing calls cleanup.`, {
      advice: 'Deploy plinth again; terraform makes the job.',
    });
  }

  return {
    async getCleanupSchedule({ caller }) {
      return ok(standing(caller));
    },
    async steerCleanupSchedule({ caller, params: { verb } }) {
      const before = await standing(caller);
      // Google refuses to pause a paused job, and to resume one that is not paused.
      const after = isSo(before, verb) ? before : await cloud.scheduler[verb](job);
      log('INFO', `${caller.email}: ${verb} ${job}`, { before: before.state, after: after.state });
      return { status: 200, body: after };
    },
  };
}

const isSo = ({ state }: ScheduleView, verb: ScheduleVerb): boolean =>
  (verb === 'pause' && state === 'paused') || (verb === 'resume' && state === 'enabled');

const ofUnknown = 'Projects without a record are for operators.';

const unknownHandlers = (
  context: Context,
  steps: readonly AnyStep[],
  view: View,
): Handlers<typeof unknownRoutes & typeof surveyRoutes> => ({
  async surveyCleanup({ caller }) {
    checkOperator(caller, 'What cleanup would do is for operators.');
    return ok(survey(context, steps));
  },
  async getUnknownProject({ caller, params: { projectId } }) {
    checkOperator(caller, ofUnknown);
    return ok(viewUnknown(context, steps, projectId));
  },
  async takeInProject({ caller, params: { projectId }, body: { owner, ttl, team } }) {
    checkOperator(caller, ofUnknown);
    checkMayOwn(context.config, owner);
    const taken = await adoptProject(context, projectId, { by: caller.email, owner, ttl, team });
    return { status: 201, body: await view(taken) };
  },
  async removeUnknownProject({ caller, params: { projectId }, query: { plan: agreed } }) {
    checkOperator(caller, ofUnknown);
    const asked = { by: caller.email, agreed };
    return ok(view(await removeUnknown(context, steps, projectId, asked)));
  },
});
