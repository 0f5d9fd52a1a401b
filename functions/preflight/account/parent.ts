/** Whether plinth may make projects beneath the parent. Google says the same of a parent that is not there. */

import { Problem } from '../../../shared/problems.js';
import { defineFinding, ok, stop } from '../../engine/finding.js';
import { noProjectsAdvice, parentIn } from '../../steps/cloud/project-place.js';

export const parent = defineFinding({
  code: 'parent',
  title: 'Parent of the project',
  why: 'The project is made beneath it.',
  by: 'check',
  about: ['folderId'],
  async ask({ context, intent }) {
    const place = parentIn(context.config, intent.options);
    return { place, may: await context.cloud.projects.mayCreateIn(place) };
  },
  judge({ place, may }, { options }) {
    if (may) return ok(`plinth may make projects in ${place}`);
    const message = `${place} is not there, or plinth may make no projects in it`;
    return stop(
      new Problem('cloud-permission', `${message}.`, {
        ...(options.folderId === undefined ? {} : { errors: [{ path: '--folder-id', message }] }),
        advice: noProjectsAdvice(place),
      }),
    );
  },
});
