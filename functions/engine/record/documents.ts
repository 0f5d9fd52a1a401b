/**
 * What the engine stores. Every document carries its schema's number; each kind has one function that lifts what an older
 * release wrote to what this one reads.
 */
import * as z from 'zod';
import { AdmissionView } from '../../../shared/bootstrap/admission.js';
import { BootstrapState, InstanceState, StoredProblem } from '../../../shared/bootstrap/bootstrap.js';
import { BootstrapEvent, ExpiryWarning } from '../../../shared/bootstrap/event.js';
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import { fillOptions } from '../../../shared/bootstrap/rules.js';
import { lift } from '../../store/lift.js';
import type { Document } from '../../store/store.js';

export { read } from '../../store/lift.js';

const time = z.iso.datetime();
const plain = z.record(z.string(), z.unknown());

/** `running` is not among the states here: who works on an instance stands in its lease. */
export const InstanceRecord = z.object({
  state: InstanceState.exclude(['running']),
  /** Failures in this generation, once it has ended. */
  attempt: z.int(),
  startedAt: time.optional(),
  endedAt: time.optional(),
  note: z.string().optional(),
  problem: StoredProblem.optional(),
  /** What `observe` saw last; kept while a new generation looks again. */
  output: z.unknown().optional(),
  /** How often in this generation it has sent what it needs to be looked at again. */
  rechecks: z.int().optional(),
});
export type InstanceRecord = z.infer<typeof InstanceRecord>;

/** Kept from the first request on until the bootstrap is removed. */
export const RemovalRecord = z.object({
  requestedAt: time,
  /** E-mail, or `cleanup`. */
  by: z.string(),
  /** Its time was over, or somebody asked for it. */
  why: z.enum(['expired', 'asked']),
  /** Generations that failed in a row. */
  failures: z.int(),
  /** It is left alone until an operator asks again. */
  quarantinedAt: time.optional(),
});
export type RemovalRecord = z.infer<typeof RemovalRecord>;

/** A package of the store: which build, and the archive of it that the registry type asks for. */
export const ChosenPackage = z.object({
  version: z.string(),
  hash: z.string(),
  /** `lite` has no images: where the registry has them, or gets them elsewhere. */
  archive: z.enum(['full', 'lite']),
  /** In the bucket. */
  object: z.string(),
  bytes: z.int(),
  sha256: z.string(),
});
export type ChosenPackage = z.infer<typeof ChosenPackage>;

/** Not removed before `until`, whatever its deadline. */
const ProtectionRecord = z.object({ until: time, reason: z.string(), by: z.string() });

/** `bootstraps/{id}`: written when an instance ends or a person acts. */
export const BootstrapRecord = z.object({
  schema: z.literal(1),
  name: z.string(),
  projectId: z.string(),
  owner: z.string(),
  ownerMember: z.string(),
  /** E-mails of those it is shared with. */
  sharedWith: z.array(z.string()).optional(),
  /** E-mails of those who had the caller's role once: it is taken from them whenever the step caller-role looks. */
  formerPeople: z.array(z.string()).optional(),
  /** By e-mail of the owner and of those it is shared with: the account that was the first to change something. Never shown. */
  boundTo: z.record(z.string(), z.string()).optional(),
  state: BootstrapState,
  generation: z.int(),
  /** Resolved; secrets left out. */
  options: plain,
  /** As given; secrets left out. */
  given: plain,
  sshPublicKey: z.string(),
  /** Version of the secret `<id>-caller`. */
  callerSecret: z.string().optional(),
  /** The build that is installed, chosen when it was asked for, so that a resume installs the same. */
  package: ChosenPackage.optional(),
  /** Names of the files that hold what the caller had already, by datacenter. */
  base: z.record(z.string(), z.object({ config: z.string().optional(), secrets: z.string().optional() })),
  /** Of the request that began it: its steps are parts of that trace, in every generation. Missing in records of earlier releases. */
  traceparent: z.string().optional(),
  createdAt: time,
  deadlineAt: time,
  protection: ProtectionRecord.optional(),
  /**
   * When cleanup looks at it next: an index, not a decision. Missing once it is removed or quarantined, and in records of
   * releases that removed nothing; those are found by their project's labels.
   */
  removeAt: time.optional(),
  /** When the next warning is due: an index, not a decision. Missing when none is left. */
  warnAt: time.optional(),
  /** The last warning of the time that stands. */
  warned: ExpiryWarning.optional(),
  removal: RemovalRecord.optional(),
  /** Made by cleanup of what a project's labels say, for a project that no record knew. */
  orphan: z.literal(true).optional(),
  endedAt: time.optional(),
  warnings: z.array(z.string()),
  problem: StoredProblem.optional(),
  instances: z.record(z.string(), InstanceRecord),
  /** Number of the last event. */
  events: z.int(),
  /** Firestore removes it then. Set once it is removed; an earlier release set it when it had ended. */
  expireAt: time.optional(),
});
export type BootstrapRecord = z.infer<typeof BootstrapRecord>;
export type StoredBootstrap = Omit<Document<BootstrapRecord>, 'createdAt'>;

/** They were checked when they were given, and are not checked again by what a later release asks of them. */
export const optionsOf = ({ options }: Pick<BootstrapRecord, 'options'>): BootstrapOptions => fillOptions(options);

