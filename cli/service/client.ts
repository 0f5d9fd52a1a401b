/** The client of the bootstraps function: one method per operation of the route table. Replies are parsed, problems thrown. */
import * as z from 'zod';
import { AdmissionView } from '../../shared/bootstrap/admission.js';
import { BootstrapSummary, BootstrapView, type MachineAccess } from '../../shared/bootstrap/bootstrap.js';
import { CallerView } from '../../shared/bootstrap/caller.js';
import { type CostGroup, CostsView } from '../../shared/bootstrap/costs.js';
import { LogPage, LogView } from '../../shared/bootstrap/log.js';
import { LostJumpbox } from '../../shared/bootstrap/lost-jumpbox.js';
import { PlanDocument } from '../../shared/bootstrap/plan.js';
import { PoolsView } from '../../shared/bootstrap/pools.js';
import { PreflightReply, type PreflightRequest } from '../../shared/bootstrap/preflight.js';
import type { BootstrapRequest } from '../../shared/bootstrap/request.js';
import {
  admissionRoutes,
  type BeginReply,
  bootstrapRoutes,
  callerRoutes,
  costRoutes,
  deploymentRoutes,
  lifeRoutes,
  PlanReply,
  poolRoutes,
  recoveryRoutes,
  SharedView,
  type StreamItem,
  scheduleRoutes,
  surveyRoutes,
  unknownRoutes,
} from '../../shared/bootstrap/routes.js';
import { CleanupSurvey } from '../../shared/bootstrap/survey.js';
import { UnknownProject } from '../../shared/bootstrap/unknown-project.js';
import { UploadWay } from '../../shared/bootstrap/upload-way.js';
import { type ScheduleVerb, ScheduleView } from '../../shared/cleanup-schedule.js';
import { Problem } from '../../shared/problems.js';
import { begin } from './begin.js';
import { followStream, type StreamListener } from './follow-stream.js';
import type { ServiceTransport } from './transport.js';

export interface Client {
  /** Who calls, as the service sees it. */
  caller(): Promise<CallerView>;
  /** Begins or resumes, and begins nothing twice where an answer is lost. `stood`: it was there before. */
  begin(request: BootstrapRequest, stood: boolean): Promise<BeginReply>;
  plan(request: BootstrapRequest): Promise<PlanReply>;
  /** What is known of it before it begins. */
  preflight(request: PreflightRequest): Promise<PreflightReply>;
  /** Whether the deployment is as it must be. */
  deployment(): Promise<PreflightReply>;
  /** The caller's, everybody's, or those of a team. */
  list(all: boolean, team?: number): Promise<BootstrapSummary[]>;
  /** By the project's name or id, the newest one. Undefined if the caller has none. */
  find(project: string): Promise<BootstrapSummary | undefined>;
  /** Like `find`, but without removed bootstraps. Those stay listed for months, and no command can continue with them. */
  findStanding(project: string): Promise<BootstrapSummary | undefined>;
  get(id: string): Promise<BootstrapView>;
  /** Which machine logs exist. */
  logs(id: string): Promise<LogView[]>;
  /** A page of one log, from `offset` on. */
  log(id: string, instance: string, offset: number): Promise<LogPage>;
  /** How machines of new bootstraps are reached. Undefined if the service is of a release that says nothing of it. */
  machineAccess(): Promise<MachineAccess | undefined>;
  cancel(id: string): Promise<BootstrapView>;
  /** Tells the instance that the caller's machine has done its part. */
  wake(id: string, instance: string): Promise<BootstrapView>;
  /** How a file that the bootstrap names gets to the jumpbox. */
  uploadWay(id: string, sha256: string): Promise<UploadWay>;
  /** The jumpbox of a project that this deployment made and has no record of, by the project's name or id. */
  findJumpbox(project: string): Promise<LostJumpbox>;
  /** Restarts the VMs with these names, or all of them. */
  restartVms(id: string, vms: readonly string[] | undefined): Promise<BootstrapView>;
  /** `ttl` counts from now. */
  extend(id: string, ttl: string): Promise<BootstrapView>;
  protect(id: string, how: { readonly until: string; readonly reason: string }): Promise<BootstrapView>;
  unprotect(id: string): Promise<BootstrapView>;
  share(id: string, email: string): Promise<SharedView>;
  unshare(id: string, email: string): Promise<BootstrapView>;
  shareWithTeam(id: string, team: number): Promise<SharedView>;
  unshareWithTeam(id: string, team: number): Promise<BootstrapView>;
  /** Gives it to a new owner, by e-mail. */
  transfer(id: string, email: string): Promise<BootstrapView>;
  planRemoval(id: string): Promise<PlanDocument>;
  /** `plan`: the hash of the plan that it must keep to. */
  remove(id: string, plan?: string): Promise<BootstrapView>;
  config(id: string, datacenter: string): Promise<string>;
  secrets(id: string, datacenter: string): Promise<string>;
  ageIdentity(id: string): Promise<string>;
  cleanupSchedule(): Promise<ScheduleView>;
  steerCleanupSchedule(verb: ScheduleVerb): Promise<ScheduleView>;
  surveyCleanup(): Promise<CleanupSurvey>;
  unknownProject(projectId: string): Promise<UnknownProject>;
  /** `ttl` counts from now. */
  takeIn(
    projectId: string,
    how: { readonly owner: string; readonly ttl: string; readonly team?: number | null },
  ): Promise<BootstrapView>;
  /** `plan`: the hash of the plan that it must keep to. */
  removeUnknown(projectId: string, plan: string): Promise<BootstrapView>;
  costs(asked: {
    readonly by: CostGroup;
    readonly all: boolean;
    readonly from: string | undefined;
    readonly to: string | undefined;
  }): Promise<CostsView>;
  /** Whether new bootstraps are taken. */
  admission(): Promise<AdmissionView>;
  stopNewBootstraps(reason: string): Promise<AdmissionView>;
  startNewBootstraps(): Promise<AdmissionView>;
  pools(): Promise<PoolsView>;
  drainPools(): Promise<PoolsView>;
  fillPools(): Promise<PoolsView>;
  /**
   * Follows events until the bootstrap ends or `signal` aborts. It reconnects by itself when the stream breaks or the service
   * is away for a while.
   */
  follow(id: string, signal: AbortSignal): AsyncGenerator<StreamItem>;
}

