/** The route table of the bootstrap API. */
import * as z from 'zod';
import { flag, givenTime, json, type Reply, type RouteTable, reason, text } from '../api.js';
import { ScheduleView, scheduleVerbs } from '../cleanup-schedule.js';
import { Email } from '../organization/email.js';
import { TeamId, TeamIdText } from '../organization/team-id.js';
import { pageHeaders, pageQuery } from '../paging.js';
import { AdmissionReason, AdmissionView } from './admission.js';
import { BootstrapState, BootstrapSummary, BootstrapView } from './bootstrap.js';
import { CallerView } from './caller.js';
import { CostEstimate } from './cost.js';
import { CostDay, CostGroup, CostsView } from './costs.js';
import { durationPattern } from './duration.js';
import { BootstrapEvent } from './event.js';
import { Forecast } from './forecast.js';
import { invitedMay } from './invited.js';
import { LogPage, LogView } from './log.js';
import { LostJumpbox } from './lost-jumpbox.js';
import { PlanDocument, PlanHash } from './plan.js';
import { PoolsView } from './pools.js';
import { PreflightReply, PreflightRequest } from './preflight.js';
import { BootstrapRequest } from './request.js';
import { CleanupSurvey } from './survey.js';
import { UnknownProject } from './unknown-project.js';
import { UploadWay } from './upload-way.js';

const bootstrapId = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,62}$/, 'is no id of a bootstrap')
  .meta({
    id: 'BootstrapId',
    description: 'Id of a bootstrap',
    examples: ['b0123456789abcde'],
  });
const ofBootstrap = z.strictObject({ id: bootstrapId });
const withSomebody = z
  .strictObject({ with: Email.meta({ description: 'E-mail of a person or a service account' }) })
  .meta({ id: 'Somebody', description: 'Who it is shared with, or given to' });
const withTeam = z
  .strictObject({ team: TeamId.meta({ description: 'Number of the team', examples: [42] }) })
  .meta({ id: 'WithTeam', description: 'Which team it is shared with' });
const ofDatacenter = z.strictObject({
  datacenter: z.enum(['dc1', 'dc2']).default('dc1').meta({ description: 'Which one of two' }),
});

const yaml = (description: string): Reply => ({ description, type: 'text/yaml', schema: z.string() });
const view = (description = 'The bootstrap as it is now') => json(description, BootstrapView);
export const SharedView = BootstrapView.extend({
  invited: z
    .object({
      role: z
        .string()
        .meta({ description: 'Their role on the project', examples: ['projects/demo-1a2b/roles/plinthInvited'] }),
      also: z
        .array(z.string())
        .optional()
        .meta({
          description: 'More roles there: for tunnels of Identity-Aware Proxy, and for OS Login',
          examples: [['roles/iap.tunnelResourceAccessor', 'roles/compute.osAdminLogin']],
        }),
      limitedBy: z
        .string()
        .optional()
        .meta({
          description: 'The organization policy that limits who may have roles, in words; absent: none does',
          examples: ['iam.allowedPolicyMemberDomains: allow is:C0abcd123'],
        }),
      may: z.array(z.string()).meta({ description: 'What it allows, in words', examples: [[...invitedMay]] }),
    })
    .optional()
    .meta({ description: 'What those whom it is shared with may on its project, and nothing that its owner may not' }),
}).meta({ id: 'SharedBootstrap', description: 'A bootstrap, and what whom it is shared with may on its project' });
export type SharedView = z.infer<typeof SharedView>;

const schedule = (description: string) => json(description, ScheduleView);

/** An option that a resume changes, or would change. Secrets show as `<secret>`. */
const OptionChange = z
  .object({
    option: text('The flag', '--project-ttl'),
    from: z.unknown().meta({ description: 'What it was; null: not set', examples: ['2h'] }),
    to: z.unknown().meta({ description: 'What it is now; null: not set', examples: ['3h'] }),
  })
  .meta({ id: 'OptionChange', description: 'What a resume changes, or would; secrets show as `<secret>`' });
const warnings = z.array(z.string()).meta({ description: 'What is not as it should be, in words', examples: [[]] });

