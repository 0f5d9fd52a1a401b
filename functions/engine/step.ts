/**
 * The contract of a step: one object in one file that says how one thing is looked at, made and removed.
 * The engine does observe → run → observe → commit. A step has no "if it exists" branch, no retry loop, no sleep, no status
 * writes and no publishing.
 */
import type { ZodType } from 'zod';
import type { LoadBalancers, MachineAccess } from '../../shared/bootstrap/bootstrap.js';
import type { BootstrapOptions, SecretOptions } from '../../shared/bootstrap/options.js';
import type { Lane } from '../../shared/names.js';
import type { Problem } from '../../shared/problems.js';
import type { StepContext } from '../context.js';
import type { Finding } from './finding.js';

/** Names never change: they are stored, and are part of document ids and secret names. */
export const stepNamePattern = /^[a-z][a-z0-9-]{0,40}$/;

/** A family of keys that steps share: VMs, datacenters, addresses. A step needs another with the same `of` at the same key. */
export interface Each<Of extends string = string> {
  readonly of: Of;
  keys(options: BootstrapOptions): readonly string[];
}

export type Outcome =
  /** What was missing has been made, or asked for. The engine observes again. */
  | { readonly kind: 'done'; readonly note?: string }
  /**
   * Come back in `seconds`. `note` says what it waits for. It fails after half an hour of waiting in a generation, or after
   * `patienceSeconds`. With `ended`: come back once that resolves. `seconds` counts only if it rejects.
   */
  | {
      readonly kind: 'again';
      readonly seconds: number;
      readonly note: string;
      readonly patienceSeconds?: number;
      readonly ended?: (() => Promise<void>) | undefined;
    }
  /** Only the caller's machine can go on. `what` says what it must do. */
  | { readonly kind: 'needsClient'; readonly what: string }
  /**
   * Something it needs has changed, such as a VM that was taken away. The named `needs` are looked at again, then this
   * instance. If that changes nothing, the instance fails with `problem`.
   */
  | { readonly kind: 'recheck'; readonly needs: readonly string[]; readonly problem: Problem };

export const done: Outcome = { kind: 'done' };
/** For an undo with something to say, mostly that there was nothing to remove. */
export const doneWith = (note: string): Outcome => ({ kind: 'done', note });
export const again = (
  seconds: number,
  note: string,
  patienceSeconds?: number,
): Extract<Outcome, { readonly kind: 'again' }> => ({
  kind: 'again',
  seconds,
  note,
  ...(patienceSeconds === undefined ? {} : { patienceSeconds }),
});
/** @public Part of the contract, for steps that upload from the caller's machine. */
export const needsClient = (what: string): Outcome => ({ kind: 'needsClient', what });
/** @public Part of the contract. `needs` are member names of the step's `needs`. */
export const recheck = (needs: readonly string[], problem: Problem): Outcome => ({ kind: 'recheck', needs, problem });

/** A project as Resource Manager describes it. */
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
  /** E-mail of the owner, in lower case. */
  readonly owner: string;
  /** IAM member of the owner: `user:…` or `serviceAccount:…`. */
  readonly ownerMember: string;
  /** Number of the team that it belongs to. */
  readonly team?: number;
  /** It belongs to a team that its owner has left. Then the owner has no role. */
  readonly ownerLeft?: boolean;
  /** IAM members of the people it is shared with, also by a team. */
  readonly sharedMembers: readonly string[];
  /** IAM members of former owners, and of people it is no longer shared with. None of them has it in another way. */
  readonly formerMembers: readonly string[];
  /** Resolved: defaults are applied, and secrets are left out (see `secrets.caller`). */
  readonly options: BootstrapOptions;
  readonly machineAccess: MachineAccess;
  /** From which the jumpbox takes SSH with `direct`. Empty: from nowhere. */
  readonly sshSourceRanges: readonly string[];
  readonly loadBalancers: LoadBalancers;
  /** `<type> <base64> [comment]`, one line. */
  readonly sshPublicKey: string;
  /**
   * The config and encrypted secrets that the caller already has of this bootstrap, by datacenter key. A re-run is based on
   * them.
   */
  readonly base: Readonly<Record<string, { readonly config?: string; readonly secrets?: string }>>;
  readonly createdAt: Date;
  readonly deadlineAt: Date;
  /** The project is not removed before `until`, whatever the deadline. */
  readonly protection?: { readonly until: Date; readonly reason: string } | undefined;
  /** The VMs are to be stopped, and to stay so: it came to cost more than it may. */
  readonly vmsStopped?: true;
  /**
   * Set if cleanup found the project by its labels alone. Judges it just before the deletion. The text says why it must stay.
   * Undefined: it may go.
   */
  readonly orphan?: ((project: SeenProject, proofKey: string | undefined) => string | undefined) | undefined;
  /** The package from the package store. Undefined: nothing is installed, or the caller uploads it. */
  readonly package?:
    | { readonly version: string; readonly hash: string; readonly object: string; readonly sha256: string }
    | undefined;
  readonly generation: number;
}