/** `leases/{id}~{instance}`: one for each instance that may run now. */
export const LeaseRecord = z.object({
  schema: z.literal(1),
  bootstrapId: z.string(),
  instance: z.string(),
  lane: z.enum(['cloud', 'host']),
  generation: z.int(),
  state: z.enum(['ready', 'running', 'client']),
  /** Raised by each claim. */
  number: z.int(),
  /** Random, of the one invocation that holds it. */
  holder: z.string().optional(),
  expiresAt: time.optional(),
  /** When sweep shall look at it; missing while only the caller's machine can go on. */
  dueAt: time.optional(),
  /** Not to be run before: what is left of a wait that was handed over. */
  notBefore: time.optional(),
  /** First claim in this generation. */
  startedAt: time.optional(),
  /** Recorded failures by retry class. */
  failures: z.record(z.string(), z.int()),
  /** Seconds of cloud time waited for propagation. */
  propagationSeconds: z.number(),
  /** How long it was waited for, and since when, as of the last write. */
  waited: z.object({ seconds: z.number(), since: time }).optional(),
  /** Claims after a holder vanished: a step that kills its function must not do so for ever. */
  deaths: z.int(),
  note: z.string().optional(),
  /** Why it is tried again. */
  retry: z.string().optional(),
  /** A person asked to stop. */
  cancel: z.boolean().optional(),
});
export type LeaseRecord = z.infer<typeof LeaseRecord>;

export const CallRecord = z.object({ at: time, text: z.string() });
export type CallRecord = z.infer<typeof CallRecord>;

/** `events/{id}~{n}`. */
export const EventRecord = z.object({
  schema: z.literal(1),
  bootstrapId: z.string(),
  n: z.int(),
  event: BootstrapEvent,
  /** Cloud calls of the instance that ended, for `--verbose`. */
  calls: z.array(CallRecord).optional(),
  expireAt: time,
});
export type EventRecord = z.infer<typeof EventRecord>;

/** `names/{name}`. */
export const NameRecord = z.object({ schema: z.literal(1), bootstrapId: z.string(), owner: z.string() });
export type NameRecord = z.infer<typeof NameRecord>;

/** `counters/living`. */
export const CountersRecord = z.object({
  schema: z.literal(1),
  inAll: z.int(),
  byOwner: z.record(z.string(), z.int()),
  /** Missing: nobody ever stopped new ones. */
  admission: AdmissionView.optional(),
});
export type CountersRecord = z.infer<typeof CountersRecord>;

/** `passes/projects-by-labels`: there while such a search is under way. */
export const PassRecord = z.object({
  schema: z.literal(1),
  /** What was asked; of another question the page means nothing. */
  query: z.string(),
  pageToken: z.string(),
  /** When the page before it had been looked at. */
  at: time,
});
export type PassRecord = z.infer<typeof PassRecord>;

/** `files/{id}~{name}`. */
export const FileRecord = z.object({
  schema: z.literal(1),
  bootstrapId: z.string(),
  name: z.string(),
  content: z.string(),
  writtenAt: time,
});
export type FileRecord = z.infer<typeof FileRecord>;

/** `logHeads/{id}~{instance}`. */
export const LogHeadRecord = z.object({
  schema: z.literal(1),
  bootstrapId: z.string(),
  instance: z.string(),
  generation: z.int(),
  /** Stored bytes in all, and where those of this generation begin. */
  stored: z.int(),
  begins: z.int(),
  /** How far each job's log was read, in its own bytes. */
  read: z.array(z.object({ source: z.string(), offset: z.int() })),
  expireAt: time,
});
export type LogHeadRecord = z.infer<typeof LogHeadRecord>;

/** `logs/{id}~{instance}~{offset}`. */
export const LogChunkRecord = z.object({
  schema: z.literal(1),
  bootstrapId: z.string(),
  instance: z.string(),
  generation: z.int(),
  offset: z.int(),
  text: z.string(),
  at: time,
  expireAt: time,
});
export type LogChunkRecord = z.infer<typeof LogChunkRecord>;

export const liftBootstrap = lift('bootstrap', BootstrapRecord, 1);
export const liftLease = lift('lease', LeaseRecord, 1);
export const liftEvent = lift('event', EventRecord, 1);
export const liftName = lift('name', NameRecord, 1);
export const liftCounters = lift('counter', CountersRecord, 1);
export const liftPass = lift('search', PassRecord, 1);
export const liftFile = lift('file', FileRecord, 1);
export const liftLogHead = lift('log', LogHeadRecord, 1);
export const liftLogChunk = lift('piece of a log', LogChunkRecord, 1);

/** Ids of documents are stored for ever. */
export const leaseId = (bootstrapId: string, instance: string): string => `${bootstrapId}~${instance}`;
export const eventId = (bootstrapId: string, n: number): string => `${bootstrapId}~${String(n).padStart(6, '0')}`;
export const logHeadId = (bootstrapId: string, instance: string): string => `${bootstrapId}~${instance}`;
export const logChunkId = (bootstrapId: string, instance: string, offset: number): string =>
  `${bootstrapId}~${instance}~${String(offset).padStart(9, '0')}`;
export const fileId = (bootstrapId: string, name: string): string => `${bootstrapId}~${name}`;
/** Escaped, so that any name does as a document id. */
export const nameId = (name: string): string => `n-${encodeURIComponent(name).replaceAll('.', '%2E')}`;
/** The name in an id that `nameId` made. */
export const nameIn = (id: string): string => decodeURIComponent(id.slice(2));
export const countersId = 'living';