export const BeginReply = z
  .object({
    bootstrap: BootstrapView,
    created: z.boolean().meta({ description: 'False: it stood already and was resumed' }),
    changes: z.array(OptionChange).meta({ description: 'What the resume changes', examples: [[]] }),
    warnings,
  })
  .meta({ id: 'BeginReply', description: 'The bootstrap, and what became of it' });
export type BeginReply = z.infer<typeof BeginReply>;

export const PlanReply = z
  .object({
    instances: z
      .array(
        z.object({
          id: text('`<step>` or `<step>:<key>`', 'vm:k0s-1'),
          title: text('For people', 'VM k0s-1'),
          lane: z.enum(['cloud', 'host']).meta({ description: 'Done by calls of Google Cloud, or on machines' }),
          needs: z.array(z.string()).meta({ description: 'Ids of what is done before', examples: [['project']] }),
          makes: z.array(z.string()).meta({ description: 'What it makes, in words', examples: [['VM k0s-1']] }),
        }),
      )
      .meta({ description: 'In the order in which they may start' }),
    warnings,
    plan: PlanDocument,
    changes: z.array(OptionChange).optional().meta({ description: 'Options that a resume would change' }),
    forecast: Forecast.optional().meta({ description: 'How long it takes. Missing of what stands' }),
    cost: CostEstimate.meta({ description: 'For its time to live, with spot VMs wherever they are asked for' }),
  })
  .meta({ id: 'PlanReply', description: 'What a bootstrap would make' });
export type PlanReply = z.infer<typeof PlanReply>;

/**
 * The last event of a stream (`event: end`). `ended`: the bootstrap has ended, and nothing follows. `time`: the server ends
 * the stream before its own time-out. Reconnect with the cursor.
 */
export const StreamEnd = z
  .object({
    schema: z.literal(1).meta({ description: 'Version of this form' }),
    type: z.literal('end'),
    reason: z.enum(['ended', 'time']).meta({ description: '`time`: come back with the cursor' }),
    state: BootstrapState,
  })
  .meta({ id: 'EndEvent', description: 'The last event of a stream' });
export type StreamEnd = z.infer<typeof StreamEnd>;

/** How long it still takes, as it is known by now. Sent anew when that has changed. */
const StreamForecast = z
  .object({
    schema: z.literal(1).meta({ description: 'Version of this form' }),
    type: z.literal('forecast'),
    ...Forecast.shape,
  })
  .meta({ id: 'ForecastEvent', description: 'How long it still takes. Not numbered, may be missed' });

/** The `data` of one server-sent event. `event:` repeats its `type`. `id:` is the cursor for reconnecting. */
export const StreamItem = z.discriminatedUnion('type', [...BootstrapEvent.options, StreamForecast, StreamEnd]).meta({
  id: 'StreamItem',
  description:
    'The `data` of one server-sent event, as JSON. `event` repeats its `type`; `id` is the cursor to come back with',
});
export type StreamItem = z.infer<typeof StreamItem>;

/** When cleanup runs, for operators. Part of the bootstrap API. */
export const scheduleRoutes = {
  getCleanupSchedule: {
    method: 'GET',
    path: '/cleanup/schedule',
    tag: 'Operators',
    summary: 'The job that calls cleanup',
    description: 'Its state, when it runs next, how the last run ended. For operators.',
    caller: 'known',
    replies: { 200: schedule('The job') },
    problems: ['forbidden'],
  },
  steerCleanupSchedule: {
    method: 'POST',
    path: '/cleanup/schedule/{verb}',
    tag: 'Operators',
    summary: 'Pauses the job that calls cleanup, resumes it, or runs it now',
    description: 'Also a paused one runs. For operators; twice is fine.',
    caller: 'known',
    params: z.strictObject({ verb: z.enum(scheduleVerbs).meta({ description: 'What is done with the job' }) }),
    replies: { 200: schedule('The job as it is now') },
    problems: ['forbidden'],
  },
} as const satisfies RouteTable;

