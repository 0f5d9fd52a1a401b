/**
 * The documents that the engine stores. Each carries its schema's number, and each kind has a function that lifts what older
 * releases wrote.
 */
import * as z from 'zod';
import {
  BootstrapState,
  InstanceState,
  LoadBalancers,
  MachineAccess,
  StoredProblem,
} from '../../../shared/bootstrap/bootstrap.js';
import { BootstrapEvent, ExpiryWarning } from '../../../shared/bootstrap/event.js';
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import { fillOptions } from '../../../shared/bootstrap/rules.js';
import { everywhere } from '../../../shared/source-ranges.js';
import { lift } from '../../store/lift.js';
import type { Document } from '../../store/store.js';

export { read } from '../../store/lift.js';

const time = z.iso.datetime();
const plain = z.record(z.string(), z.unknown());

/** `running` is missing among the states: the lease says who works on an instance. */
export const InstanceRecord = z.object({
  state: InstanceState.exclude(['running']),
  /** Failures in this generation. Written when the instance ends. */
  attempt: z.int(),
  startedAt: time.optional(),
  endedAt: time.optional(),
  note: z.string().optional(),
  problem: StoredProblem.optional(),
  /** What `observe` saw last. It is kept while a new generation looks again. */
  output: z.unknown().optional(),
  /** What was there and cost money when it failed or was cancelled. It is kept while a new generation looks again. */
  unfinished: z.unknown().optional(),
  /** A resume cut it off before it ended. What it asked for may be there, and is looked at if this generation does not run it. */
  cutOff: z.boolean().optional(),
  /** How often this instance sent its needs back to be looked at, in this generation. */
  rechecks: z.int().optional(),
});
export type InstanceRecord = z.infer<typeof InstanceRecord>;

/** Kept from the first request until the bootstrap is removed. */
export const RemovalRecord = z.object({
  requestedAt: time,
  /** E-mail, or `cleanup`. */
  by: z.string(),
  /** `expired`: its time was over. `asked`: a person asked for it. */
  why: z.enum(['expired', 'asked']),
  /** Generations that failed in a row. */
  failures: z.int(),
  /** Set in quarantine, until an operator asks again. */
  quarantinedAt: time.optional(),
});
export type RemovalRecord = z.infer<typeof RemovalRecord>;

/** A package of the store: the build, and the archive that the registry type asks for. */
export const ChosenPackage = z.object({
  version: z.string(),
  hash: z.string(),
  /** `lite` has no images: the registry has them already, or gets them elsewhere. */
  archive: z.enum(['full', 'lite']),
  /** The object's name in the bucket. */
  object: z.string(),
  bytes: z.int(),
  sha256: z.string(),
});
export type ChosenPackage = z.infer<typeof ChosenPackage>;

/** The project is not removed before `until`, whatever its deadline. */
const ProtectionRecord = z.object({ until: time, reason: z.string(), by: z.string() });

/** What it was admitted at, in whole micro-units of the currency. */
const PriceRecord = z.object({
  /** 0 where a price is missing and the operators allow that. */
  microsAnHour: z.int(),
  /** The most that the caller will pay in all. */
  maxMicros: z.int().optional(),
});
export type PriceRecord = z.infer<typeof PriceRecord>;

/** Its VMs are stopped because it came to cost more than it may. Kept until they are started again. */
const VmsStoppedRecord = z.object({
  at: time,
  why: z.string(),
  advice: z.string(),
  /** The VMs have been asked to stop. Missing while the bootstrap is still being cancelled. */
  begun: z.literal(true).optional(),
});

/** A VM does not run from `from` on. Its disks still cost. */
const PauseRecord = z.object({ vm: z.string(), from: time, until: time.optional() });

/** Its project was made before anybody asked for it. */
const PreparedRecord = z.object({
  /** Key of the pool that it was made for. */
  pool: z.string(),
  since: time,
  /** Until then it is nobody's, and only the functions know of it. */
  claimedAt: time.optional(),
});