/** All that the plan of a bootstrap depends on. `unclaimed`: it is prepared for whoever claims it, and has no more steps. */
export type PlanFacts = Pick<BootstrapFacts, 'options' | 'machineAccess'> & { readonly unclaimed?: boolean };

/** All that callers decide of a bootstrap. */
export interface PlannedBy {
  readonly options: BootstrapOptions;
  readonly secrets: SecretOptions;
}

/** Secrets of this bootstrap, in the Secret Manager of plinth's own project. `name` is unique within the bootstrap. */
export interface StepSecrets {
  /** The secret flags that the caller gave, by option name. */
  caller(): Promise<Readonly<Record<string, string>>>;
  /** The number of the oldest enabled version under `name`, or undefined. Never `latest`: the first writer wins. */
  find(name: string): Promise<string | undefined>;
  /** Writes a version and returns its number. At most 64 KiB. */
  write(name: string, payload: string): Promise<string>;
  read(name: string, version: string): Promise<string>;
  /** One that is JSON. Where it is none, the error names the secret and quotes nothing of it. */
  readJson(name: string, version: string): Promise<unknown>;
  /** For a secret that was read elsewhere, such as in a file: it is then in no log and no problem. */
  register(value: string | undefined): void;
  /** Removes the secret with all versions. A missing secret is fine. */
  remove(name: string): Promise<void>;
}

/** Generated files that may be stored in documents: config.yaml and the encrypted secrets, by name (`config-dc1`). */
export interface StepFiles {
  read(name: string): Promise<string | undefined>;
  /**
   * `outside`: the file is about this thing outside of the project. It is then kept after the removal, and the undo is done
   * again, until it is written without `outside`.
   */
  write(name: string, content: string, outside?: string): Promise<void>;
}

/** Machine logs, for people: stored without secrets and shown under the step. `source` is a job of this instance. */
export interface StepLog {
  /** How far the job's log has been stored, in its own bytes. */
  offset(source: string): Promise<number>;
  /**
   * Stores bytes that begin at `offset`. The same commit writes how far the log was read. There is at most one commit a
   * second. Returns where to read on: bytes that may be half a secret wait until more is known. `last`: nothing follows.
   */
  append(source: string, offset: number, bytes: Uint8Array, last: boolean): Promise<number>;
  /** The last line of these bytes, for a note or a message. Whole and half secrets are left out. `last`: nothing follows. */
  lastLine(bytes: Uint8Array, last: boolean): string;
  /** The last `count` lines of a log's end, for a message, joined by `; `. */
  lastLines(bytes: Uint8Array, count: number): string;
}

/** Stands for the project in the advice of a step's Problem: the engine puts in what commands call it by. */
export const thisProject = '<project>';

export interface StepCall<N extends Needs = Needs, E extends Each | undefined = Each | undefined> {
  readonly context: StepContext;
  readonly bootstrap: BootstrapFacts;
  /** The key of this instance. `''` for a step without `each`. */
  readonly key: string;
  readonly needs: NeedOutputs<N, E>;
  readonly secrets: StepSecrets;
  readonly files: StepFiles;
  readonly log: StepLog;
  /** Failures recorded so far in this generation. A crash does not count. */
  readonly attempt: number;
  /**
   * The same UUID each time this instance asks for this purpose at this attempt. It makes requests idempotent across crashes.
   */
  requestId(purpose: string): string;
  /** Aborted when the lease is lost or the function's deadline comes. */
  readonly signal: AbortSignal;
}

