/**
 * The contract between the simulated cloud's kernel and its APIs. An API is a table of handlers by discovery method id.
 *
 * The kernel routes, authenticates and checks access. It checks requests and replies against the API surface, records calls,
 * applies faults and runs due effects. APIs hold no timers and no state of their own.
 */

import type { GoogleApi } from '../../../functions/config.js';
import type { Content } from './media.js';

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** The APIs that are simulated: those that plinth calls, and those that tell and change what its cloud allows. */
export type SimulatedApi = GoogleApi | 'orgpolicy' | 'cloudquotas';

/** A surface file in `discovery/`: the name of the API's host and a version. */
export type ApiName = `${SimulatedApi}.v${number}`;

/** `legacy`: errors[] without a status · `both`: errors[] and a status · `platform`: a status and details. */
export type ErrorForm = 'legacy' | 'both' | 'platform';

/** One row of `apis.ts`: everything the simulated cloud knows about an API, apart from what its versions do. */
export interface Api<Host extends SimulatedApi = SimulatedApi> {
  /** The name Google shows to people: `Compute Engine API`. */
  readonly title: string;
  /** The form in which it writes errors. */
  readonly errors: ErrorForm;
  /** Whether a project needs a billing account to enable it. */
  readonly isBilled: boolean;
  /**
   * Whether it must be on in the project of the calling service account, and not in that of the resource: Google counts calls of
   * what manages projects for whoever calls (https://cloud.google.com/docs/quotas/quota-project).
   */
  readonly countsAtCaller?: (world: Pick<World, 'table'>) => boolean;
  /** The path of gcloud's base URL beneath the API's host. Undefined if gcloud does not call the API. */
  readonly gcloudBase: string | undefined;
  readonly versions: readonly [ApiDefinition<Host>, ...ApiDefinition<Host>[]];
}

export type Apis = { readonly [Host in SimulatedApi]: Api<Host> };

/** The services a project can enable, by name: `compute.googleapis.com`. */
export type Services = Readonly<Record<string, Pick<Api, 'title' | 'isBilled'>>>;

export interface Caller {
  readonly email: string;
  readonly kind: 'user' | 'serviceAccount';
}

export interface CloudCall {
  /** Discovery method id: `compute.instances.insert`. */
  readonly method: string;
  /** Path and query parameters by their discovery names, decoded and checked. */
  readonly params: Readonly<Record<string, string>>;
  /** Repeatable query parameters (`names` of services.batchGet), by their discovery names without `[]`. */
  readonly lists: Readonly<Record<string, readonly string[]>>;
  /** The resource in the path, without a custom verb: `projects/p/zones/z/instances/i`. `''` if the path names none. */
  readonly resource: string;
  /**
   * Checked against the request schema; `{}` if the method takes no body. Names are camelCase, enums are names, int64 is text.
   * Nulls are removed. So are fields the schema marks read-only, because Google ignores them. `etag` stays.
   */
  readonly body: JsonObject;
  /** The upload beside the body. Only `storage.objects.insert` gets one. */
  readonly media?: Media | undefined;
  readonly caller: Caller;
}

export interface Media {
  readonly type?: string | undefined;
  /** Keeps the bytes. Missing where a session begins, in which they follow. */
  readonly keep?: () => Content;
}

export type Handler = (call: CloudCall, world: World) => JsonObject | Promise<JsonObject>;

/** A change of the state that happens later. It is registered by name, so that a snapshot can carry it. */
export type Effect = (args: JsonObject, world: World) => void;

/** Handlers by method, and the effects they schedule. */
export interface Served {
  readonly handlers: Readonly<Record<string, Handler>>;
  readonly effects: Readonly<Record<string, Effect>>;
}

export interface ApiDefinition<Host extends SimulatedApi = SimulatedApi> {
  readonly api: `${Host}.v${number}`;
  readonly handlers: Readonly<Record<string, Handler>>;
  readonly effects?: Readonly<Record<string, Effect>>;
  /** The permission a method needs, and on what. The default is `<service>.<collection>.<verb>` on the project in the path. */
  readonly access?: Readonly<Record<string, (call: CloudCall, world: World) => readonly Access[]>>;
  /** The API's own error for a caller without the permission, if it differs from the usual one. */
  readonly denied?: (access: Access) => GoogleError;
}

/**
 * `permission` on `resource`: `projects/<id>`, `folders/<id>`, `projects/<id>/managedZones/<z>`, … Grants on its ancestors
 * count.
 */
