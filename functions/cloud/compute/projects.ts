/** Wraps a project's regions, and the metadata that all its VMs share. */
import type { ComputeCalls } from './calls.js';
import type { Metadata, Region } from './resources.js';

export const createProjectMetadata = ({ call, get, change }: ComputeCalls) => ({
  region: (project: string, region: string) => get<Region>('regions', `read the region ${region}`, { project, region }),

  commonMetadata: async (project: string): Promise<Metadata> => {
    const answer = await call<{ commonInstanceMetadata?: Metadata | null }>(
      'projects',
      'get',
      `read the metadata of ${project}`,
      { project },
    );
    return answer.commonInstanceMetadata ?? {};
  },
  setCommonMetadata: (project: string, metadata: Metadata, requestId: string) =>
    change('projects', 'setCommonInstanceMetadata', `change the metadata of ${project}`, {
      project,
      requestId,
      metadataResource: metadata,
    }),
});
