/**
 * The contract between the simulated cloud's kernel and its APIs. An API is a table of handlers by discovery method id;
 * the kernel routes, authenticates, checks requests and replies against the API surface, enforces roles, records calls,
 * applies faults and runs due effects. APIs hold no timers and no state of their own.
 */
import type { GoogleApi } from '../../../functions/config.js';

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** A surface file in `discovery/`: the name of the API's host, and a version. */
export type ApiName = `${GoogleApi}.v${number}`;

/** `legacy`: errors[] without a status · `both`: errors[] and a status · `platform`: a status and details. */
export type ErrorForm = 'legacy' | 'both' | 'platform';

/** One row of `apis.ts`: all that the simulated cloud knows of an API beside what its versions do. */
export interface Api<Host extends GoogleApi = GoogleApi> {
  /** As Google names it to people: `Compute Engine API`. */
  readonly title: string;
  /** How it writes errors. */
  readonly errors: ErrorForm;
  /** Whether a project needs a billing account to enable it. */
  readonly isBilled: boolean;
  /** Whether a call works on a project that has the API off. */
  readonly worksWhileOff: boolean;
  /** Where gcloud's base URL lies beneath the API's host. Undefined where gcloud does not call it. */
  readonly gcloudBase: string | undefined;
  readonly versions: readonly [ApiDefinition<Host>, ...ApiDefinition<Host>[]];
}

export type Apis = { readonly [Host in GoogleApi]: Api<Host> };

/** What a project can enable, by the name of the service: `compute.googleapis.com`. */
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
  /** Query parameters that may be repeated (`names` of services.batchGet), by their discovery names; `[]` is left out. */
  readonly lists: Readonly<Record<string, readonly string[]>>;
  /** The resource in the path: `projects/p/zones/z/instances/i`, without a custom verb; `''` where there is none. */
  readonly resource: string;
  /**
   * Checked against the request schema; `{}` where the method takes none. Names are camelCase, enums names, int64 text,
   * nulls gone, and what the schema marks read-only is taken away (as Google ignores it), but for `etag`.
   */
  readonly body: JsonObject;
  /** What is uploaded beside it; only to `storage.objects.insert`. */
  readonly media?: Media | undefined;
  readonly caller: Caller;
}

export interface Media {
  readonly type: string | undefined;
  readonly bytes: Buffer;
}

export type Handler = (call: CloudCall, world: World) => JsonObject | Promise<JsonObject>;

/** Something that happens later: changes the state when its time has come. Registered by name so that a snapshot can carry it. */
export type Effect = (args: JsonObject, world: World) => void;

/** Handlers by method, and the effects that they schedule. */
export interface Served {
  readonly handlers: Readonly<Record<string, Handler>>;
  readonly effects: Readonly<Record<string, Effect>>;
}

export interface ApiDefinition<Host extends GoogleApi = GoogleApi> {
  readonly api: `${Host}.v${number}`;
  readonly handlers: Readonly<Record<string, Handler>>;
  readonly effects?: Readonly<Record<string, Effect>>;
  /** The permission a method needs and on what, where it is not `<service>.<collection>.<verb>` on the project in the path. */
  readonly access?: Readonly<Record<string, (call: CloudCall, world: World) => readonly Access[]>>;
  /** Its own words for a caller that lacks a permission, where they are not the usual ones. */
  readonly denied?: (access: Access) => GoogleError;
}

/** `permission` on `resource`: `projects/<id>`, `folders/<id>`, `projects/<id>/managedZones/<z>`, … (its ancestors count too). */
export interface Access {
  readonly permission: string;
  readonly resource: string;
}

export interface World {
  /** All services that a project can enable. */
  readonly services: Services;
  /** A named table of plain JSON records; part of the snapshot. Returns the live object: change it in place. */
  table<T = JsonObject>(name: string): Record<string, T>;
  /** Milliseconds since the epoch, real time. */
  now(): number;
  /** Seeded, in [0, 1). */
  random(): number;
  /** A fresh decimal id, as Google's numeric ids. */
  id(): string;
  /**
   * Runs `effect` after `seconds` of cloud time (scaled by the time factor, ± 30 % unless `exact`; factor 0: once the
   * handler has returned, before its reply leaves, so a reply that is a live record shows the effect).
   */
  schedule(seconds: number, effect: string, args: JsonObject, options?: { readonly exact?: boolean }): void;
  /** Hears of every change: after each request and after each effect. Returns what stops it. */
  onChange(listener: () => void): () => void;
  /** Runs what is due now; the kernel does so before each request and after each handler. */
  runDue(): void;
  /** The time at which the next effect is due, if any; for those who wait until all is quiet. */
  nextDue(): number | undefined;
  /** Cloud seconds turned into real milliseconds by the time factor. */
  scaled(seconds: number): number;
  /** A project by id or number; throws Google's own error if it is missing, not ours, or being deleted. Its API enabled and billing linked, if asked for. */
  project(idOrNumber: string, needs?: { readonly service?: string; readonly billing?: boolean }): ProjectRecord;
  /** Policies by full resource name; one place for all services. */
  readonly policies: Policies;
  /** Seeded or test-set: does this VM, spot or not, run into a stockout? */
  stockout(project: string, zone: string, name: string, provisioning: 'SPOT' | 'PREEMPTIBLE' | 'STANDARD'): boolean;
  /** The limit of a regional quota, such as CPUS or SSD_TOTAL_GB or STATIC_ADDRESSES; settable by test. */
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
  /** Service → milliseconds since the epoch at which it is usable everywhere. */
  services: Record<string, number>;
}

export interface Policies {
  /** With etag and version; an empty policy where none was set. Conditions are shown only to callers that ask for version 3. */
  get(resource: string, requestedVersion?: number): JsonObject;
  /** Replaces the policy; a stale etag is 409 ABORTED; a member that does not exist is 400. Grants take effect after the propagation time. */
  set(resource: string, policy: JsonObject): JsonObject;
  /** Takes away the policies of a resource and of all that lies under it. */
  remove(resource: string): void;
  /** Whether the caller's grants, as far as they have propagated, hold a permission on a resource or one of its ancestors. */
  allows(caller: Caller, permission: string, resource: string): boolean;
}

/** An error as Google would send it; the kernel gives it the form of the API that threw it. */
export class GoogleError extends Error {
  override readonly name = 'GoogleError';
  constructor(
    /** HTTP status. */
    readonly code: number,
    /** Canonical status: `INVALID_ARGUMENT`, `NOT_FOUND`, … */
    readonly status: string,
    message: string,
    readonly more: {
      /** Legacy reason of compute, DNS and IAM: `notFound`, `resourceNotReady`, `alreadyExists`, … */
      readonly reason?: string;
      /** google.rpc details: ErrorInfo, PreconditionFailure, QuotaFailure, … with `@type`. */
      readonly details?: JsonObject[];
      /** Legacy domain, `global` if not said: `usageLimits`. */
      readonly domain?: string;
      /** Legacy place of the fault. */
      readonly location?: string;
    } = {},
  ) {
    super(message);
  }
}
