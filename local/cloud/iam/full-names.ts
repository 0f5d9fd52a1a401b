/** Full resource names: `//cloudresourcemanager.googleapis.com/projects/p`. */
import { badRequest } from '../kernel/errors.js';

/** The name without its service. Throws the refusal of what is none. */
export function resourceOf(fullName: string): string {
  const resource = /^\/\/[a-z]+\.googleapis\.com\/(.+)$/.exec(fullName)?.[1];
  if (resource === undefined)
    throw badRequest(`The full resource name "${fullName}" is invalid.`, 'full_resource_name');
  return resource;
}
