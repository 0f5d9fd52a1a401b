/** Checks a resource before it is stored: one that does not fit the API would break every later list of its place. */
import type { CloudCall, Handler, JsonObject, World } from '../kernel/api.js';
import { faultsOfResource } from '../kernel/reply-check.js';
import { surfaceOf } from '../kernel/surface.js';
import { schemaName } from './filter.js';
import { type Collection, collections, held, placeOf } from './resources.js';

/** Throws if the API cannot show this resource. That is a fault of the simulator. */
export function checkFits({ kind }: Collection, resource: JsonObject): void {
  const faults = faultsOfResource(surfaceOf('compute.v1'), schemaName(kind), resource);
  if (faults.length > 0) throw new Error(`the resource does not fit the API: ${faults.slice(0, 5).join('; ')}`);
}

/** The resource that a change names, as it is stored. */
function changedBy(call: CloudCall, world: World) {
  const name = call.method.split('.')[1] ?? '';
  const collection = Object.values(collections).find((each) => each.name === name);
  if (collection === undefined) return undefined;
  const own = call.params[collection.singular] ?? call.params['resource'];
  if (own === undefined) return undefined;
  const found = held(world, collection)[`${placeOf(call, world).prefix}/${collection.name}/${own}`];
  return found === undefined ? undefined : { collection, found };
}

/** A change that leaves what the API cannot show is undone and refused. */
export const fitting =
  (handler: Handler): Handler =>
  (call, world) => {
    const at = changedBy(call, world);
    if (at === undefined) return handler(call, world);
    const before = structuredClone(at.found.resource);
    const reply = handler(call, world);
    try {
      checkFits(at.collection, at.found.resource);
    } catch (error) {
      at.found.resource = before;
      throw error;
    }
    return reply;
  };
