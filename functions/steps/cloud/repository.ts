/** Makes the image repository of the platform. */
import { hasRegistry, repositoryName, repositoryServer } from '../topology.js';
import { apis } from './apis.js';
import { follow, resume, unlessThere } from './following.js';
import { RepositoryOutput } from './outputs.js';
import { defineProjectStep } from './settling.js';

export const repository = defineProjectStep({
  name: 'repository',
  title: 'Image repository',
  lane: 'cloud',
  needs: { apis },
  holds: ['region'],
  when: hasRegistry,
  describe: ({ region }) => [`Docker repository ${repositoryName} in ${region}`],
  output: RepositoryOutput,

  async observe({ context, bootstrap: { options, projectId } }) {
    const found = await context.cloud.artifactRegistry.repository(projectId, options.region, repositoryName);
    if (found === undefined) return undefined;
    return { server: repositoryServer(options, projectId, context.config.registryUrls.artifactRegistry) };
  },

  run({ context, bootstrap: { options, projectId }, files }) {
    const { artifactRegistry } = context.cloud;
    const note = 'the repository is being made';
    const begin = () => artifactRegistry.createRepository(projectId, options.region, repositoryName);
    return unlessThere(
      resume(files, 'operation-repository', begin, artifactRegistry.operation).then((begun) => follow(begun, note)),
      note,
    );
  },
  goes: 'project',
  summary: ({ server }) => server,
});
