/** Liens on a project: Google refuses to delete it as long as there is one. plinth respects liens and removes none. */
import { shellWord } from '../../../shared/command-words.js';
import { Problem } from '../../../shared/problems.js';
import type { StepCall } from '../../engine/step.js';

/** The problem names each lien, and the command that removes it. */
export async function refuseLiens({ cloud }: Pick<StepCall['context'], 'cloud'>, projectId: string): Promise<void> {
  // A project that cannot be seen, or is deleted already, has no lien that could stop anything.
  if ((await cloud.projects.find(projectId))?.state !== 'ACTIVE') return;
  const liens = await cloud.projects.liens(projectId);
  if (liens.length === 0) return;
  const why = liens.map(({ reason = 'no reason given', origin = 'somebody' }) => `${reason} (placed by ${origin})`);
  const commands = liens.map(
    ({ name }) =>
      `gcloud alpha resource-manager liens delete ${shellWord(name.replace(/^liens\//, ''))} --project ${projectId}`,
  );
  throw new Problem(
    'cloud-conflict',
    `The project ${projectId} cannot be deleted, because ${liens.length === 1 ? 'a lien forbids' : `${liens.length} liens forbid`} it: ${why.join('; ')}.`,
    {
      advice: [
        `If the reason no longer holds, remove ${liens.length === 1 ? 'the lien' : 'the liens'}, then delete the project again:`,
        ...commands,
      ].join('\n'),
    },
  );
}