/** `bootstraps/{id}`: written when an instance ends or a person acts. */
export const BootstrapRecord = z.object({
  schema: z.literal(1),
  name: z.string(),
  projectId: z.string(),
  owner: z.string(),
  ownerMember: z.string(),
  /** E-mails of the people it is shared with. */
  sharedWith: z.array(z.string()).optional(),
  /** Number of the team that it belongs to. Its owner has it while they are in that team. */
  team: z.int().optional(),
  /** Numbers of the teams that it is shared with. */
  sharedTeams: z.array(z.int()).optional(),
  /** E-mails of who gets the invited's role by these teams, as of the last look. It decides roles on the project alone. */
  teamPeople: z.array(z.string()).optional(),
  /** The owner was not in the team at the last look. */
  ownerLeft: z.literal(true).optional(),
  /** E-mails of people who once had the caller's role. The step caller-role takes it from them whenever it looks. */
  formerPeople: z.array(z.string()).optional(),
  /** By e-mail of the owner and of those it is shared with: the first account that changed something. Never shown. */
  boundTo: z.record(z.string(), z.string()).optional(),
  state: BootstrapState,
  generation: z.int(),
  /** Resolved, without secrets. */
  options: plain,
  /** As given, without secrets. */
  given: plain,
  sshPublicKey: z.string(),
  /** Version of the secret `<id>-caller`. */
  callerSecret: z.string().optional(),
  /** Missing in records of earlier releases: `direct`. */
  machineAccess: MachineAccess.optional(),
  /** From which its jumpbox took SSH when it began. Missing in records of earlier releases: everywhere. */
  sshSourceRanges: z.array(z.string()).optional(),
  /** Missing in records of earlier releases: `external`. */
  loadBalancers: LoadBalancers.optional(),
  /** The installed build. It is chosen once, so that a resume installs the same one. */
  package: ChosenPackage.optional(),
  /** By datacenter: the names of the files that the caller already had. */
  base: z.record(z.string(), z.object({ config: z.string().optional(), secrets: z.string().optional() })),
  /**
   * The trace of the request that began it. Its steps are parts of that trace in every generation. Missing in records of
   * earlier releases.
   */
  traceparent: z.string().optional(),
  createdAt: time,
  deadlineAt: time,
  prepared: PreparedRecord.optional(),
  /** Key of the pool that it is a living member of: an index. Missing once it is claimed or set aside. */
  pool: z.string().optional(),
  /** Why it took no prepared project. Missing where the deployment prepares none. */
  unprepared: z.string().optional(),
  /** Missing in records of earlier releases. */
  price: PriceRecord.optional(),
  protection: ProtectionRecord.optional(),
  /**
   * When cleanup looks at it next: an index, not a decision. It is missing once the bootstrap is removed or quarantined. It is
   * also missing in records of releases that removed nothing: their projects are found by label.
   */
  removeAt: time.optional(),
  /** When the next warning is due: an index, not a decision. Missing when none is left. */
  warnAt: time.optional(),
  /** When what it costs is looked at next: an index, not a decision. Missing if nothing is to be looked at. */
  fuseAt: time.optional(),
  /** The limits that its people were last told it is beyond. Missing: none. */
  overspent: z.array(z.enum(['anHour', 'inAll'])).optional(),
  /** Missing in records of earlier releases. */
  vmsStopped: VmsStoppedRecord.optional(),
  /** When VMs did not run. Missing in records of earlier releases, and where none was ever stopped by plinth. */
  pauses: z.array(PauseRecord).optional(),
  /** VMs of its project that its plan does not hold, as of the last hourly search. Missing: none was found. */
  unplanned: z.array(z.object({ name: z.string(), zone: z.string(), since: time })).optional(),
  /** The last warning about the current end. */
  warned: ExpiryWarning.optional(),
  removal: RemovalRecord.optional(),
  /** Cleanup made this record from a project's labels, because no record knew the project. */
  orphan: z.literal(true).optional(),
  endedAt: time.optional(),
  warnings: z.array(z.string()),
  problem: StoredProblem.optional(),
  instances: z.record(z.string(), InstanceRecord),
  /** Number of the last event. */
  events: z.int(),
  /** When Firestore deletes the record. Set once it is removed. An earlier release set it when the bootstrap had ended. */
  expireAt: time.optional(),
});
export type BootstrapRecord = z.infer<typeof BootstrapRecord>;
export type StoredBootstrap = Omit<Document<BootstrapRecord>, 'createdAt'>;

/** The options were checked when they were given. Later releases may ask for more, so they are not checked again. */
export const optionsOf = ({ options }: Pick<BootstrapRecord, 'options'>): BootstrapOptions => fillOptions(options);

/** It waits for whoever claims it. */
export const isUnclaimed = ({ prepared }: Pick<BootstrapRecord, 'prepared'>): boolean =>
  prepared !== undefined && prepared.claimedAt === undefined;

/** Only the functions may know of it: it may still be claimed. */
export const isHidden = (record: Pick<BootstrapRecord, 'prepared' | 'removal'>): boolean =>
  isUnclaimed(record) && record.removal === undefined;

export const machineAccessOf = ({ machineAccess = 'direct' }: Pick<BootstrapRecord, 'machineAccess'>): MachineAccess =>
  machineAccess;

/**
 * The deployment's ranges now. Where it names none any more, as with `iap`, those that the bootstrap began with. Earlier
 * releases opened port 22 to everywhere unless the deployment said otherwise.
 */
