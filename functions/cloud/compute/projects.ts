/** Wraps a project's regions, and the metadata that all its VMs share. */
import type { ComputeCalls } from './calls.js';
import type { Metadata, Quota, Region } from './resources.js';

export const createProjectMetadata = ({ call, get, change }: ComputeCalls) => ({
  region: (project: string, region: string) => get<Region>('regions', `read the region ${region}`, { project, region }),

  /** The quotas that count in all regions together. */
  projectQuotas: async (project: string): Promise<readonly Quota[]> => {
    const doing = `read the quotas of ${project}`;
    return (await call<{ quotas?: readonly Quota[] | null }>('projects', 'get', doing, { project })).quotas ?? [];
  },
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
