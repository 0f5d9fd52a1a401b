/**
 * The contract of a step: one object in one file that says how one thing is looked at, made and removed.
 * The engine does observe → run → observe → commit; a step has no "if it exists" branch, no retry loop, no sleep,
 * no status writes and no publishing.
 */
import type { ZodType } from 'zod';
import type { BootstrapOptions } from '../../shared/bootstrap/options.js';
import type { Lane } from '../../shared/names.js';
import type { StepContext } from '../context.js';

/** Names are stored for ever, and are part of document ids and secret names. */
export const stepNamePattern = /^[a-z][a-z0-9-]{0,40}$/;

/** A family of keys that steps share: VMs, datacenters, addresses. Steps with the same `of` meet key by key. */
export interface Each<Of extends string = string> {
  readonly of: Of;
  keys(options: BootstrapOptions): readonly string[];
}

export type Outcome =
  /** What was missing has been made (or asked for); look again. */
  | { readonly kind: 'done'; readonly note?: string }
  /**
   * Come back in `seconds`; `note` says in words what it waits for. Waited for without end it fails: after half an hour in a
   * generation, or after `patienceSeconds`.
   */
  | { readonly kind: 'again'; readonly seconds: number; readonly note: string; readonly patienceSeconds?: number }
  /** Only the caller's machine can go on; `what` names it. */
  | { readonly kind: 'needsClient'; readonly what: string }
  /** What it needs is no longer as it was, such as a VM that was taken away: those of `needs` are looked at again, then this. */
  | { readonly kind: 'recheck'; readonly needs: readonly string[]; readonly note: string };

export const done: Outcome = { kind: 'done' };
/** Of an undo, with what there is to say: most often that there was nothing to remove. */
export const doneWith = (note: string): Outcome => ({ kind: 'done', note });
export const again = (seconds: number, note: string, patienceSeconds?: number): Outcome => ({
  kind: 'again',
  seconds,
  note,
  ...(patienceSeconds === undefined ? {} : { patienceSeconds }),
});
/** @public Part of the contract; steps that upload from the caller's machine use it. */
export const needsClient = (what: string): Outcome => ({ kind: 'needsClient', what });
/** @public Part of the contract; `needs` are names of members of the step's `needs`. */
export const recheck = (needs: readonly string[], note: string): Outcome => ({ kind: 'recheck', needs, note });