/** What cleanup would do, for operators. Part of the bootstrap API. */
export const surveyRoutes = {
  surveyCleanup: {
    method: 'GET',
    path: '/cleanup',
    tag: 'Operators',
    summary: 'What the next cleanup would remove',
    description: 'By its own dry run; and what it keeps, leaves alone and does not know. For operators.',
    caller: 'known',
    replies: { 200: json('What was found', CleanupSurvey) },
    problems: ['forbidden', 'cloud-unavailable', 'cloud-permission'],
  },
} as const satisfies RouteTable;

const ofProject = z.strictObject({
  projectId: z
    .string()
    .regex(/^[a-z][a-z0-9-]{4,28}[a-z0-9]$/, 'is no id of a project')
    .meta({ description: 'Id of a project without a record', examples: ['my-first-1a2b3c'] }),
});

/** Projects that no record knows, for operators. Part of the bootstrap API. */
export const unknownRoutes = {
  getUnknownProject: {
    method: 'GET',
    path: '/cleanup/projects/{projectId}',
    tag: 'Operators',
    summary: 'A project without a record',
    description:
      'What it bears, whether that proves that this deployment made it, and what its removal would take away. One with a record is a 409. For operators.',
    caller: 'known',
    params: ofProject,
    replies: { 200: json('How it stands', UnknownProject) },
    problems: ['forbidden', 'conflict', 'cloud-unavailable'],
  },
  takeInProject: {
    method: 'POST',
    path: '/cleanup/projects/{projectId}/take-in',
    tag: 'Operators',
    summary: 'Takes it into the records',
    description:
      'For an owner who may bootstrap, until `ttl` from now. It belongs to the team that its labels prove, or to `team`, and the owner must be a member: otherwise 409. If that team is gone, it belongs to none, and the answer warns. Nobody knows what it was made from, so it can be kept or removed, and not gone on with. Unless its labels prove that this deployment made it: 409. For operators.',
    caller: 'known',
    params: ofProject,
    body: z
      .strictObject({
        owner: Email.meta({ description: 'E-mail of who gets it' }),
        ttl: z
          .string()
          .max(40)
          .meta({ description: 'How long it has from now', pattern: durationPattern, examples: ['4h'] }),
        team: TeamId.nullable()
          .optional()
          .meta({
            description:
              'Number of the team that it belongs to from now on. Null: to none. Missing: to the one that its labels prove',
            examples: [1571417718],
          }),
      })
      .meta({ id: 'TakeIn', description: 'Who gets it, and for how long' }),
    replies: { 201: view('Its bootstrap from now on') },
    problems: ['forbidden', 'conflict', 'cloud-unavailable'],
  },
  removeUnknownProject: {
    method: 'POST',
    path: '/cleanup/projects/{projectId}/remove',
    tag: 'Operators',
    summary: 'Removes it now',
    description:
      'Unless its labels prove that this deployment made it, or while they protect it: 409. With `plan` it takes away what that plan says, or nothing (412). For operators.',
    caller: 'known',
    params: ofProject,
    query: z.strictObject({ plan: PlanHash.optional() }),
    replies: { 200: view('Its bootstrap, which is being removed') },
    problems: ['forbidden', 'conflict', 'precondition-failed', 'cloud-unavailable'],
  },
} as const satisfies RouteTable;

/** Whether new bootstraps are taken, for operators. Part of the bootstrap API. */
export const admissionRoutes = {
  getAdmission: {
    method: 'GET',
    path: '/admission',
    tag: 'Operators',
    summary: 'Whether new bootstraps are taken',
    description: 'And who switched that last, when and why. For operators.',
    caller: 'known',
    replies: { 200: json('How it stands', AdmissionView) },
    problems: ['forbidden'],
  },
  stopNewBootstraps: {
    method: 'POST',
    path: '/admission/stop',
    tag: 'Operators',
    summary: 'Stops new bootstraps',
    description:
      'From the answer on none begins; those that stand are resumed, extended and removed all the same. For operators.',
    caller: 'known',
    body: z
      .strictObject({ reason: AdmissionReason })
      .meta({ id: 'StopNewBootstraps', description: 'Why new bootstraps are stopped' }),
    replies: { 200: json('How it stands now', AdmissionView) },
    problems: ['forbidden'],
  },
  startNewBootstraps: {
    method: 'POST',
    path: '/admission/start',
    tag: 'Operators',
    summary: 'Takes new bootstraps again',
    description: 'Taken already: nothing changes. For operators.',
    caller: 'known',
    replies: { 200: json('How it stands now', AdmissionView) },
    problems: ['forbidden'],
  },
} as const satisfies RouteTable;