type When = (options: BootstrapOptions, machineAccess: MachineAccess) => boolean;

export interface StepSpec<O, N extends Needs, E extends Each | undefined, W extends When | undefined> {
  /** Never renamed, because it is stored. `[a-z0-9-]+` */
  readonly name: string;
  readonly title: string;
  readonly lane: Lane;
  readonly needs: N;
  /**
   * A part of what pools prepare: it costs nothing, and needs only such steps. Once the project is claimed, it is `kept` while it
   * describes the same, or looked at `again` at once. Without it, the step begins with the claim.
   */
  readonly prepares?: 'kept' | 'again';
  /** Without it, the step is part of every plan. */
  readonly when?: W;
  readonly each?: E;
  /** What the step would make, from these alone. One line for each thing. */
  describe(options: BootstrapOptions, key: string, machineAccess: MachineAccess): readonly string[];
  /**
   * What else these decide of what the step makes. Only compared, never shown: a plan says `change` where it differs from that
   * of before.
   */
  content?(by: PlannedBy, key: string): unknown;
  readonly output: ZodType<O>;
  /** Only reads. Returns the output if everything is as wanted, otherwise undefined. */
  observe(call: StepCall<N, E>): Promise<O | undefined>;
  /** What the preflight asks before a bootstrap begins, so that `run` is not refused. `run` judges by the same functions. */
  readonly checks?: readonly Finding[];
  /** Makes what is missing. */
  run(call: StepCall<N, E>): Promise<Outcome>;
  /**
   * For what costs money: what of it is there already, although it is not as wanted. Only reads. It is asked when an instance
   * fails or is cancelled. The estimate counts it, and so do the ceilings that stop VMs.
   */
  unfinished?(call: StepCall<N, E>): Promise<unknown>;
  /** If it fails, the bootstrap only gets a warning. Steps that must not fail may not need it. */
  readonly mayFail?: true;
  /** Options that are fixed once this step has made something. Other fixed options are fixed from the beginning. */
  readonly holds?: readonly (keyof BootstrapOptions)[];
  /**
   * How it goes away. `undo`: its undo removes it. `project`: it goes with the project. `nothing`: it leaves nothing behind.
   */
  readonly goes: 'project' | 'nothing' | 'undo';
  /**
   * Only with `goes: 'undo'`. It runs when everything that needs the instance is gone, until it says `done`, and is safe to
   * run twice. `output` is what the instance last committed, if anything. `needs` is empty, because what it needed may be
   * gone.
   */
  undo?(call: StepCall<Needs, E> & { readonly output: O | undefined }): Promise<Outcome>;
  /** Throws if something forbids the undo. It is asked before anything of the bootstrap is undone, and only reads. */
  checkUndo?(call: Pick<StepCall, 'context' | 'bootstrap'>): Promise<void>;
  /**
   * Only with `goes: 'undo'`: all that its undo may take away, one line for each thing. A removal is agreed to by these lines.
   */
  removes?(bootstrap: Pick<BootstrapFacts, 'id' | 'projectId' | 'options'>, key: string): readonly string[];
  /**
   * What it deletes of earlier options: of what these options ask for, each thing that is deleted once they ask for it no
   * longer. One line for each thing. A plan announces it.
   */
  clears?(options: BootstrapOptions, key: string): readonly string[];
  /** One line that tells the person who follows what was made. */
  summary?(output: O): string;
  /**
   * A warning for that person although the step is done. It is kept among the bootstrap's warnings until the next generation.
   */
  warning?(output: O): string | undefined;
}

export interface Step<
  O = unknown,
  N extends Needs = Needs,
  E extends Each | undefined = Each | undefined,
  W extends When | undefined = When | undefined,
> extends StepSpec<O, N, E, W> {
  /** Carries the types of key family and optionality. It has no value. */
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
 * A need without `each` gives its output. With the same `each`, it gives the output at the same key. With another, it gives
 * all outputs by key. `of(…)` gives the chosen ones by key. The output of a step with `when` may be undefined.
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