/** What Resource Manager says of a project. */
export interface SeenProject {
  /** `projects/<number>` */
  readonly name: string;
  readonly projectId: string;
  readonly parent?: string | undefined;
  readonly state: string;
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** What every step knows of its bootstrap. */
export interface BootstrapFacts {
  /** Begins with a letter. */
  readonly id: string;
  readonly name: string;
  readonly projectId: string;
  /** Lower-cased e-mail of the caller who began it. */
  readonly owner: string;
  /** IAM member of the owner: `user:…` or `serviceAccount:…`. */
  readonly ownerMember: string;
  /** IAM members of those it is shared with. */
  readonly sharedMembers: readonly string[];
  /** Of those who had it, or with whom it was shared, and is not any more. */
  readonly formerMembers: readonly string[];
  /** Resolved: defaults applied, secrets left out (see `secrets.caller`). */
  readonly options: BootstrapOptions;
  /** `<type> <base64> [comment]`, one line. */
  readonly sshPublicKey: string;
  /** The config and encrypted secrets that the caller holds of this same bootstrap, by datacenter key; the base of a re-run. */
  readonly base: Readonly<Record<string, { readonly config?: string; readonly secrets?: string }>>;
  readonly createdAt: Date;
  readonly deadlineAt: Date;
  /** Not removed before, whatever the deadline. */
  readonly protection?: { readonly until: Date; readonly reason: string } | undefined;
  /** Found by its labels alone: why the project, as it is when it is to be deleted, must stay; undefined: it may go. */
  readonly orphan?: ((project: SeenProject, proofKey: string | undefined) => string | undefined) | undefined;
  /** From the package store; undefined: nothing is installed, or what the caller uploads. */
  readonly package?:
    | { readonly version: string; readonly hash: string; readonly object: string; readonly sha256: string }
    | undefined;
  readonly generation: number;
}

/** Secrets of this bootstrap, in Secret Manager of plinth's own project. `name` is unique within the bootstrap. */
export interface StepSecrets {
  /** The secret flags that the caller gave, by option name. */
  caller(): Promise<Readonly<Record<string, string>>>;
  /** The first version ever written under `name`, or undefined. Never `latest`: the first writer wins. */
  find(name: string): Promise<string | undefined>;
  /** Writes a version; returns its number. At most 64 KiB. */
  write(name: string, payload: string): Promise<string>;
  read(name: string, version: string): Promise<string>;
  /** With all its versions; fine if it is not there. */
  remove(name: string): Promise<void>;
}

/** Generated files that may be stored in documents: config.yaml and the encrypted secrets, by name (`config-dc1`). */
export interface StepFiles {
  read(name: string): Promise<string | undefined>;
  write(name: string, content: string): Promise<void>;
}

/** What jobs say, for people: stored free of secrets, shown under the step. `source` is a job of this instance. */
export interface StepLog {
  /** How far its log has been stored, in its own bytes. */
  offset(source: string): Promise<number>;
  /**
   * Stores what begins at `offset`, in one commit with how far it was read, at most once a second. Answers from where to read
   * on: what may be half a secret is kept back until more is known. `last`: nothing follows.
   */
  append(source: string, offset: number, bytes: Uint8Array, last: boolean): Promise<number>;
  /** The last line of these, for a note or a message; free of secrets, also of the half of one. `last`: nothing follows. */
  lastLine(bytes: Uint8Array, last: boolean): string;
  /** Of the end of a log, for a message: what came last, joined by `; `. */
  lastLines(bytes: Uint8Array, count: number): string;
}

export interface StepCall<N extends Needs = Needs, E extends Each | undefined = Each | undefined> {
  readonly context: StepContext;
  readonly bootstrap: BootstrapFacts;
  /** The key of this instance; `''` for a step without `each`. */
  readonly key: string;
  readonly needs: NeedOutputs<N, E>;
  readonly secrets: StepSecrets;
  readonly files: StepFiles;
  readonly log: StepLog;
  /** Failures recorded so far in this generation; a crash does not count. */
  readonly attempt: number;
  /** A UUID that is the same each time this instance at this attempt asks for it under `purpose`: crash-safe idempotency. */
  requestId(purpose: string): string;
  /** Aborted when the lease is lost or the function's deadline comes. */
  readonly signal: AbortSignal;
}

type When = (options: BootstrapOptions) => boolean;

export interface StepSpec<O, N extends Needs, E extends Each | undefined, W extends When | undefined> {
  /** Stable, stored, never renamed. `[a-z0-9-]+` */
  readonly name: string;
  readonly title: string;
  readonly lane: Lane;
  readonly needs: N;
  /** Without it the step is always part of the plan. */
  readonly when?: W;
  readonly each?: E;
  /** What it would make, from options alone: one line a thing. */
  describe(options: BootstrapOptions, key: string): readonly string[];
  readonly output: ZodType<O>;
  /** Reads only. The output if all is as wanted, else undefined. */
  observe(call: StepCall<N, E>): Promise<O | undefined>;
  /** Makes what is missing. */
  run(call: StepCall<N, E>): Promise<Outcome>;
  /** Its failure is a warning of the bootstrap, not its end. Nothing may need it that must not fail. */
  readonly mayFail?: true;
  /** Options that stay as they are once it has been made; other fixed options stay from the beginning. */
  readonly holds?: readonly (keyof BootstrapOptions)[];
  /** How it goes away: `undo` removes it; `project`: it goes with the project; `nothing`: it leaves nothing behind. */
  readonly goes: 'project' | 'nothing' | 'undo';
  /**
   * Only with `goes: 'undo'`. `output` is what the instance last committed, if anything; `needs` is empty: what it needed may
   * be gone. Run when all that needs it is gone, until it says `done`; safe to run twice.
   */
  undo?(call: StepCall<Needs, E> & { readonly output: O | undefined }): Promise<Outcome>;
  /** One line that says what now stands, for the person who follows. */
  summary?(output: O): string;
  /** What that person is to be warned of though it stands; kept among the bootstrap's warnings until its next generation. */
  warning?(output: O): string | undefined;
}

export interface Step<
  O = unknown,
  N extends Needs = Needs,
  E extends Each | undefined = Each | undefined,
  W extends When | undefined = When | undefined,
> extends StepSpec<O, N, E, W> {
  /** Carries the types of key family and optionality; no value. */
  readonly types?: { readonly each: E; readonly when: W };
}
export type AnyStep = Step<unknown, Needs>;

/** A need for chosen instances of a keyed step: `of(vm, (options, key) => […])`. */
export interface Selection<S = AnyStep> {
  readonly step: S;
  readonly keys: (options: BootstrapOptions, key: string) => readonly string[];
}
export const of = <S extends AnyStep>(step: S, keys: Selection['keys']): Selection<S> => ({ step, keys });

// biome-ignore lint/suspicious/noExplicitAny: the one place where a step of any type is meant; outputs are inferred from `output`.
type NeedStep = Step<any, any, any, any>;
export type Need = NeedStep | Selection<NeedStep>;
export type Needs = { readonly [name: string]: Need };

type OutputOf<S> = S extends { readonly output: ZodType<infer O> } ? O : never;
type EachOf<S> = S extends { readonly types?: { readonly each: infer E } } ? E : undefined;
type WhenOf<S> = S extends { readonly types?: { readonly when: infer W } } ? W : undefined;
type Keyed<S, E> =
  EachOf<S> extends Each<infer Of>
    ? E extends Each<infer Mine>
      ? [Mine] extends [Of]
        ? OutputOf<S>
        : Readonly<Record<string, OutputOf<S>>>
      : Readonly<Record<string, OutputOf<S>>>
    : OutputOf<S>;
type Maybe<S, T> = WhenOf<S> extends When ? T | undefined : T;

/**
 * A need without `each`: its output. With the same `each`: the output at the same key. With another: all, by key.
 * `of(…)`: the chosen ones, by key. A step with `when`: perhaps undefined.
 */
type NeedOutputs<N extends Needs, E> = {
  readonly [K in keyof N]: N[K] extends Selection<infer S>
    ? Maybe<S, Readonly<Record<string, OutputOf<S>>>>
    : Maybe<N[K], Keyed<N[K], E>>;
};

export function defineStep<
  O,
  const N extends Needs,
  E extends Each | undefined = undefined,
  W extends When | undefined = undefined,
>(spec: StepSpec<O, N, E, W>): Step<O, N, E, W> {
  return spec;
}