/** Pools of prepared projects, for operators. Part of the bootstrap API. */
export const poolRoutes = {
  getPools: {
    method: 'GET',
    path: '/pools',
    tag: 'Operators',
    summary: 'How the pools of prepared projects stand',
    description: 'How many projects wait in each, how old they are, and how often a bootstrap took one. For operators.',
    caller: 'known',
    replies: { 200: json('How they stand', PoolsView) },
    problems: ['forbidden'],
  },
  drainPools: {
    method: 'POST',
    path: '/pools/drain',
    tag: 'Operators',
    summary: 'Removes all prepared projects',
    description:
      'Nothing more is made. What waits is set aside by the next sweep, and removed by cleanup. What bootstraps claimed stays. For operators.',
    caller: 'known',
    replies: { 200: json('How they stand now', PoolsView) },
    problems: ['forbidden', 'conflict'],
  },
  fillPools: {
    method: 'POST',
    path: '/pools/fill',
    tag: 'Operators',
    summary: 'Fills the pools again',
    description: 'Ends a drain, and the rest after a failure. The next sweep makes what lacks. For operators.',
    caller: 'known',
    replies: { 200: json('How they stand now', PoolsView) },
    problems: ['forbidden', 'conflict'],
  },
} as const satisfies RouteTable;

/** What bootstraps have cost. Part of the bootstrap API. */
export const costRoutes = {
  getCosts: {
    method: 'GET',
    path: '/costs',
    tag: 'Bootstraps',
    summary: 'What bootstraps have cost so far',
    description:
      "The caller's own, by team also those of the caller's teams, with those that were removed in the last 90 days; for operators with `all=true` everybody's. Every way to sum up comes to the same total.",
    caller: 'known',
    query: z.strictObject({
      by: CostGroup.default('month'),
      all: flag("Everybody's; for operators"),
      from: CostDay.optional().meta({ description: 'The first day that counts', examples: ['2026-11-01'] }),
      to: CostDay.optional().meta({ description: 'The last day that counts', examples: ['2026-11-30'] }),
    }),
    replies: { 200: json('The sums', CostsView) },
    problems: ['forbidden'],
  },
} as const satisfies RouteTable;

/** Whether the deployment is as it must be, for operators. Part of the bootstrap API. */
export const deploymentRoutes = {
  checkDeployment: {
    method: 'GET',
    path: '/deployment',
    tag: 'Operators',
    summary: 'Whether the deployment is as it must be',
    description:
      'Its lanes, grants, indexes, schedules, parents, billing accounts, DNS zones and buckets. Each function asks for itself. Nothing is changed. For operators.',
    caller: 'known',
    replies: { 200: json('What was found', PreflightReply) },
    problems: ['forbidden'],
  },
} as const satisfies RouteTable;

/** Who the caller is, and what they may do. Part of the bootstrap API. */
export const callerRoutes = {
  getCaller: {
    method: 'GET',
    path: '/caller',
    tag: 'Service',
    summary: 'Who the caller is here',
    description: 'Operator or not, may bootstrap or not, how many they have, whether new ones are taken.',
    caller: 'known',
    replies: { 200: json('How they stand', CallerView) },
    problems: [],
  },
} as const satisfies RouteTable;

