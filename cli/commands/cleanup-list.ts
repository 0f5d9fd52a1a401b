/** `plinth beta cleanup list`: what the next cleanup would remove, what it keeps, and what it does not know. For operators. */
import type { CleanupFound } from '../../shared/bootstrap/cleanup.js';
import type { CleanupSurvey } from '../../shared/bootstrap/survey.js';
import { Problem } from '../../shared/problems.js';
import { defineCommand } from '../frame/command.js';
import { listing } from '../frame/table.js';

/** In display order. */
const parts: readonly (readonly [keyof Omit<CleanupSurvey, 'more'>, string])[] = [
  ['remove', 'would be removed'],
  ['keep', 'kept, though its time looks over'],
  ['failed', 'could not be judged'],
  ['quarantined', 'left alone after failures'],
  ['withoutRecord', 'project without a record'],
  ['unplanned', 'has VMs that no plan holds'],
  ['withoutProject', 'record without a project'],
];

export const cleanupList = defineCommand({
  description: [
    "Shows what a run of cleanup would remove now, and changes nothing. It finds and judges as the run itself does. It also shows what a run keeps and why, and what it leaves alone after failed removals. And it shows projects with this deployment's labels that no record knows, and records whose project is gone. VMs that no plan holds are shown as of the last hour.",
  ],
  examples: ['plinth beta cleanup list', 'plinth beta cleanup list --json'],

  async run(call) {
    const client = await call.connect();
    const survey = await client.surveyCleanup();
    const rows = parts.flatMap(([part, what]) =>
      (survey[part] ?? []).map(({ projectId, owner, why }: CleanupFound) => [projectId, what, owner ?? '-', why]),
    );
    const { failed, remove } = survey;
    const problem = new Problem(
      'cloud-unavailable',
      `${failed.length === 1 ? 'One project' : `${failed.length} projects`} could not be judged.`,
      {
        advice: "The function's log says why. The next run judges them again.",
      },
    );
    return {
      data: { cleanup: survey },
      ...(failed.length > 0 && { problem }),
      show: (style) =>
        [
          rows.length === 0
            ? 'Nothing would be removed, and nothing is amiss.'
            : listing(['PROJECT', 'WHAT', 'OWNER', 'WHY'], rows, style),
          ...(survey.more ? ['', 'There is more than one run takes; others follow at once.'] : []),
          ...(remove.length > 0
            ? ['', `The next run removes ${remove.length}. To stop it: plinth beta cleanup schedule pause`]
            : []),
        ].join('\n'),
    };
  },
});
