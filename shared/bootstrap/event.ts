/** What a follower of a bootstrap sees, in order. Numbered ones are stored; `progress` and `log` are read from where they live. */
import { z } from 'zod';
import { BootstrapState, InstanceState, StoredProblem } from './bootstrap.js';

const at = z.iso.datetime();

export const BootstrapEvent = z.discriminatedUnion('type', [
  /** The bootstrap began, was resumed (generation raised), or came to an end. */
  z.object({
    schema: z.literal(1),
    type: z.literal('state'),
    at,
    state: BootstrapState,
    generation: z.int(),
    problem: StoredProblem.optional(),
  }),
  /** An instance ended. `seconds`: from its first claim in this generation to its end. */
  z.object({
    schema: z.literal(1),
    type: z.literal('instance'),
    at,
    instance: z.string(),
    state: InstanceState,
    seconds: z.number().optional(),
    /** One line that says what now stands, for people. */
    note: z.string().optional(),
    problem: StoredProblem.optional(),
  }),
  /** An instance is under way; `note` says what it waits for, `retry` why it is tried again. Not numbered, may be missed. */
  z.object({
    schema: z.literal(1),
    type: z.literal('progress'),
    at,
    instance: z.string(),
    note: z.string().optional(),
    attempt: z.int(),
    retry: z.string().optional(),
  }),
  /** Somebody did something worth keeping: read the age identity, cancelled, … */
  z.object({ schema: z.literal(1), type: z.literal('action'), at, actor: z.string(), action: z.string() }),
  /** One cloud call, for `--verbose`; not numbered, may be missed. */
  z.object({ schema: z.literal(1), type: z.literal('call'), at, instance: z.string(), text: z.string() }),
]);
export type BootstrapEvent = z.infer<typeof BootstrapEvent>;

/** States after which the stream of events ends. */
export const endStates: readonly BootstrapState[] = ['succeeded', 'failed', 'cancelled', 'removed', 'removal-failed'];
