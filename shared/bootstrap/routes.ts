/** The route table of the bootstrap API; read by the router, the CLI's client, the OpenAPI document and the tests. */
import * as z from 'zod';
import { flag, json, type Reply, type RouteTable } from '../api.js';
import { ScheduleView, scheduleVerbs } from '../cleanup-schedule.js';
import { Email } from '../organization/email.js';
import { pageHeaders, pageQuery } from '../paging.js';
import { AdmissionReason, AdmissionView } from './admission.js';
import { BootstrapState, BootstrapSummary, BootstrapView } from './bootstrap.js';
import { CostEstimate } from './cost.js';
import { BootstrapEvent } from './event.js';
import { LogPage, LogView } from './log.js';
import { LostJumpbox } from './lost-jumpbox.js';
import { BootstrapRequest } from './request.js';
import { CallerStanding } from './standing.js';
import { CleanupSurvey } from './survey.js';

const bootstrapId = z.string().regex(/^[a-z][a-z0-9-]{0,62}$/, 'is no id of a bootstrap');
const ofBootstrap = z.strictObject({ id: bootstrapId });
const withSomebody = z.strictObject({ with: Email.meta({ description: 'E-mail of a person or a service account.' }) });
const ofDatacenter = z.strictObject({ datacenter: z.enum(['dc1', 'dc2']).default('dc1') });

const yaml = (description: string): Reply => ({ description, type: 'text/yaml', schema: z.string() });

/** What a resume changes, or would; secrets show as `<secret>`. */
const OptionChange = z.object({ option: z.string(), from: z.unknown(), to: z.unknown() });

export const BeginReply = z.object({
  bootstrap: BootstrapView,
  /** False: it stood already and was resumed. */
  created: z.boolean(),
  changes: z.array(OptionChange),
  warnings: z.array(z.string()),
});
export type BeginReply = z.infer<typeof BeginReply>;

export const PlanReply = z.object({
  /** In the order in which they may start. */
  instances: z.array(
    z.object({
      id: z.string(),
      title: z.string(),
      lane: z.enum(['cloud', 'host']),
      needs: z.array(z.string()),
      makes: z.array(z.string()),
    }),
  ),
  warnings: z.array(z.string()),
  /** For its time to live, with spot VMs wherever they are asked for. */
  cost: CostEstimate,
});
export type PlanReply = z.infer<typeof PlanReply>;

/**
 * The last event of a stream (`event: end`). `ended`: the bootstrap came to its end, nothing will follow.
 * `time`: the server ends the stream before its time-out; come back with the cursor.
 */
export const StreamEnd = z.object({
  schema: z.literal(1),
  type: z.literal('end'),
  reason: z.enum(['ended', 'time']),
  state: BootstrapState,
});
export type StreamEnd = z.infer<typeof StreamEnd>;

/** The `data` of one server-sent event; `event:` repeats its `type`, `id:` is the cursor to come back with. */
export const StreamItem = z.union([BootstrapEvent, StreamEnd]);
export type StreamItem = z.infer<typeof StreamItem>;

/** When cleanup runs, for operators; a part of the bootstrap API. */
export const scheduleRoutes = {
  getCleanupSchedule: {
    method: 'GET',
    path: '/cleanup/schedule',
    summary: 'The job that calls cleanup: its state, when it runs next, how the last run ended. For operators',
    caller: 'known',
    replies: { 200: json('The job', ScheduleView) },
    problems: ['forbidden'],
  },
  steerCleanupSchedule: {
    method: 'POST',
    path: '/cleanup/schedule/{verb}',
    summary: 'Pauses the job, resumes it, or runs it now, also a paused one. For operators; twice is fine',
    caller: 'known',
    params: z.strictObject({ verb: z.enum(scheduleVerbs) }),
    replies: { 200: json('The job as it is now', ScheduleView) },
    problems: ['forbidden'],
  },
} as const satisfies RouteTable;

