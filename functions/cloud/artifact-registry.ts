/** Artifact Registry: image repositories and their policies. */
import { orUndefined } from './errors.js';
import type { Operation } from './operations.js';
import { type Policy, type PolicyDoor, policyVersion } from './policy.js';
import { createRest, type Transport } from './rest.js';

export interface Repository {
  /** `projects/P/locations/R/repositories/<id>` */
  readonly name: string;
  readonly format?: string;
}

export function createArtifactRegistry(transport: Transport) {
  const rest = createRest(transport, 'artifactregistry');
  const path = (projectId: string, region: string) => `/v1/projects/${projectId}/locations/${region}/repositories`;
  return {
    repository: (projectId: string, region: string, id: string) =>
      orUndefined(rest<Repository>('GET', `${path(projectId, region)}/${id}`, { doing: `read the repository ${id}` })),

    createRepository: (projectId: string, region: string, id: string) =>
      rest<Operation>('POST', path(projectId, region), {
        doing: `create the repository ${id} in ${region}`,
        query: { repositoryId: id },
        body: { format: 'DOCKER' },
      }),

    policy: (projectId: string, region: string, id: string): PolicyDoor => ({
      read: () =>
        rest<Policy>('GET', `${path(projectId, region)}/${id}:getIamPolicy`, {
          doing: `read the policy of the repository ${id}`,
          query: { 'options.requestedPolicyVersion': String(policyVersion) },
        }),
      write: (policy) =>
        rest<Policy>('POST', `${path(projectId, region)}/${id}:setIamPolicy`, {
          doing: `change the policy of the repository ${id}`,
          body: { policy },
        }),
    }),
  };
}
