import type { BootstrapOptions, GivenOptions, SecretOptions } from '../../shared/bootstrap/options.js';
import type { OptionChange } from '../../shared/bootstrap/resume.js';
import type { Trace } from '../../shared/trace.js';
import type { ChosenPackage, StoredBootstrap } from '../engine/record/documents.js';
import type { Account } from '../identity/binding.js';

export interface BeginFacts {
  readonly caller: Account & { readonly email: string; readonly member: string };
  /** Resolved and checked. */
  readonly options: BootstrapOptions;
  readonly secrets: SecretOptions;
  /** What they were resolved from; secrets may be in it. */
  readonly given: GivenOptions;
  readonly sshPublicKey: string;
  /** The build that the options mean now. */
  readonly package?: ChosenPackage | undefined;
  /** What the caller holds of the bootstrap that stands; of a new one nothing can be held. */
  readonly base?:
    | Readonly<
        Record<string, { readonly config?: string | undefined; readonly secrets?: string | undefined } | undefined>
      >
    | undefined;
  /** Throws if what stands and the files that are sent do not go together; nothing has changed yet. */
  readonly checkBase?: (standing: StoredBootstrap, base: BeginFacts['base']) => Promise<void>;
  readonly warnings: readonly string[];
  readonly trace?: Trace | undefined;
  /** What `checkResume` found: it counts while the bootstrap stands as it stood then. */
  readonly checked?: CheckedResume | undefined;
}

/** What would hold from now on. */
export interface Resumed {
  readonly options: BootstrapOptions;
  readonly secrets: SecretOptions;
  readonly secretsBefore: SecretOptions;
  readonly changes: readonly OptionChange[];
  readonly deadlineAt: string;
}

/** For a bootstrap as it stood in a version of its record. */
export interface CheckedResume {
  readonly of: Pick<StoredBootstrap, 'id' | 'version'>;
  readonly resumed: Resumed;
}

export interface Begun {
  readonly bootstrap: StoredBootstrap;
  /** False: it stood already. */
  readonly created: boolean;
  readonly changes: readonly OptionChange[];
}
