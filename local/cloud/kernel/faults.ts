/**
 * Faults that a test sets, or a person through `/_local/faults`. A call fails before or after its effect, is slow, or is
 * dropped. A VM meets a stockout. A quota is smaller.
 *
 * They are kept in tables, so the state shows them and they survive a restart.
 */
import { type CloudCall, GoogleError, type JsonObject, type World } from './api.js';

/** Affects the n-th matching call from now on, and as many calls as `times` says. */
export interface CallFault {
  /** A discovery method id, or a prefix that ends in `*`: `compute.instances.insert`, `compute.*`. */
  readonly method: string;
  /** 1 is the next such call. Default 1. */
  readonly nth?: number;
  /** The number of calls in a row; 0 means all of them. Default 1. */
  readonly times?: number;
  /** Only calls with these parameters or fields of the body. `caller` means the caller's e-mail. */
  readonly where?: Readonly<Record<string, string>>;
  /** `before` the effect of the call (default), or `after` it. A failure afterwards leaves the effect in place. */
  readonly when?: 'before' | 'after';
  /**
   * `error` (default): 503, unless `code` says otherwise · `rate`: too many calls, in the API's own form · `unavailable`: 503
   * · `drop`: the connection breaks · `slow`: the answer comes after `delaySeconds` of real time, or once the fault is
   * removed.
   */
  readonly kind?: 'error' | 'rate' | 'unavailable' | 'drop' | 'slow';
  readonly code?: number;
  readonly status?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly delaySeconds?: number;
}

export interface StockoutFault {
  /** Name of the VM; `*` means every VM. */
  readonly name: string;
  readonly provisioning?: 'SPOT' | 'PREEMPTIBLE' | 'STANDARD';
  readonly project?: string;
  readonly zone?: string;
}

export interface QuotaFault {
  /** `CPUS`, `SSD_TOTAL_GB`, `STATIC_ADDRESSES`, … `projects` counts per creator, `billing-projects` per billing account. */
  readonly metric: string;
  readonly limit: number;
  readonly region?: string;
  readonly project?: string;
}

interface SetCallFault extends CallFault {
  seen: number;
  hit: number;
}

export interface Faults {
  /** Returns the id that removes the fault. */
  add(fault: CallFault): string;
  stockout(fault: StockoutFault): string;
  quota(fault: QuotaFault): string;
  remove(id: string): void;
  clear(): void;
  list(): JsonObject;
}

export type Disturbance =
  | { readonly kind: 'error'; readonly error: GoogleError }
  | { readonly kind: 'drop' }
  | { readonly kind: 'slow'; readonly seconds: number; readonly isRemoved: () => boolean };

const tables = (world: World) => ({
  calls: world.table<SetCallFault>('faults.calls'),
  stockouts: world.table<StockoutFault>('faults.stockouts'),
  quotas: world.table<QuotaFault>('faults.quotas'),
});

export function createFaults(world: World): Faults {
  const put = <T>(table: Record<string, T>, fault: T): string => {
    const id = `fault-${world.id()}`;
    table[id] = fault;
    return id;
  };
  const { calls, stockouts, quotas } = tables(world);
  return {
    add: (fault) => put(calls, { ...fault, seen: 0, hit: 0 }),
    stockout: (fault) => put(stockouts, fault),
    quota: (fault) => put(quotas, fault),
    remove(id) {
      for (const table of [calls, stockouts, quotas]) delete table[id];
    },
    clear() {
      for (const table of [calls, stockouts, quotas]) for (const id of Object.keys(table)) delete table[id];
    },
    list: () => structuredClone({ calls, stockouts, quotas }) as unknown as JsonObject,
  };
}

const matches = (fault: CallFault, call: CloudCall): boolean =>
  (fault.method === call.method || (fault.method.endsWith('*') && call.method.startsWith(fault.method.slice(0, -1)))) &&
  Object.entries(fault.where ?? {}).every(([name, value]) =>
    name === 'caller' ? call.caller.email === value : call.params[name] === value || call.body[name] === value,
  );

