/** Full resource names: `//cloudresourcemanager.googleapis.com/projects/p`. */
import { badRequest } from '../kernel/errors.js';

/** The name without its service. Throws the refusal of what is none. gcloud puts the address of a redirected API before it. */
export function resourceOf(fullName: string): string {
  const resource = /^\/\/(?:127\.0\.0\.1:\d+\/)?[a-z]+\.googleapis\.com\/(.+)$/.exec(fullName)?.[1];
  if (resource === undefined)
    throw badRequest(`The full resource name "${fullName}" is invalid.`, 'full_resource_name');
  return resource;
}
