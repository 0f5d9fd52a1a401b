/** The events that `plinth install … --json` writes, one per line. */
import * as z from 'zod';

const component = { component: z.string(), step: z.string() };

export const InstallEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('install-begun'),
    package: z.object({ name: z.string(), version: z.string(), hash: z.string() }),
    datacenter: z.object({ id: z.int(), name: z.string() }),
    components: z.array(z.object({ ...component, title: z.string(), skipped: z.boolean() })),
  }),
  z.object({ type: z.literal('component'), ...component, state: z.enum(['checking', 'installing', 'removing']) }),
  z.object({
    type: z.literal('component-progress'),
    ...component,
    done: z.int(),
    total: z.int(),
    text: z.string(),
  }),
  z.object({ type: z.literal('component-log'), ...component, text: z.string() }),
  z.object({
    type: z.literal('component-ended'),
    ...component,
    /** `unchanged`: its check says that it is as wanted. */
    result: z.enum(['installed', 'unchanged', 'skipped', 'removed', 'failed']),
    seconds: z.number(),
  }),
  /** From `plinth install images`: how many images are in the registry, and how many bytes of the missing ones are copied. */
  z.object({
    type: z.literal('images'),
    registry: z.string(),
    done: z.int(),
    total: z.int(),
    bytes: z.int(),
    totalBytes: z.int(),
  }),
]);
export type InstallEvent = z.infer<typeof InstallEvent>;
