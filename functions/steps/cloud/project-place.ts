/** Where the project is, or will be. */
import { Problem } from '../../../shared/problems.js';
import type { StepCall } from '../../engine/step.js';

type Call = Pick<StepCall, 'context' | 'bootstrap'>;

/** Undefined if plinth can see no such project. */
export const findProject = ({ context, bootstrap }: Call) => context.cloud.projects.find(bootstrap.projectId);

/** `folders/…` or `organizations/…`. A service account cannot make a project without a parent. */
export function parentOf({ context, bootstrap }: Call): string {
  const { folderId } = bootstrap.options;
  const parent = folderId === undefined ? context.config.defaultParent : `folders/${folderId}`;
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