export interface Access {
  readonly permission: string;
  readonly resource: string;
}

export interface World {
  /** Every service that a project can enable. */
  readonly services: Services;
  /** A named table of plain JSON records, part of the snapshot. Returns the live object, to be changed in place. */
  table<T = JsonObject>(name: string): Record<string, T>;
  /** Real time, in milliseconds since the epoch. */
  now(): number;
  /** Waits for some milliseconds of it. */
  sleep(milliseconds: number): Promise<void>;
  /** Seeded, in [0, 1). */
  random(): number;
  /** A new decimal id, like Google's numeric ids. */
  id(): string;
  /**
   * Runs `effect` after `seconds` of cloud time, scaled by the time factor, ± 30 % unless `exact`.
   *
   * With factor 0 it runs after the handler has returned and before the reply leaves. A reply that is a live record then shows
   * the effect.
   */
  schedule(seconds: number, effect: string, args: JsonObject, options?: { readonly exact?: boolean }): void;
  /** Calls the listener after each request and after each effect. Returns a function that stops this. */
  onChange(listener: () => void): () => void;
  /** Runs what is due now. The kernel does so before each request and after each handler. */
  runDue(): void;
  /** The time at which the next effect is due, if there is one. Useful for waiting until nothing more happens. */
  nextDue(): number | undefined;
  /** Turns cloud seconds into real milliseconds by the time factor. */
  scaled(seconds: number): number;
  /**
   * Finds a project by id or number. Throws Google's own error if it is missing, not ours, or being deleted. On request it
   * also throws if an API is off or billing is not linked.
   */
  project(idOrNumber: string, needs?: { readonly service?: string; readonly billing?: boolean }): ProjectRecord;
  /** Policies of all services, by full resource name. */
  readonly policies: Policies;
  /** Whether this VM meets a stockout, by seed or because a test set one. */
  stockout(project: string, zone: string, name: string, provisioning: 'SPOT' | 'PREEMPTIBLE' | 'STANDARD'): boolean;
  /** The limit of a regional quota, such as CPUS, SSD_TOTAL_GB or STATIC_ADDRESSES. Tests can set it. */
  quota(project: string, region: string, metric: string): number;
}

export interface ProjectRecord {
  projectId: string;
  projectNumber: string;
  displayName: string;
  /** `folders/…` or `organizations/…`. */
  parent: string;
  state: 'ACTIVE' | 'DELETE_REQUESTED';
  labels: Record<string, string>;
  etag: string;
  createTime: string;
  updateTime: string;
  deleteTime?: string;
  creator: string;
  billingAccountName?: string;
  /** Each service and the time at which it is usable everywhere, in milliseconds since the epoch. */
  services: Record<string, number>;
}

export interface Policies {
  /** The policy with etag and version, empty if none was set. Conditions are shown only to callers that ask for version 3. */
  get(resource: string, requestedVersion?: number): JsonObject;
  /**
   * Replaces the policy. Throws 409 ABORTED for a stale etag, and 400 for a member that does not exist. Grants take effect
   * after the propagation time. `fields` are those of the call's mask: without one, `auditConfigs` stay as they are.
   */
  set(resource: string, policy: JsonObject, fields?: readonly string[]): JsonObject;
  /** Removes the policies of a resource and of everything beneath it. */
  remove(resource: string): void;
  /** Whether the caller's grants hold a permission on a resource or an ancestor. Counts only grants that have propagated. */
  allows(caller: Caller, permission: string, resource: string): boolean;
}

/** An error as Google would send it. The kernel writes it in the form of the API that threw it. */
export class GoogleError extends Error {
  override readonly name = 'GoogleError';
  constructor(
    /** HTTP status. */
    readonly code: number,
    /** Canonical status: `INVALID_ARGUMENT`, `NOT_FOUND`, … */
    readonly status: string,
    message: string,
    readonly more: {
      /** The legacy reason of compute, DNS and IAM: `notFound`, `resourceNotReady`, `alreadyExists`, … */
      readonly reason?: string;
      /** google.rpc details: ErrorInfo, PreconditionFailure, QuotaFailure, … with `@type`. */
      readonly details?: JsonObject[];
      /** Legacy domain: `usageLimits`. Default: `global`. */
      readonly domain?: string;
      /** Legacy name of the field or parameter at fault. */
      readonly location?: string;
      /** Messages of further refusals for the same reason, which legacy errors list beside the first. */
      readonly also?: readonly string[];
    } = {},
  ) {
    super(message);
  }
}
