/** Checks a resource before it is stored: one that does not fit the API would break every later list of its place. */
import type { JsonObject } from '../kernel/api.js';
import { faultsOfResource } from '../kernel/reply-check.js';
import { surfaceOf } from '../kernel/surface.js';
import { schemaName } from './filter.js';
import type { Collection } from './resources.js';

/** Throws if the API cannot show this resource. That is a fault of the simulator. */
export function checkFits({ kind }: Collection, resource: JsonObject): void {
  const faults = faultsOfResource(surfaceOf('compute.v1'), schemaName(kind), resource);
  if (faults.length > 0) throw new Error(`the resource does not fit the API: ${faults.slice(0, 5).join('; ')}`);
}
