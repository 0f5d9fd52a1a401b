/** A bootstrap as those who may see it do over HTTP: what stands, what runs, what it waits for. */
import * as z from 'zod';
import { CostEstimate } from './cost.js';

/**
 * `succeeded-with-warnings`: all that matters stands, and something that may fail did; its warnings say what.
 * `succeeded`, `failed` and `cancelled` are ends; a resume starts a new generation from any of them. `removing` comes to its
 * end as `removed`, or as `removal-failed`, which is tried again; from neither does a bootstrap come back.
 */
export const BootstrapState = z.enum([
  'running',
  'cancelling',
  'succeeded',
  'succeeded-with-warnings',
  'failed',
  'cancelled',
  'removing',
  'removal-failed',
  'removed',
]);
export type BootstrapState = z.infer<typeof BootstrapState>;

/**
 * `waiting`: for other instances · `ready`: published · `running`: leased · `client`: needs the caller's machine ·
 * `gone`: what it made is removed.
 */
export const InstanceState = z.enum(['waiting', 'ready', 'running', 'client', 'done', 'failed', 'cancelled', 'gone']);
export type InstanceState = z.infer<typeof InstanceState>;

/** A failure as it is stored and shown. Never holds a secret. */
export const StoredProblem = z.object({
  code: z.string(),
  detail: z.string(),
  advice: z.string().optional(),
});
export type StoredProblem = z.infer<typeof StoredProblem>;

export const InstanceView = z.object({
  /** `<step>` or `<step>:<key>`, for example `vm:k0s-1`. */
  id: z.string(),
  step: z.string(),
  key: z.string().optional(),
  title: z.string(),
  state: InstanceState,
  /** What it waits for, in words, while it runs. */
  note: z.string().optional(),
  /** Failures so far in this generation. */
  attempt: z.int(),
  startedAt: z.iso.datetime().optional(),
  endedAt: z.iso.datetime().optional(),
  problem: StoredProblem.optional(),
});
export type InstanceView = z.infer<typeof InstanceView>;

export const VmView = z.object({
  name: z.string(),
  zone: z.string(),
  machineType: z.string(),
  internalIp: z.string(),
  externalIp: z.string().optional(),
  /** Each as `<type> <base64>`, as the VM published them: the only ones to trust. Missing until it has. */
  hostKeys: z.array(z.string()).optional(),
  /** `fallback`: spot was asked for, a standard VM was made because there was no spot capacity. */
  provisioning: z.enum(['standard', 'spot', 'preemptible', 'fallback']),
  /** When Compute Engine made it; missing in records of earlier releases. */
  createdAt: z.iso.datetime().optional(),
  /** When it was stopped or taken away last; it has been started again since. */
  stoppedAt: z.iso.datetime().optional(),
});
export type VmView = z.infer<typeof VmView>;

export const AddressView = z.object({
  name: z.string(),
  address: z.string(),
  /** When Compute Engine reserved it; missing in records of earlier releases. */
  createdAt: z.iso.datetime().optional(),
  /** `<namespace>/<name>` of the Kubernetes service that has it, once the platform is installed. */
  service: z.string().optional(),
});

/** What stands so far; a part is missing until its steps are done. */
export const BootstrapResult = z.object({
  vms: z.array(VmView),
  addresses: z.array(AddressView),
  dns: z
    .object({
      project: z.string(),
      zone: z.string(),
      nameServers: z.array(z.string()),
      records: z.array(z.object({ name: z.string(), address: z.string() })),
    })
    .optional(),
  registry: z.string().optional(),
  datacenters: z.array(
    z.object({
      /** `dc1` or `dc2`: the key in the paths of config and secrets. */
      key: z.string(),
      id: z.int(),
      name: z.string(),
      /** True once config and secrets can be fetched. */
      ready: z.boolean(),
    }),
  ),
});
export type BootstrapResult = z.infer<typeof BootstrapResult>;

const RemovalView = z.object({
  requestedAt: z.iso.datetime(),
  /** E-mail, or `cleanup`. */
  by: z.string(),
  why: z.enum(['expired', 'asked']),
  /** Tries that failed in a row. */
  failures: z.int(),
  /** It is left alone until an operator asks again; the reason is the `problem` of the bootstrap. */
  quarantinedAt: z.iso.datetime().optional(),
});

export const BootstrapView = z.object({
  schema: z.literal(1),
  id: z.string(),
  name: z.string(),
  projectId: z.string(),
  projectNumber: z.string().optional(),
  owner: z.string(),
  state: BootstrapState,
  generation: z.int(),
  region: z.string(),
  zone: z.string(),
  /** The options that were given, secrets left out. */
  options: z.record(z.string(), z.unknown()),
  createdAt: z.iso.datetime(),
  /** When cleanup removes the project. */
  deadlineAt: z.iso.datetime(),
  /** Not removed before `until`, whatever the deadline. */
  protection: z.object({ until: z.iso.datetime(), reason: z.string(), by: z.string() }).optional(),
  /** E-mails of those it is shared with: they see it, and may extend it. */
  sharedWith: z.array(z.string()),
  /** It is to go, or is gone: who asked for it, and how it stands. */
  removal: RemovalView.optional(),
  cost: CostEstimate,
  /** The last warning that its time will be over; a new deadline takes it away. */
  expiryWarning: z
    .object({ at: z.iso.datetime(), removeAt: z.iso.datetime(), text: z.string(), advice: z.string() })
    .optional(),
  endedAt: z.iso.datetime().optional(),
  warnings: z.array(z.string()),
  problem: StoredProblem.optional(),
  instances: z.array(InstanceView),
  result: BootstrapResult,
});
export type BootstrapView = z.infer<typeof BootstrapView>;

/** One row of `list`. */
export const BootstrapSummary = BootstrapView.pick({
  id: true,
  name: true,
  projectId: true,
  owner: true,
  state: true,
  region: true,
  createdAt: true,
  deadlineAt: true,
  protection: true,
  sharedWith: true,
  removal: true,
  cost: true,
  endedAt: true,
  problem: true,
});
export type BootstrapSummary = z.infer<typeof BootstrapSummary>;