export const sshSourceRangesOf = (
  { sshSourceRanges = [everywhere] }: Pick<BootstrapRecord, 'sshSourceRanges'>,
  ofDeployment: readonly string[],
): readonly string[] => (ofDeployment.length > 0 ? ofDeployment : sshSourceRanges);

export const loadBalancersOf = ({
  loadBalancers = 'external',
}: Pick<BootstrapRecord, 'loadBalancers'>): LoadBalancers => loadBalancers;

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
  /** Random. It names the one invocation that holds the lease. */
  holder: z.string().optional(),
  expiresAt: time.optional(),
  /** When sweep looks at it. Missing while only the caller's machine can go on. */
  dueAt: time.optional(),
  /** The instance does not run before this time: the rest of a wait that was handed over. */
  notBefore: time.optional(),
  /** Time of the first claim in this generation. */
  startedAt: time.optional(),
  /** Recorded failures, by retry class. */
  failures: z.record(z.string(), z.int()),
  /** Seconds of cloud time waited for propagation. */
  propagationSeconds: z.number(),
  /** How long the instance has waited, and since when, as of the last write. */
  waited: z.object({ seconds: z.number(), since: time }).optional(),
  /** Claims after a holder vanished. The count stops a step that kills its function from doing so for ever. */
  deaths: z.int(),
  note: z.string().optional(),
  /** The reason for the retry. */
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
  /** Cloud calls of the ended instance, for `--verbose`. */
  calls: z.array(CallRecord).optional(),
  expireAt: time,
});
export type EventRecord = z.infer<typeof EventRecord>;

/** `names/{name}`. */
export const NameRecord = z.object({ schema: z.literal(1), bootstrapId: z.string(), owner: z.string() });
export type NameRecord = z.infer<typeof NameRecord>;

/** `passes/projects-by-labels`: exists while such a search is under way. */
export const PassRecord = z.object({
  schema: z.literal(1),
  /** The question of the search. The page token is meaningless for another question. */
  query: z.string(),
  pageToken: z.string(),
  /** When the previous page had been looked at. */
  at: time,
});
export type PassRecord = z.infer<typeof PassRecord>;

/** `passes/unknown-projects`: the hourly search for projects without a record. */
export const SearchRecord = z.object({
  schema: z.literal(1),
  /** When the last search began. */
  at: time,
  /** Ids of projects that people were told of, and that are still there. */
  told: z.array(z.string()),
});
export type SearchRecord = z.infer<typeof SearchRecord>;

/** `files/{id}~{name}`. */
export const FileRecord = z.object({
  schema: z.literal(1),
  bootstrapId: z.string(),
  name: z.string(),
  content: z.string(),
  writtenAt: time,
  /** When cleanup looks whether `outside` was left behind. Only then are the fields below there. */
  lookAt: time.optional(),
  /** A thing outside of the project, for people. */
  outside: z.string().optional(),
  projectId: z.string().optional(),
  /** Its undo removes the thing. */
  instance: z.string().optional(),
});
export type FileRecord = z.infer<typeof FileRecord>;

/** `logHeads/{id}~{instance}`. */
export const LogHeadRecord = z.object({
  schema: z.literal(1),
  bootstrapId: z.string(),
  instance: z.string(),
  generation: z.int(),
  /** All stored bytes, and where those of this generation begin. */
  stored: z.int(),
  begins: z.int(),
  /** How far each job's log was read, in its own bytes. `within`: it ended within what may be a secret, or a character. */
  read: z.array(z.object({ source: z.string(), offset: z.int(), within: z.literal(true).optional() })),
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
export const liftPass = lift('search', PassRecord, 1);
export const liftSearch = lift('hourly search', SearchRecord, 1);
export const liftFile = lift('file', FileRecord, 1);
export const liftLogHead = lift('log', LogHeadRecord, 1);
export const liftLogChunk = lift('piece of a log', LogChunkRecord, 1);

/** Ids of documents never change, because they are stored. */
export const leaseId = (bootstrapId: string, instance: string): string => `${bootstrapId}~${instance}`;
export const eventId = (bootstrapId: string, n: number): string => `${bootstrapId}~${String(n).padStart(6, '0')}`;
export const logHeadId = (bootstrapId: string, instance: string): string => `${bootstrapId}~${instance}`;
export const logChunkId = (bootstrapId: string, instance: string, offset: number): string =>
  `${bootstrapId}~${instance}~${String(offset).padStart(9, '0')}`;
export const fileId = (bootstrapId: string, name: string): string => `${bootstrapId}~${name}`;
/** Escaped, so that any name can be a document id. */
export const nameId = (name: string): string => `n-${encodeURIComponent(name).replaceAll('.', '%2E')}`;
/** The name in an id that `nameId` made. */
export const nameIn = (id: string): string => decodeURIComponent(id.slice(2));
