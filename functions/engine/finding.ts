/**
 * A finding: one thing that is looked at before a bootstrap begins. It says what it asks, and judges the answer purely. Nothing
 * is made or changed. What a step would be refused for is a check of that step, and both judge by the same function.
 */
import type { LoadBalancers, MachineAccess } from '../../shared/bootstrap/bootstrap.js';
import type { FindingCode } from '../../shared/bootstrap/finding-codes.js';
import { type BootstrapOptions, flagName, type Option, type SecretOptions } from '../../shared/bootstrap/options.js';
import { Problem, type ProblemCode } from '../../shared/problems.js';
import type { Context } from '../context.js';

/** What a bootstrap is about to be. */
export interface Intent {
  readonly options: BootstrapOptions;
  /** E-mail of whoever asks. */
  readonly owner: string;
  readonly ownerMember: string;
  readonly machineAccess: MachineAccess;
  readonly loadBalancers: LoadBalancers;
  /** Whether the bootstrap goes on to the machines. */
  readonly machines: boolean;
  /** Made up, as there is no project yet. */
  readonly projectId: string;
}

export type Likely = { readonly state: 'ok' | 'stop'; readonly at: string };

export type Verdict =
  | { readonly state: 'ok'; readonly what: string }
  | { readonly state: 'warning'; readonly what: string; readonly mend?: string | undefined }
  | { readonly state: 'stop'; readonly problem: Problem }
  | {
      readonly state: 'unknown';
      readonly what: string;
      readonly why?: string | undefined;
      readonly mend?: string | undefined;
      readonly likely?: Likely | undefined;
      /** It could not be asked now. A bootstrap that nothing else stops is refused with it. */
      readonly problem?: Problem | undefined;
    };

/**
 * `bootstraps` answers people. `check` has the identity of the cloud steps, and so the rights that the bootstrap will need. The
 * others cannot be asked: they look at what they hold by themselves, and report it.
 */
export type Asker = 'bootstraps' | 'check' | Reporter;
export const reporters = ['run-host-step', 'sweep', 'cleanup'] as const;
export type Reporter = (typeof reporters)[number];

/** What a finding may use. */
export interface Asking {
  readonly context: Pick<Context, 'config' | 'cloud' | 'store' | 'clock' | 'publisher'>;
  readonly intent: Intent;
  /** Empty in `check`: secrets never travel there. */
  readonly secrets: SecretOptions;
  /** Aborted when whoever asks has gone. */
  readonly signal?: AbortSignal | undefined;
  /** The answer to a question that several findings have. It is asked once. */
  once<T>(question: string, ask: () => Promise<T>): Promise<T>;
}

interface FindingSpec<Seen> {
  readonly code: FindingCode;
  readonly title: string;
  /** Why it matters, in one sentence. */
  readonly why: string;
  /** The function that asks, with its own identity. */
  readonly by: Asker;
  /** It is looked at only if these are valid and allowed. */
  readonly about: readonly Option[];
  /** The code of a finding before this one. If that one stops the bootstrap, this one says nothing of its own. */
  readonly standsOn?: FindingCode;
  /** If it cannot be asked, a bootstrap is refused. Absent: a step asks again, with its retries. */
  readonly mustBeAsked?: true;
  /** Also asked when a resume changes one of `about`, or each time. Absent: of new bootstraps only. */
  readonly onResume?: 'changed' | 'always';
  /** Also looked at for a plan that nothing is asked for. */
  readonly onPlan?: true;
  /** Absent: it concerns every bootstrap. */
  when?(asking: Asking): boolean;
  /** Only reads. */
  ask(asking: Asking): Promise<Seen>;
  /** Pure. */
  judge(seen: Seen, intent: Intent): Verdict;
}

/** A finding of any type. */
export interface Finding extends Omit<FindingSpec<unknown>, 'ask' | 'judge'> {
  look(asking: Asking): Promise<{ readonly seen: unknown; readonly verdict: Verdict }>;
}

export const defineFinding = <Seen>({ ask, judge, ...rest }: FindingSpec<Seen>): Finding => ({
  ...rest,
  async look(asking) {
    const seen = await ask(asking);
    return { seen, verdict: judge(seen, asking.intent) };
  },
});

export const ok = (what: string): Verdict => ({ state: 'ok', what });
export const stop = (problem: Problem): Verdict => ({ state: 'stop', problem });

/** The options are at fault: `--region names mars, …`. */
export function faultOf(
  options: readonly Option[],
  message: string,
  advice: string | undefined,
  code: ProblemCode = 'bad-input',
): Problem {
  const paths = options.map(flagName);
  return new Problem(code, `${paths.join(' and ')} ${message}`, {
    errors: paths.map((path) => ({ path, message })),
    ...(advice === undefined ? {} : { advice }),
  });
}

export const stopFor = (...fault: Parameters<typeof faultOf>): Verdict => stop(faultOf(...fault));
