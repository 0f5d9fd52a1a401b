/** `/_local/world` and `/_local/preemptions`: a running cloud's world, and spot VMs that are taken away. */
import * as z from 'zod';
import { preempt } from './compute/instance-life.js';
import { provisioningOf } from './compute/instance-request.js';
import { collections, held } from './compute/resources.js';
import type { World } from './kernel/api.js';
import { objectOf } from './kernel/json-fields.js';
import type { ControlPath } from './kernel/server.js';
import { changeWorld, worldName, worldSettings } from './worlds/settings.js';
import { worldNames } from './worlds/table.js';

const Change = z.strictObject({
  world: z.enum(worldNames).optional(),
  settings: z.record(z.string(), z.union([z.number(), z.string()])).optional(),
});

const Preemption = z.strictObject({ instance: z.string() });

const shown = (world: World) => ({ world: worldName(world), settings: worldSettings(world) });

/** A body that is not understood changes nothing, and the answer says why. */
function parsed<T>(schema: z.ZodType<T>, body: string): T {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    throw new Error('The body is no JSON.');
  }
  const read = schema.safeParse(json);
  if (!read.success) throw new Error(z.prettifyError(read.error));
  return read.data;
}

function takeAway(world: World, instance: string): void {
  const found = held(world, collections.instances)[instance];
  if (found === undefined) throw new Error(`There is no VM ${instance}.`);
  if (provisioningOf(objectOf(found.resource['scheduling']) ?? {}) === 'STANDARD') {
    throw new Error(`${instance} is a standard VM. Google takes only spot and preemptible ones away.`);
  }
  if (!['PROVISIONING', 'STAGING', 'RUNNING'].includes(String(found.resource['status']))) {
    throw new Error(`${instance} does not run.`);
  }
  preempt(world, instance);
}

export function worldPaths(world: World & { changed(): void }): ControlPath {
  const answer = (change: () => void): { status: number; body: unknown } => {
    try {
      change();
    } catch (error) {
      return { status: 400, body: { error: (error as Error).message } };
    }
    world.changed();
    return { status: 200, body: shown(world) };
  };
  return async ({ method, path, body }) => {
    switch (`${method} ${path}`) {
      case 'GET /_local/world':
        return { status: 200, body: shown(world) };
      case 'PUT /_local/world':
        return answer(() => {
          const change = parsed(Change, body);
          changeWorld(world, change.world, change.settings);
        });
      case 'POST /_local/preemptions':
        return answer(() => {
          takeAway(world, parsed(Preemption, body).instance);
          world.runDue();
        });
      default:
        return undefined;
    }
  };
}

/** The first that knows the path answers. */
export const either =
  (...paths: readonly ControlPath[]): ControlPath =>
  async (request) => {
    for (const path of paths) {
      const reply = await path(request);
      if (reply !== undefined) return reply;
    }
    return undefined;
  };
