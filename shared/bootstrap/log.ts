/** Machine logs as the API shows them: without secrets, by instance. */
import * as z from 'zod';
import { moment, text } from '../api.js';

const instance = text('`<step>` or `<step>:<key>`', 'k0s:dc1');

export const LogView = z
  .object({
    instance,
    generation: z.int().meta({ description: 'The last in which it said something' }),
    begins: z.int().meta({ description: 'The byte where that generation begins' }),
    bytes: z.int().meta({ description: 'All that is stored' }),
  })
  .meta({ id: 'Log', description: 'That there is a log of an instance' });
export type LogView = z.infer<typeof LogView>;

export const LogPage = z
  .object({
    instance,
    chunks: z
      .array(
        z.object({
          offset: z.int().meta({ description: 'The byte where it begins' }),
          generation: z.int().meta({ description: 'The run of the bootstrap in which it was said' }),
          at: moment('When it was stored'),
          text: text('What was said: pieces, not lines', 'k0s is ready\n'),
        }),
      )
      .meta({ description: 'In order' }),
    next: z.int().meta({ description: 'The `offset` to go on with' }),
    more: z.boolean().meta({ description: 'There may be more now' }),
  })
  .meta({ id: 'LogPage', description: 'What an instance said, from a byte on' });
export type LogPage = z.infer<typeof LogPage>;