const Identity = z.object({ identity: z.string() });

export function createClient(transport: ServiceTransport, told: StreamListener): Client {
  const { text } = transport;
  const { beginBootstrap, listBootstraps, getBootstrap, cancelBootstrap, getConfig, getSecrets } = bootstrapRoutes;

  const once = async <T>(...call: Parameters<typeof transport.ask<T>>) => (await transport.ask(...call)).data;
  const patiently = async <T>(...call: Parameters<typeof transport.ask<T>>) =>
    (await transport.askPatiently(...call)).data;
  const list = (query: Record<string, string>) => patiently(BootstrapSummary.array(), listBootstraps, { query });

  return {
    caller: () => patiently(CallerView, callerRoutes.getCaller),
    begin: (body, stood) => begin(transport, body, stood),
    plan: (body) => once(PlanReply, beginBootstrap, { body, query: { dryRun: 'true' } }),
    preflight: (body) => once(PreflightReply, bootstrapRoutes.preflight, { body }),
    deployment: () => once(PreflightReply, deploymentRoutes.checkDeployment),
    list: (all, team) => list({ ...(all && { all: 'true' }), ...(team !== undefined && { team: String(team) }) }),
    find: async (project) => newest(await list({ name: project })),
    findStanding: async (project) => newest((await list({ name: project })).filter(({ state }) => state !== 'removed')),
    get: (id) => patiently(BootstrapView, getBootstrap, { params: { id } }),
    logs: (id) => patiently(LogView.array(), bootstrapRoutes.readLogs, { params: { id } }),
    log: (id, instance, offset) =>
      patiently(LogPage, bootstrapRoutes.readLogs, { params: { id }, query: { instance, offset: String(offset) } }),
    async machineAccess() {
      try {
        return (await patiently(CallerView, callerRoutes.getCaller)).machineAccess;
      } catch (error) {
        if (error instanceof Problem && error.code === 'not-found') return undefined;
        throw error;
      }
    },
    cancel: (id) => once(BootstrapView, cancelBootstrap, { params: { id } }),
    wake: (id, instance) => once(BootstrapView, bootstrapRoutes.wakeInstance, { params: { id, instance } }),
    uploadWay: (id, sha256) => once(UploadWay, bootstrapRoutes.beginUpload, { params: { id, sha256 } }),
    findJumpbox: (project) => patiently(LostJumpbox, recoveryRoutes.findJumpbox, { params: { project } }),
    restartVms: (id, vms) =>
      once(BootstrapView, lifeRoutes.restartVms, { params: { id }, body: vms === undefined ? {} : { vms } }),
    extend: (id, ttl) => once(BootstrapView, lifeRoutes.extendBootstrap, { params: { id }, body: { ttl } }),
    protect: (id, body) => once(BootstrapView, lifeRoutes.protectBootstrap, { params: { id }, body }),
    unprotect: (id) => once(BootstrapView, lifeRoutes.unprotectBootstrap, { params: { id } }),
    ...sharing(transport),
    transfer: (id, email) =>
      once(BootstrapView, lifeRoutes.transferBootstrap, { params: { id }, body: { with: email } }),
    planRemoval: (id) => patiently(PlanDocument, lifeRoutes.planRemoval, { params: { id } }),
    remove: (id, plan) =>
      once(BootstrapView, lifeRoutes.removeBootstrap, {
        params: { id },
        ...(plan !== undefined && { query: { plan } }),
      }),
    config: (id, datacenter) => text(getConfig, { params: { id }, query: { datacenter } }),
    secrets: (id, datacenter) => text(getSecrets, { params: { id }, query: { datacenter } }),
    ageIdentity: async (id) => (await once(Identity, bootstrapRoutes.readAgeIdentity, { params: { id } })).identity,
    cleanupSchedule: () => patiently(ScheduleView, scheduleRoutes.getCleanupSchedule),
    steerCleanupSchedule: (verb) => once(ScheduleView, scheduleRoutes.steerCleanupSchedule, { params: { verb } }),
    surveyCleanup: () => patiently(CleanupSurvey, surveyRoutes.surveyCleanup),
    unknownProject: (projectId) =>
      patiently(UnknownProject, unknownRoutes.getUnknownProject, { params: { projectId } }),
    takeIn: (projectId, body) => once(BootstrapView, unknownRoutes.takeInProject, { params: { projectId }, body }),
    removeUnknown: (projectId, plan) =>
      once(BootstrapView, unknownRoutes.removeUnknownProject, { params: { projectId }, query: { plan } }),
    costs: (asked) => patiently(CostsView, costRoutes.getCosts, { query: costsQuery(asked) }),
    admission: () => patiently(AdmissionView, admissionRoutes.getAdmission),
    stopNewBootstraps: (reason) => once(AdmissionView, admissionRoutes.stopNewBootstraps, { body: { reason } }),
    startNewBootstraps: () => once(AdmissionView, admissionRoutes.startNewBootstraps),
    pools: () => patiently(PoolsView, poolRoutes.getPools),
    drainPools: () => once(PoolsView, poolRoutes.drainPools),
    fillPools: () => once(PoolsView, poolRoutes.fillPools),
    follow: (id, signal) => followStream(transport, told, id, signal),
  };
}

type Sharing = Pick<Client, 'share' | 'unshare' | 'shareWithTeam' | 'unshareWithTeam'>;

function sharing(transport: ServiceTransport): Sharing {
  const once = async <T>(...call: Parameters<typeof transport.ask<T>>) => (await transport.ask(...call)).data;
  return {
    share: (id, email) => once(SharedView, lifeRoutes.shareBootstrap, { params: { id }, body: { with: email } }),
    unshare: (id, email) => once(BootstrapView, lifeRoutes.unshareBootstrap, { params: { id }, body: { with: email } }),
    shareWithTeam: (id, team) =>
      once(SharedView, lifeRoutes.shareBootstrapWithTeam, { params: { id }, body: { team } }),
    unshareWithTeam: (id, team) =>
      once(BootstrapView, lifeRoutes.unshareBootstrapWithTeam, { params: { id }, body: { team } }),
  };
}

const newest = (found: readonly BootstrapSummary[]): BootstrapSummary | undefined =>
  found.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt))[0];

const costsQuery = ({ by, all, from, to }: Parameters<Client['costs']>[0]): Record<string, string> => ({
  by,
  ...(all && { all: 'true' }),
  ...(from !== undefined && { from }),
  ...(to !== undefined && { to }),
});
