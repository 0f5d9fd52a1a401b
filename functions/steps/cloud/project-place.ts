/** Where the project is, or will be. */
import { Problem } from '../../../shared/problems.js';
import type { StepCall } from '../../engine/step.js';

type Call = Pick<StepCall, 'context' | 'bootstrap'>;

/** Undefined if plinth can see no such project. */
export const findProject = ({ context, bootstrap }: Call) => context.cloud.projects.find(bootstrap.projectId);

/** `folders/…` or `organizations/…`. A service account cannot make a project without a parent. */
export const parentOf = ({ context, bootstrap }: Call): string => parentIn(context.config, bootstrap.options);

export function parentIn(
  { defaultParent }: Call['context']['config'],
  { folderId }: Pick<Call['bootstrap']['options'], 'folderId'>,
): string {
  const parent = folderId === undefined ? defaultParent : `folders/${folderId}`;
  if (parent === undefined) {
    throw new Problem(
      'bad-input',
      'There is no folder to make the project in, and this deployment has no default one.',
      {
        errors: [{ path: '--folder-id', message: 'is needed' }],
        advice: 'Give --folder-id.',
      },
    );
  }
  return parent;
}

/** For a parent that refuses plinth. */
export const noProjectsAdvice = (parent: string): string =>
  `Ask an administrator to grant plinth's service account roles/resourcemanager.projectCreator on ${parent}, then run the same command again.`;
