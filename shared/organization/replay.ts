/** Asking for events to be sent to the webhook again. */
import * as z from 'zod';
import { givenTime, text } from '../api.js';

const EventId = z
  .string()
  .regex(/^[0-9a-f]{14}-[0-9a-f]{8,11}$/, 'must be the id of an event')
  .meta({ id: 'EventId', description: 'The id of an event', examples: ['00062a5c3f0b1e-1a2b3c4d'] });

export const NewReplay = z
  .strictObject({
    since: givenTime('ago', 'From then on').optional(),
    eventId: EventId.optional().meta({ description: 'From this event on', examples: ['00062a5c3f0b1e-1a2b3c4d'] }),
  })
  .refine(({ since, eventId }) => (since === undefined) !== (eventId === undefined), {
    message: 'must be given, or eventId instead, and not both',
    path: ['since'],
  })
  .meta({
    id: 'NewReplay',
    description: 'From when, or from which event on. Just one of them is given',
    minProperties: 1,
    maxProperties: 1,
  });

export const Replayed = z
  .object({
    events: z.int().meta({ description: 'How many are sent again', examples: [12] }),
    until: z.iso
      .datetime()
      .optional()
      .meta({
        description: 'By when the last of them is sent, if the webhook takes them; absent: there are none',
        examples: ['2026-11-23T09:20:00.000Z'],
      }),
    next: text(
      'The event at which the next call goes on; absent: there are no more',
      '00062a5c3f0b1e-1a2b3c4d',
    ).optional(),
  })
  .meta({ id: 'Replayed', description: 'What is sent to the webhook again' });
export type Replayed = z.infer<typeof Replayed>;