/** For projects whose record plinth has lost. Part of the bootstrap API. */
export const recoveryRoutes = {
  findJumpbox: {
    method: 'GET',
    path: '/lost-projects/{project}/jumpbox',
    tag: 'Files',
    summary: 'The jumpbox of a project without a record',
    description:
      'Address and host keys of the jumpbox of a project that this deployment made, as its labels prove, and has no record of. For whoever may bootstrap: what lies on the jumpbox opens to the SSH key alone.',
    caller: 'known',
    params: z.strictObject({
      project: z
        .string()
        .regex(/^[^"\\]{1,63}$/, 'is no name of a project')
        .meta({ description: 'Name or id of the project', examples: ['my-first-1a2b3c'] }),
    }),
    query: z.strictObject({
      zone: z
        .string()
        .regex(/^[a-z]+-[a-z]+\d+-[a-z]$/, 'is no zone')
        .optional()
        .meta({ description: 'No longer used: the jumpbox is found wherever it is', examples: ['europe-west4-a'] }),
    }),
    replies: { 200: json('The jumpbox', LostJumpbox) },
    problems: ['forbidden', 'conflict', 'too-many', 'cloud-unavailable', 'cloud-permission'],
  },
} as const satisfies RouteTable;

/**
 * The life of a bootstrap after it was made, for its owner and operators. People it is shared with may extend it. Part of the
 * bootstrap API.
 */
export const lifeRoutes = {
  restartVms: {
    method: 'POST',
    path: '/bootstraps/{id}/restart-vms',
    tag: 'Life',
    summary: 'Starts VMs again that were stopped or taken away',
    description:
      'They are looked at with all that stands on them, and what was not done is gone on with; of a bootstrap that has ended in a new generation. For its owner and operators.',
    caller: 'known',
    params: ofBootstrap,
    body: z
      .strictObject({
        vms: z
          .array(z.string().max(63))
          .min(1)
          .max(100)
          .optional()
          .meta({ description: 'Their names; all unless given', examples: [['k0s-1']] }),
      })
      .meta({ id: 'RestartVms', description: 'Which VMs' }),
    replies: { 200: view() },
    problems: ['conflict', 'forbidden', 'over-ceiling', 'too-many'],
  },
  extendBootstrap: {
    method: 'POST',
    path: '/bootstraps/{id}/extend',
    tag: 'Life',
    summary: 'Gives it more time',
    description:
      'Its time is over `ttl` from now, if that is later than it was; up to 366 days after its beginning, or to the ceiling of the deployment (400). For its owner, operators, whom it is shared with, and admins of its teams.',
    caller: 'known',
    params: ofBootstrap,
    body: z
      .strictObject({
        ttl: z
          .string()
          .max(40)
          .meta({
            description: 'A duration such as 4h, 1h30m or 2d; at least a second, at most ten years',
            pattern: durationPattern,
            examples: ['4h'],
          }),
      })
      .meta({ id: 'Extension', description: 'How much time it has from now' }),
    replies: { 200: view() },
    problems: ['conflict', 'over-ceiling'],
  },
  protectBootstrap: {
    method: 'POST',
    path: '/bootstraps/{id}/protect',
    tag: 'Life',
    summary: 'Keeps it from removal for a time',
    description:
      'It is not removed before `until`, whatever its deadline. A moment that has passed is a 400. So is one more than 366 days after its beginning, or beyond the longest lifetime of the deployment; operators pass only the latter. For its owner, operators, and admins of its teams.',
    caller: 'known',
    params: ofBootstrap,
    body: z
      .strictObject({
        until: givenTime('ahead', 'The end of the protection', '2030-01-01T00:00:00Z'),
        reason: reason('Why; shown to whoever looks', 'A demo for a customer'),
      })
      .meta({ id: 'Protection', description: 'How long it is kept, and why' }),
    replies: { 200: view() },
    problems: ['forbidden', 'conflict', 'over-ceiling'],
  },
  unprotectBootstrap: {
    method: 'POST',
    path: '/bootstraps/{id}/unprotect',
    tag: 'Life',
    summary: 'Takes the protection away',
    description:
      'Only its deadline counts again; not protected: nothing changes. For its owner, operators, and admins of its teams.',
    caller: 'known',
    params: ofBootstrap,
    replies: { 200: view() },
    problems: ['forbidden', 'conflict'],
  },
  shareBootstrap: {
    method: 'POST',
    path: '/bootstraps/{id}/share',
    tag: 'Life',
    summary: 'Shares it with somebody',
    description:
      'They see it, may follow and extend it, and get a role of their own on its project, which the reply tells. Shared already: nothing changes. For its owner and operators.',
    caller: 'known',
    params: ofBootstrap,
    body: withSomebody,
    replies: { 200: json('The bootstrap as it is now, and what they get', SharedView) },
    problems: ['forbidden', 'conflict', 'too-many'],
  },
  unshareBootstrap: {
    method: 'POST',
    path: '/bootstraps/{id}/unshare',
    tag: 'Life',
    summary: 'Shares it with somebody no more',
    description:
      'They see it no more, and their role on its project goes. Not shared with them: nothing changes. For its owner and operators.',
    caller: 'known',
    params: ofBootstrap,
    body: withSomebody,
    replies: { 200: view() },
    problems: ['forbidden', 'conflict'],
  },
  shareBootstrapWithTeam: {
    method: 'POST',
    path: '/bootstraps/{id}/share-with-team',
    tag: 'Life',
    summary: 'Shares it with a team',
    description:
      'Its members see it, its admins extend, protect and remove it, and all who may bootstrap here get the role of the invited on its project. Who leaves the team loses it at once, and the role within about a minute. Shared already: nothing changes. With at most five teams. For its owner and operators, who must see the team.',
    caller: 'known',
    params: ofBootstrap,
    body: withTeam,
    replies: { 200: json('The bootstrap as it is now, and what they get', SharedView) },
    problems: ['forbidden', 'conflict', 'too-many'],
  },
  unshareBootstrapWithTeam: {
    method: 'POST',
    path: '/bootstraps/{id}/unshare-with-team',
    tag: 'Life',
    summary: 'Shares it with a team no more',
    description:
      'Its members see it no more, and their roles on its project go, unless they have them in another way. Not shared with it: nothing changes. For its owner and operators.',
    caller: 'known',
    params: ofBootstrap,
    body: withTeam,
    replies: { 200: view() },
    problems: ['forbidden', 'conflict'],
  },
  transferBootstrap: {
    method: 'POST',
    path: '/bootstraps/{id}/transfer',
    tag: 'Life',
    summary: 'Gives it to another owner',
    description:
      'To one who may bootstrap, and within their limit. Whoever had it sees it no more. Of a team: to a member of it, and its admins may do so, too. Theirs already: nothing changes. For its owner and operators.',
    caller: 'known',
    params: ofBootstrap,
    body: withSomebody,
    replies: { 200: view() },
    problems: ['forbidden', 'conflict', 'too-many', 'over-ceiling'],
  },
  planRemoval: {
    method: 'GET',
    path: '/bootstraps/{id}/removal',
    tag: 'Life',
    summary: 'What its removal would take away',
    description:
      'All that it may take: things that are no longer as plinth wrote them stay. With `plan`, a removal keeps to that. For its owner, operators, and admins of its teams.',
    caller: 'known',
    params: ofBootstrap,
    replies: { 200: json('The plan', PlanDocument) },
    problems: ['forbidden'],
  },
  removeBootstrap: {
    method: 'POST',
    path: '/bootstraps/{id}/remove',
    tag: 'Life',
    summary: 'Removes it now, with its project',
    description:
      'One that is active is cancelled first; one that is protected is a 409. Already removed: nothing changes. For its owner, operators, and admins of its teams.',
    caller: 'known',
    params: ofBootstrap,
    query: z.strictObject({ plan: PlanHash.optional() }),
    replies: { 200: view() },
    problems: ['forbidden', 'conflict', 'precondition-failed'],
  },
} as const satisfies RouteTable;

export const bootstrapRoutes = {
  beginBootstrap: {
    method: 'POST',
    path: '/bootstraps',
    tag: 'Bootstraps',
    summary: 'Begins a bootstrap, or resumes it',
    description:
      'The same name again by its owner resumes it: it goes on from what stands, and takes over options that may change. With `dryRun=true` nothing is made, and what it would make is answered. All that is wrong with the options is told at once. For whoever may bootstrap here.',
    caller: 'known',
    query: z.strictObject({ dryRun: flag('Nothing is made; the reply is the plan') }),
    body: BootstrapRequest,
    bodyLimitBytes: 2 * 1024 * 1024,
    replies: {
      200: json('It stood already and was resumed; or, with dryRun=true, the plan', z.union([BeginReply, PlanReply])),
      201: json('It was begun', BeginReply),
    },
    problems: ['forbidden', 'conflict', 'precondition-failed', 'stopped', 'too-many', 'over-ceiling'],
  },
  preflight: {
    method: 'POST',
    path: '/preflights',
    tag: 'Bootstraps',
    summary: 'What is known of a bootstrap before it begins',
    description:
      'One round of questions to all that it needs: account, parent, place, policies, names, software. All findings come at once, and nothing is made. A new bootstrap with a finding that stops it is refused. For whoever may bootstrap here.',
    caller: 'known',
    body: PreflightRequest,
    bodyLimitBytes: 2 * 1024 * 1024,
    replies: { 200: json('What was found', PreflightReply) },
    problems: ['forbidden', 'too-many'],
  },
  listBootstraps: {
    method: 'GET',
    path: '/bootstraps',
    tag: 'Bootstraps',
    summary: 'The bootstraps that the caller sees',
    description:
      "Their own, those shared with them and those of their teams (of the first 200, by number), newest first; with `team` those of one team; for operators with `all=true` everybody's. Whole, or with `limit` in pages.",
    caller: 'known',
    query: z.strictObject({
      all: flag("Everybody's; for operators"),
      name: z
        .string()
        .min(1)
        .max(100)
        .optional()
        .meta({
          description:
            "A project's id or name, or the id of a bootstrap: only what is called so. An id goes before a name",
          examples: ['my first'],
        }),
      team: TeamIdText.optional().meta({
        description: 'Number of a team: only what belongs to it or is shared with it',
        examples: [42],
      }),
      ...pageQuery,
    }),
    replies: { 200: { ...json('The bootstraps', z.array(BootstrapSummary)), headers: pageHeaders } },
    problems: ['forbidden'],
  },
  getBootstrap: {
    method: 'GET',
    path: '/bootstraps/{id}',
    tag: 'Bootstraps',
    summary: 'One bootstrap',
    description: 'Its instances and what stands so far. For its owner, operators, and whom it is shared with.',
    caller: 'known',
    params: ofBootstrap,
    replies: { 200: view('The bootstrap') },
    problems: [],
  },
  followBootstrap: {
    method: 'GET',
    path: '/bootstraps/{id}/events',
    tag: 'Bootstraps',
    summary: 'Its events as they come',
    description:
      'A stream of server-sent events (`text/event-stream`), from the beginning or after a cursor. Comments keep it alive; `event: end` is the last one, also where the server ends the stream before its time-out: then come back with the cursor.',
    caller: 'known',
    params: ofBootstrap,
    query: z.strictObject({
      cursor: z
        .string()
        .min(1)
        .max(4096)
        .optional()
        .meta({
          description: 'The `id` of the last event that was heard: those after it are told',
          examples: ['MS4xMg'],
        }),
    }),
    headers: z.object({
      'last-event-id': z
        .string()
        .max(4096)
        .optional()
        .meta({ description: 'Says the same as `cursor`, and wins: browsers send it', examples: ['MS4xMg'] }),
    }),
    replies: {
      200: {
        description:
          'Server-sent events (WHATWG HTML, 9.2), until the bootstrap has ended or the server ends the stream. The schema is that of the `data` of one event',
        type: 'text/event-stream',
        schema: StreamItem,
      },
    },
    problems: [],
  },
  readLogs: {
    method: 'GET',
    path: '/bootstraps/{id}/logs',
    tag: 'Bootstraps',
    summary: 'What jobs said on its machines',
    description:
      'Free of secrets: which instances have a log, or with `instance` what one of them said, from `offset` on, a page at a time.',
    caller: 'known',
    params: ofBootstrap,
    query: z.strictObject({
      instance: z
        .string()
        .min(1)
        .max(120)
        .optional()
        .meta({ description: 'Whose log; without it the logs that there are', examples: ['k0s:dc1'] }),
      offset: z
        .string()
        .regex(/^\d{1,12}$/, 'must be a whole number')
        .transform(Number)
        .pipe(z.int().min(0).max(999_999_999_999))
        .optional()
        .meta({ description: 'In bytes: `next` of the page before, or `begins` of a log', examples: [0] }),
    }),
    replies: {
      200: json('The logs that there are; with `instance` a page of one', z.union([LogPage, z.array(LogView)])),
    },
    problems: [],
  },
  cancelBootstrap: {
    method: 'POST',
    path: '/bootstraps/{id}/cancel',
    tag: 'Bootstraps',
    summary: 'Stops it',
    description:
      'At the next border between instances; what stands, stands. Already ended: nothing changes. For its owner and operators.',
    caller: 'known',
    params: ofBootstrap,
    replies: { 200: view() },
    problems: ['forbidden'],
  },
  wakeInstance: {
    method: 'POST',
    path: '/bootstraps/{id}/instances/{instance}/wake',
    tag: 'Bootstraps',
    summary: 'Has an instance look again',
    description:
      "What waits for the caller's machine looks again, after an upload. It proves nothing: the hash is checked on the machine. Not waiting: nothing changes. For its owner and operators.",
    caller: 'known',
    params: z.strictObject({
      id: bootstrapId,
      instance: z
        .string()
        .min(1)
        .max(120)
        .meta({ description: 'Id of the instance', examples: ['upload:package'] }),
    }),
    replies: { 200: view() },
    problems: [],
  },
  beginUpload: {
    method: 'POST',
    path: '/bootstraps/{id}/uploads/{sha256}',
    tag: 'Bootstraps',
    summary: "How a file of the caller's gets to the jumpbox",
    description:
      'A big file goes by Cloud Storage where only IAP leads to the jumpbox: the answer then holds a session for exactly its bytes. The jumpbox checks its SHA-256 before anything uses it. Afterwards, or after a day, it is deleted there. 404 if no option names the file, 409 while the bootstrap is not running. For its owner and operators.',
    caller: 'known',
    params: z.strictObject({
      id: bootstrapId,
      sha256: z
        .string()
        .regex(/^[\da-f]{64}$/, 'must be 64 hex digits in lower case')
        .meta({ description: 'SHA-256 of the file, as the option has it', examples: ['0'.repeat(64)] }),
    }),
    replies: { 200: json('How it gets there', UploadWay) },
    problems: ['forbidden', 'conflict', 'too-many', 'cloud-unavailable', 'cloud-permission'],
  },
  getConfig: {
    method: 'GET',
    path: '/bootstraps/{id}/config',
    tag: 'Files',
    summary: "A datacenter's install config",
    description:
      'The file `config.yaml`, in YAML, once it is made (409 before). For its owner, operators, and whom it is shared with.',
    caller: 'known',
    params: ofBootstrap,
    query: ofDatacenter,
    replies: { 200: yaml('The file `config.yaml`') },
    problems: ['conflict'],
  },
  getSecrets: {
    method: 'GET',
    path: '/bootstraps/{id}/secrets',
    tag: 'Files',
    summary: "A datacenter's secrets file, encrypted",
    description:
      "The file `prod.vault.yaml`, in YAML and the form of SOPS: its values are encrypted to the bootstrap's age recipient, so no secret can be read in the reply. 409 before it is made. For its owner and operators.",
    caller: 'known',
    params: ofBootstrap,
    query: ofDatacenter,
    replies: { 200: yaml('The file `prod.vault.yaml`, encrypted') },
    problems: ['forbidden', 'conflict'],
  },
  readAgeIdentity: {
    method: 'POST',
    path: '/bootstraps/{id}/age-identity',
    tag: 'Files',
    summary: 'The age identity that opens the secrets file',
    description: 'Who read it is recorded before it is answered. 409 before it is made. For its owner and operators.',
    caller: 'known',
    params: ofBootstrap,
    replies: {
      200: json(
        'The identity',
        z
          .object({ identity: text('For age and sops: a secret', 'AGE-SECRET-KEY-1…') })
          .meta({ id: 'AgeIdentity', description: 'What opens the secrets file' }),
      ),
    },
    problems: ['forbidden', 'conflict'],
  },
  ...lifeRoutes,
  ...recoveryRoutes,
  ...scheduleRoutes,
  ...surveyRoutes,
  ...unknownRoutes,
  ...admissionRoutes,
  ...poolRoutes,
  ...costRoutes,
  ...callerRoutes,
  ...deploymentRoutes,
} as const satisfies RouteTable;
