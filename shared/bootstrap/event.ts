/** What a follower of a bootstrap sees, in order. Numbered ones are stored; `progress` and `log` are read from where they live. */
import * as z from 'zod';
import { BootstrapState, InstanceState, StoredProblem } from './bootstrap.js';

const at = z.iso.datetime();

/** Its project is removed soon, unless somebody does something. */
export const ExpiryWarning = z.object({
  at,
  removeAt: at,
  text: z.string(),
  /** What keeps it longer, as a command. */
  advice: z.string(),
});
export type ExpiryWarning = z.infer<typeof ExpiryWarning>;

/**
 * What a job said on a machine, as it was stored: pieces, not lines. Not numbered, but a cursor says how far it was told.
 * `skipped` bytes before it are in the log alone.
 */
const LogEvent = z.object({
  schema: z.literal(1),
  type: z.literal('log'),
  at,
  instance: z.string(),
  generation: z.int(),
  offset: z.int(),
  text: z.string(),
  skipped: z.int().optional(),
});
export type LogEvent = z.infer<typeof LogEvent>;

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
  /** A day, an hour and ten minutes before its time is over, where it lives that long. */
  z.object({ schema: z.literal(1), type: z.literal('warning'), ...ExpiryWarning.shape }),
  /** One cloud call, for `--verbose`; not numbered, may be missed. */
  z.object({ schema: z.literal(1), type: z.literal('call'), at, instance: z.string(), text: z.string() }),
  LogEvent,
]);
export type BootstrapEvent = z.infer<typeof BootstrapEvent>;

/** States after which the stream of events ends. */
export const endStates: readonly BootstrapState[] = [
  'succeeded',
  'succeeded-with-warnings',
  'failed',
  'cancelled',
  'removed',
  'removal-failed',
];
