/** What a command to begin or resume a bootstrap is given, and what it results in. */
import type { BootstrapOptions, GivenOptions, SecretOptions } from '../../../shared/bootstrap/options.js';
import type { OptionChange } from '../../../shared/bootstrap/resume.js';
import type { Trace } from '../../../shared/trace.js';
import type { ChosenPackage, PriceRecord, StoredBootstrap } from '../../engine/record/documents.js';
import type { Account } from '../../identity/binding.js';

export interface BeginFacts {
  readonly caller: Account & { readonly email: string; readonly member: string };
  /** Resolved and checked. */
  readonly options: BootstrapOptions;
  readonly secrets: SecretOptions;
  /** The source of the options. It may contain secrets. */
  readonly given: GivenOptions;
  readonly sshPublicKey: string;
  /** Hash of the plan that the caller agreed to. */
  readonly agreed?: string | undefined;
  /** The most that the caller will pay in all, in whole micro-units. */
  readonly maxMicros?: number | undefined;
  /** Number of the team that a new bootstrap belongs to. The caller is a member. */
  readonly team?: number | undefined;
  /** The build that the options refer to now. */
  readonly package?: ChosenPackage | undefined;
  /** The files that the caller has of the existing bootstrap. A new one has none. */
  readonly base?:
    | Readonly<
        Record<string, { readonly config?: string | undefined; readonly secrets?: string | undefined } | undefined>
      >
    | undefined;
  /** Throws if the existing bootstrap and the sent files do not match. Nothing has changed by then. */
  readonly checkBase?: (standing: StoredBootstrap, base: BeginFacts['base']) => Promise<void>;
  readonly warnings: readonly string[];
  readonly trace?: Trace | undefined;
  /** The result of `checkResume`. It is valid while the record keeps the version it was made for. */
  readonly checked?: CheckedResume | undefined;
}

/** What would be valid from now on. */
export interface Resumed {
  readonly options: BootstrapOptions;
  readonly secrets: SecretOptions;
  readonly secretsBefore: SecretOptions;
  readonly changes: readonly OptionChange[];
  readonly deadlineAt: string;
  readonly price?: PriceRecord | undefined;
}

/** The result of a check, for one version of the bootstrap's record. */
export interface CheckedResume {
  readonly of: StoredBootstrap;
  readonly resumed: Resumed;
}

export interface Begun {
  readonly bootstrap: StoredBootstrap;
  /** False: it already existed. */
  readonly created: boolean;
  readonly changes: readonly OptionChange[];
}
