/** Wraps Artifact Registry: image repositories and their policies. */
import { orUndefined } from './errors.js';
import { type LongRunningAnswer, readLongRunning } from './operations.js';
import { createPolicy, type Policy, policyVersion } from './policy.js';
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

    async createRepository(projectId: string, region: string, id: string) {
      const doing = `create the repository ${id} in ${region}`;
      const answer = await rest<LongRunningAnswer>('POST', path(projectId, region), {
        doing,
        query: { repositoryId: id },
        body: { format: 'DOCKER' },
      });
      return readLongRunning(answer, doing);
    },

    /** `name` is the full name. */
    async operation(name: string) {
      const answer = await rest<LongRunningAnswer>('GET', `/v1/${name}`, { doing: 'read how far the repository is' });
      return readLongRunning(answer, 'create the repository');
    },

    policy: (projectId: string, region: string, id: string) =>
      createPolicy({
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