/** What cleanup would do, for operators; a part of the bootstrap API. */
export const surveyRoutes = {
  surveyCleanup: {
    method: 'GET',
    path: '/cleanup',
    summary:
      'What the next cleanup would remove, by its own dry run; what it keeps, leaves alone and does not know. For operators',
    caller: 'known',
    replies: { 200: json('What was found', CleanupSurvey) },
    problems: ['forbidden', 'cloud-unavailable', 'cloud-permission'],
  },
} as const satisfies RouteTable;

/** Whether new bootstraps are taken, for operators; a part of the bootstrap API. */
export const admissionRoutes = {
  getAdmission: {
    method: 'GET',
    path: '/admission',
    summary: 'Whether new bootstraps are taken; who switched that last, when and why. For operators',
    caller: 'known',
    replies: { 200: json('How it stands', AdmissionView) },
    problems: ['forbidden'],
  },
  stopNewBootstraps: {
    method: 'POST',
    path: '/admission/stop',
    summary:
      'From the answer on no new bootstrap begins; those that stand are resumed, extended and removed all the same. For operators',
    caller: 'known',
    body: z.strictObject({ reason: AdmissionReason }),
    replies: { 200: json('How it stands now', AdmissionView) },
    problems: ['forbidden'],
  },
  startNewBootstraps: {
    method: 'POST',
    path: '/admission/start',
    summary: 'New bootstraps are taken again; taken already: nothing changes. For operators',
    caller: 'known',
    replies: { 200: json('How it stands now', AdmissionView) },
    problems: ['forbidden'],
  },
} as const satisfies RouteTable;

/** How the caller stands; a part of the bootstrap API. */
export const standingRoutes = {
  getCaller: {
    method: 'GET',
    path: '/caller',
    summary:
      'Who the caller is here: operator or not, may bootstrap or not, how many they have, whether new ones are taken',
    caller: 'known',
    replies: { 200: json('How they stand', CallerStanding) },
    problems: [],
  },
} as const satisfies RouteTable;