/** The faults of this call, before and after its effect. Counts the call against every fault that matches it. */
export function disturbancesOf(world: World, call: CloudCall): { before: Disturbance[]; after: Disturbance[] } {
  const found: { before: Disturbance[]; after: Disturbance[] } = { before: [], after: [] };
  const { calls } = tables(world);
  for (const [id, fault] of Object.entries(calls)) {
    if (!matches(fault, call)) continue;
    fault.seen += 1;
    const times = fault.times ?? 1;
    if (fault.seen < (fault.nth ?? 1) || (times !== 0 && fault.hit >= times)) continue;
    fault.hit += 1;
    found[fault.when ?? 'before'].push(disturbance(fault, call, () => calls[id] === undefined));
  }
  return found;
}

function disturbance(fault: CallFault, call: CloudCall, isRemoved: () => boolean): Disturbance {
  if (fault.kind === 'drop') return { kind: 'drop' };
  if (fault.kind === 'slow') return { kind: 'slow', seconds: fault.delaySeconds ?? 1, isRemoved };
  if (fault.kind === 'rate') return { kind: 'error', error: rateLimited(call) };
  const code = fault.code ?? 503;
  const status = fault.status ?? statusOf[code] ?? 'UNKNOWN';
  const message = fault.message ?? (code === 503 ? 'The service is currently unavailable.' : 'Fault set by test.');
  return {
    kind: 'error',
    error: new GoogleError(code, status, message, fault.reason === undefined ? {} : { reason: fault.reason }),
  };
}

const statusOf: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  412: 'FAILED_PRECONDITION',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

/** Compute answers 403 where the other APIs answer 429. */
function rateLimited({ method }: CloudCall): GoogleError {
  const service = `${method.split('.')[0]}.googleapis.com`;
  const message = `Quota exceeded for quota metric 'Queries' and limit 'Queries per minute' of service '${service}'.`;
  return method.startsWith('compute.')
    ? new GoogleError(403, 'PERMISSION_DENIED', `Rate Limit Exceeded. ${message}`, {
        reason: 'rateLimitExceeded',
        domain: 'usageLimits',
      })
    : new GoogleError(429, 'RESOURCE_EXHAUSTED', message, {
        reason: 'rateLimitExceeded',
        details: [
          {
            '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
            reason: 'RATE_LIMIT_EXCEEDED',
            domain: 'googleapis.com',
            metadata: { service },
          },
        ],
      });
}

/** Draws only where something can happen, so that other worlds keep their chance. */
const happens = (world: World, chance: number): boolean => chance > 0 && world.random() < chance;

/** What holds where no fault is set. */
export interface Limits {
  /** The share of VMs that meet a stockout. */
  readonly stockoutChance: (world: World) => number;
  readonly quota: (world: World, project: string, region: string, metric: string) => number;
}

/** Answers the questions that APIs ask the world about faults. */
export function readFaults(world: World, limits: Limits): Pick<World, 'stockout' | 'quota'> {
  const { stockouts, quotas } = tables(world);
  const fits = (wanted: string | undefined, value: string): boolean => wanted === undefined || wanted === value;
  return {
    stockout: (project, zone, name, provisioning) =>
      Object.values(stockouts).some(
        (fault) =>
          (fault.name === '*' || fault.name === name) &&
          fits(fault.provisioning, provisioning) &&
          fits(fault.project, project) &&
          fits(fault.zone, zone),
      ) || happens(world, limits.stockoutChance(world)),
    quota: (project, region, metric) =>
      Object.values(quotas)
        .filter((fault) => fault.metric === metric && fits(fault.region, region) && fits(fault.project, project))
        .at(-1)?.limit ?? limits.quota(world, project, region, metric),
  };
}
