/** Grants the roles to read and write the image repository. */
import { done } from '../../engine/step.js';
import { accountIds, hasRegistry, repositoryName } from '../topology.js';
import { cloudController } from './cloud-controller.js';
import { RolesOutput } from './outputs.js';
import { registryWriter } from './registry-writer.js';
import { repository } from './repository.js';
import { defineProjectStep } from './settling.js';

const reader = 'roles/artifactregistry.reader';
const writer = 'roles/artifactregistry.writer';

interface Accounts {
  readonly cloudController: { readonly email: string };
  readonly registryWriter: { readonly email: string } | undefined;
}
const grantsOf = ({ cloudController, registryWriter }: Accounts) => [
  { member: `serviceAccount:${cloudController.email}`, role: reader },
  ...(registryWriter === undefined ? [] : [{ member: `serviceAccount:${registryWriter.email}`, role: writer }]),
];

export const repositoryRoles = defineProjectStep({
  name: 'repository-roles',
  title: 'Roles on the image repository',
  lane: 'cloud',
  needs: { repository, registryWriter, cloudController },
  when: hasRegistry,
  describe: () => [
    `${reader} for ${accountIds.cloudController} on the repository`,
    `${writer} for ${accountIds.registryWriter} on the repository`,
  ],
  output: RolesOutput,

  async observe({ context, bootstrap: { options, projectId }, needs }) {
    const grants = grantsOf(needs);
    const policy = context.cloud.artifactRegistry.policy(projectId, options.region, repositoryName);
    const missing = await policy.missing(grants);
    const resource = `projects/${projectId}/locations/${options.region}/repositories/${repositoryName}`;
    return missing.length === 0 ? { resource, grants } : undefined;
  },

  async run({ context, bootstrap: { options, projectId }, needs, signal }) {
    await context.cloud.artifactRegistry
      .policy(projectId, options.region, repositoryName)
      .grant(grantsOf(needs), signal);
    return done;
  },
  goes: 'project',
});
