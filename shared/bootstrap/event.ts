/**
 * The events that a follower of a bootstrap sees, in order. Numbered events are stored. `progress` and `log` are read from
 * where they live.
 */
import * as z from 'zod';
import { moment, text } from '../api.js';
import { BootstrapState, InstanceState, StoredProblem } from './bootstrap.js';

const at = moment('When it happened');
const schema = z.literal(1).meta({ description: 'Version of this form' });
const instance = text('`<step>` or `<step>:<key>`', 'vm:k0s-1');
const generation = z.int().meta({ description: 'Raised by each resume and removal' });

/** The project is removed soon unless somebody acts. */
export const ExpiryWarning = z.object({
  at,
  removeAt: moment('When it is removed'),
  text: text('What will happen, in words', 'my first is removed in an hour.'),
  advice: text('What keeps it longer, as a command', 'plinth beta bootstrap-cloud extend my-first-1a2b3c --ttl 4h'),
});
export type ExpiryWarning = z.infer<typeof ExpiryWarning>;

/**
 * A piece of what a job printed on a machine, as stored: pieces, not lines. It has no number, but a cursor says how far the
 * log was sent. `skipped` bytes before it are only in the log.
 */
const LogEvent = z
  .object({
    schema,
    type: z.literal('log'),
    at,
    instance,
    generation,
    offset: z.int().meta({ description: 'The byte of the log where it begins' }),
    text: text('What was said, free of secrets', 'k0s is ready\n'),
    skipped: z.int().optional().meta({ description: 'Bytes before it that are in the log alone' }),
  })
  .meta({ id: 'LogEvent', description: 'What a job said on a machine: pieces, not lines' });
export type LogEvent = z.infer<typeof LogEvent>;

export const BootstrapEvent = z.discriminatedUnion('type', [
  z
    .object({
      schema,
      type: z.literal('state'),
      at,
      state: BootstrapState,
      generation,
      problem: StoredProblem.optional(),
    })
    .meta({
      id: 'StateEvent',
      description: 'The bootstrap began, was resumed (generation raised), or came to an end',
    }),
  z
    .object({
      schema,
      type: z.literal('instance'),
      at,
      instance,
      state: InstanceState,
      seconds: z.number().optional().meta({ description: 'From its first claim in this generation to its end' }),
      note: z.string().optional().meta({ description: 'One line that says what now stands, for people' }),
      problem: StoredProblem.optional(),
    })
    .meta({ id: 'InstanceEvent', description: 'An instance ended' }),
  z
    .object({
      schema,
      type: z.literal('progress'),
      at,
      instance,
      note: z.string().optional().meta({ description: 'What it waits for' }),
      attempt: z.int().meta({ description: 'Failures so far in this generation' }),
      retry: z.string().optional().meta({ description: 'Why it is tried again' }),
    })
    .meta({ id: 'ProgressEvent', description: 'An instance is under way. Not numbered, may be missed' }),
  z
    .object({
      schema,
      type: z.literal('action'),
      at,
      actor: text('Who did it', 'alice@example.com'),
      action: text('What was done', 'age-identity'),
    })
    .meta({
      id: 'ActionEvent',
      description: 'Somebody did something worth keeping, such as reading the age identity',
    }),
  z.object({ schema, type: z.literal('warning'), ...ExpiryWarning.shape }).meta({
    id: 'WarningEvent',
    description: 'A day, an hour and ten minutes before its time is over, where it lives that long',
  }),
  z
    .object({ schema, type: z.literal('call'), at, instance, text: text('The call', 'compute instances.insert k0s-1') })
    .meta({ id: 'CallEvent', description: 'One call of Google Cloud. Not numbered, may be missed' }),
  LogEvent,
]);
export type BootstrapEvent = z.infer<typeof BootstrapEvent>;

/** The stream of events ends after these states. */
export const endStates: readonly BootstrapState[] = [
  'succeeded',
  'succeeded-with-warnings',
  'failed',
  'cancelled',
  'removed',
  'removal-failed',
];