/** For what plinth has lost its record of; a part of the bootstrap API. */
export const recoveryRoutes = {
  findJumpbox: {
    method: 'GET',
    path: '/lost-projects/{project}/jumpbox',
    summary:
      'Address and host keys of the jumpbox of a project that this deployment made, as its labels prove, and has no record of. For whoever may bootstrap: what lies on the jumpbox opens to the SSH key alone',
    caller: 'known',
    params: z.strictObject({
      project: z
        .string()
        .regex(/^[^"\\]{1,63}$/, 'is no name of a project')
        .meta({ description: 'Name or id' }),
    }),
    query: z.strictObject({ zone: z.string().regex(/^[a-z]+-[a-z]+\d+-[a-z]$/, 'is no zone') }),
    replies: { 200: json('The jumpbox', LostJumpbox) },
    problems: ['forbidden', 'conflict', 'cloud-unavailable', 'cloud-permission'],
  },
} as const satisfies RouteTable;

/** The life of a bootstrap after it was made, for its owner and operators; whom it is shared with may extend it. A part of the bootstrap API. */
export const lifeRoutes = {
  restartVms: {
    method: 'POST',
    path: '/bootstraps/{id}/restart-vms',
    summary:
      'VMs that were stopped or taken away are started again, and looked at with all that stands on them; what was not done is gone on with. Of one that has ended in a new generation',
    caller: 'known',
    params: ofBootstrap,
    body: z.strictObject({
      vms: z
        .array(z.string().max(63))
        .min(1)
        .max(100)
        .optional()
        .meta({ description: 'Their names, such as k0s-1; all unless given.' }),
    }),
    replies: { 200: json('The bootstrap as it is now', BootstrapView) },
    problems: ['conflict', 'forbidden'],
  },
  extendBootstrap: {
    method: 'POST',
    path: '/bootstraps/{id}/extend',
    summary: 'Its time is over `ttl` from now, if that is later than it was; up to the ceiling of the deployment',
    caller: 'known',
    params: ofBootstrap,
    body: z.strictObject({ ttl: z.string().max(40).meta({ description: 'Such as 4h, 1h30m or 2d.' }) }),
    replies: { 200: json('The bootstrap as it is now', BootstrapView) },
    problems: ['conflict'],
  },
  protectBootstrap: {
    method: 'POST',
    path: '/bootstraps/{id}/protect',
    summary: 'It is not removed before `until`, whatever its deadline',
    caller: 'known',
    params: ofBootstrap,
    body: z.strictObject({ until: z.iso.datetime({ offset: true }), reason: z.string().trim().min(1).max(200) }),
    replies: { 200: json('The bootstrap as it is now', BootstrapView) },
    problems: ['forbidden', 'conflict'],
  },
  unprotectBootstrap: {
    method: 'POST',
    path: '/bootstraps/{id}/unprotect',
    summary: 'Only its deadline counts again; not protected: nothing changes',
    caller: 'known',
    params: ofBootstrap,
    replies: { 200: json('The bootstrap as it is now', BootstrapView) },
    problems: ['forbidden', 'conflict'],
  },
  shareBootstrap: {
    method: 'POST',
    path: '/bootstraps/{id}/share',
    summary:
      'Somebody else sees it, may follow and extend it, and gets the role of the caller on its project. Shared already: nothing changes',
    caller: 'known',
    params: ofBootstrap,
    body: withSomebody,
    replies: { 200: json('The bootstrap as it is now', BootstrapView) },
    problems: ['forbidden', 'conflict'],
  },
  unshareBootstrap: {
    method: 'POST',
    path: '/bootstraps/{id}/unshare',
    summary: 'They see it no more, and their role on its project goes. Not shared with them: nothing changes',
    caller: 'known',
    params: ofBootstrap,
    body: withSomebody,
    replies: { 200: json('The bootstrap as it is now', BootstrapView) },
    problems: ['forbidden', 'conflict'],
  },
  transferBootstrap: {
    method: 'POST',
    path: '/bootstraps/{id}/transfer',
    summary:
      'It has another owner: one who may bootstrap, and within their limit. Whoever had it sees it no more. Theirs already: nothing changes',
    caller: 'known',
    params: ofBootstrap,
    body: withSomebody,
    replies: { 200: json('The bootstrap as it is now', BootstrapView) },
    problems: ['forbidden', 'conflict', 'too-many'],
  },
  removeBootstrap: {
    method: 'POST',
    path: '/bootstraps/{id}/remove',
    summary:
      'Removes it now, with its project; one that is active is cancelled first. Already removed: nothing changes',
    caller: 'known',
    params: ofBootstrap,
    replies: { 200: json('The bootstrap as it is now', BootstrapView) },
    problems: ['forbidden', 'conflict'],
  },
} as const satisfies RouteTable;

export const bootstrapRoutes = {
  beginBootstrap: {
    method: 'POST',
    path: '/bootstraps',
    summary: 'Begins a bootstrap; the same name again by its owner resumes it. With dryRun=true: what it would make',
    caller: 'known',
    query: z.strictObject({ dryRun: flag }),
    body: BootstrapRequest,
    bodyLimitBytes: 2 * 1024 * 1024,
    replies: {
      200: json('It stood already and was resumed; or, with dryRun=true, the plan', z.union([BeginReply, PlanReply])),
      201: json('It was begun', BeginReply),
    },
    problems: ['forbidden', 'conflict', 'stopped', 'too-many'],
  },
  listBootstraps: {
    method: 'GET',
    path: '/bootstraps',
    summary:
      "The caller's bootstraps and those shared with them, newest first; for operators with all=true everybody's. Whole, or with `limit` in pages",
    caller: 'known',
    query: z.strictObject({
      all: flag,
      /** A project's name or id: only the bootstraps of that project. */
      name: z.string().min(1).max(100).optional(),
      ...pageQuery,
    }),
    replies: { 200: { ...json('The bootstraps', z.array(BootstrapSummary)), headers: pageHeaders } },
    problems: ['forbidden'],
  },
  getBootstrap: {
    method: 'GET',
    path: '/bootstraps/{id}',
    summary: 'One bootstrap: its instances and what stands so far',
    caller: 'known',
    params: ofBootstrap,
    replies: { 200: json('The bootstrap', BootstrapView) },
    problems: [],
  },
  followBootstrap: {
    method: 'GET',
    path: '/bootstraps/{id}/events',
    summary: 'Its events as they come (server-sent events), from the beginning or after a cursor',
    caller: 'known',
    params: ofBootstrap,
    /** The header Last-Event-ID says the same, and wins. */
    query: z.strictObject({ cursor: z.string().min(1).max(4096).optional() }),
    headers: z.object({ 'last-event-id': z.string().max(4096).optional() }),
    replies: { 200: { description: 'The events', type: 'text/event-stream', schema: StreamItem } },
    problems: [],
  },
  readLogs: {
    method: 'GET',
    path: '/bootstraps/{id}/logs',
    summary:
      'What jobs said on its machines, free of secrets: which instances have a log, or with `instance` what one of them said, from `offset` on, a page at a time',
    caller: 'known',
    params: ofBootstrap,
    query: z.strictObject({
      instance: z.string().min(1).max(120).optional(),
      /** In bytes: `next` of the page before, or `begins` of a log. */
      offset: z
        .string()
        .regex(/^\d{1,12}$/, 'must be a whole number')
        .transform(Number)
        .optional(),
    }),
    replies: {
      200: json('The logs that there are; with `instance` a page of one', z.union([LogPage, z.array(LogView)])),
    },
    problems: [],
  },
  cancelBootstrap: {
    method: 'POST',
    path: '/bootstraps/{id}/cancel',
    summary: 'Stops it at the next border between instances; what stands, stands. Already ended: nothing changes',
    caller: 'known',
    params: ofBootstrap,
    replies: { 200: json('The bootstrap as it is now', BootstrapView) },
    problems: ['forbidden'],
  },
  wakeInstance: {
    method: 'POST',
    path: '/bootstraps/{id}/instances/{instance}/wake',
    summary:
      "What waits for the caller's machine looks again, after an upload. It proves nothing: the hash is checked on the machine. Not waiting: nothing changes",
    caller: 'known',
    params: z.strictObject({ id: bootstrapId, instance: z.string().max(120) }),
    replies: { 200: json('The bootstrap as it is now', BootstrapView) },
    problems: [],
  },
  getConfig: {
    method: 'GET',
    path: '/bootstraps/{id}/config',
    summary: "A datacenter's install config",
    caller: 'known',
    params: ofBootstrap,
    query: ofDatacenter,
    replies: { 200: yaml('config.yaml') },
    problems: ['conflict'],
  },
  getSecrets: {
    method: 'GET',
    path: '/bootstraps/{id}/secrets',
    summary: "A datacenter's secrets file, encrypted to the bootstrap's age recipient",
    caller: 'known',
    params: ofBootstrap,
    query: ofDatacenter,
    replies: { 200: yaml('prod.vault.yaml') },
    problems: ['forbidden', 'conflict'],
  },
  readAgeIdentity: {
    method: 'POST',
    path: '/bootstraps/{id}/age-identity',
    summary: 'The age identity that opens the secrets file. Who read it is recorded before it is answered',
    caller: 'known',
    params: ofBootstrap,
    replies: { 200: json('The identity', z.object({ identity: z.string() })) },
    problems: ['forbidden', 'conflict'],
  },
  ...lifeRoutes,
  ...recoveryRoutes,
  ...scheduleRoutes,
  ...surveyRoutes,
  ...admissionRoutes,
  ...standingRoutes,
} as const satisfies RouteTable;
