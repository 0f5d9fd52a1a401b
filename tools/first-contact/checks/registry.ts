/** A repository of images, and who may read it. */
import { type Check, differs, heldIf } from '../check.js';
import { emailOf } from './identities.js';

const id = 'first-contact';

export const registryChecks: readonly Check[] = [
  {
    id: 'registry.repository',
    believes: 'A repository is made by an operation within a minute.',
    source: 'documented',
    makes: 'an empty repository',
    needs: ['services.each-api'],
    async run({ cloud, project, region, until }) {
      const begun = await cloud.artifactRegistry.createRepository(project, region, id);
      if (begun.failure !== undefined) throw begun.failure;
      const over = await until(120, async () => {
        const operation = await cloud.artifactRegistry.operation(begun.name);
        if (operation.failure !== undefined) throw operation.failure;
        return operation.done ? true : undefined;
      });
      return over === undefined
        ? differs('not there after two minutes')
        : heldIf(over.seconds <= 60, `after ${over.seconds} s`);
    },
  },
  {
    id: 'registry.reader',
    believes: 'The nodes may read the repository by a grant on it alone.',
    source: 'documented',
    needs: ['registry.repository', 'grants.node-impersonation'],
    async run(bench) {
      const { cloud, project, region, signal } = bench;
      const grant = { member: `serviceAccount:${emailOf(bench, 'node')}`, role: 'roles/artifactregistry.reader' };
      await cloud.artifactRegistry.policy(project, region, id).grant([grant], signal);
      const line = `GET /v1/projects/${project}/locations/${region}/repositories/${id}`;
      const may = await bench.until(480, async () =>
        (await bench.ask('artifactregistry', line, undefined, bench.fact('node-token'))).status === 200
          ? true
          : undefined,
      );
      return may === undefined
        ? differs('refused for eight minutes')
        : heldIf(may.seconds <= 420, `after ${may.seconds} s`);
    },
  },
];
