/** Where the project is, or will be. */
import type { BootstrapOptions } from '../../../shared/bootstrap/options.js';
import { Problem } from '../../../shared/problems.js';
import { defineFinding, ok, stop } from '../../engine/finding.js';
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

/** Google says the same of a parent that is not there, and of one that refuses plinth. */
export function noProjectsIn(parent: string, { folderId }: Pick<BootstrapOptions, 'folderId'>): Problem {
  const message = `${parent} is not there, or plinth may make no projects in it`;
  return new Problem('cloud-permission', `${message}.`, {
    ...(folderId === undefined ? {} : { errors: [{ path: '--folder-id', message }] }),
    advice: `Ask an administrator to grant plinth's service account roles/resourcemanager.projectCreator on ${parent}, then run the same command again.`,
  });
}

export const mayCreateProjects = defineFinding({
  code: 'parent',
  title: 'Parent of the project',
  why: 'The project is made beneath it.',
  by: 'check',
  about: ['folderId'],
  async ask({ context, intent }) {
    const place = parentIn(context.config, intent.options);
    return { place, may: await context.cloud.projects.mayCreateIn(place) };
  },
  judge: ({ place, may }, { options }) =>
    may ? ok(`plinth may make projects in ${place}`) : stop(noProjectsIn(place, options)),
});
