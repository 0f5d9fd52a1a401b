/** `plinth beta cleanup take-in|remove`: what operators do about a project that no record knows. */
import { ttlFault } from '../../shared/bootstrap/lifetime.js';
import type { UnknownProject } from '../../shared/bootstrap/unknown-project.js';
import { Problem } from '../../shared/problems.js';
import { teamOf } from '../bootstrap/team-flag.js';
import { defineCommand } from '../frame/command.js';
import { confirmByName, unasked } from '../frame/confirm.js';
import { printable } from '../frame/output.js';
import { atFlag, refusal, required } from '../frame/required.js';
import { time } from '../frame/table.js';

/** Throws what the service would throw, so that a dry run is refused for the same reason. */
function checkProven({ projectId, proven, why = '' }: UnknownProject): void {
  if (proven) return;
  throw new Problem('conflict', `plinth leaves the project ${projectId} alone: ${why}.`, {
    advice: 'If it is to go, whoever owns it deletes it with gcloud projects delete.',
  });
}

const whichOf = ({ projectId, projectNumber, parent = 'no parent' }: UnknownProject): string =>
  `${projectId} (${projectNumber}, in ${printable(parent)})`;

/** `asked`: null for none, undefined for the one that the labels prove. */
function intoOf({ team, formerTeam }: UnknownProject, asked: number | null | undefined): string {
  const into = asked === undefined ? team : (asked ?? undefined);
  if (into !== undefined) return `into team ${into} if the owner is a member of it`;
  return asked === undefined && formerTeam !== undefined
    ? `into no team: team ${formerTeam}, to which it belonged, is gone`
    : 'into no team';
}

export const cleanupTakeIn = defineCommand({
  description: [
    'Takes a project that bears the labels of this deployment into the records, by its id. From then on it has an owner and an end, and is listed, extended and removed like any other. Nobody knows what it was made from, so it cannot be gone on with.',
    'Its labels must prove that this deployment made it, and it must lie directly in the parent of this deployment.',
    'It belongs to the team that its labels prove, unless --team or --without-team says otherwise. The owner must be a member of that team. If the team is gone, it belongs to none, and the command says so.',
  ],
  flags: {
    with: 'E-mail of who gets it: somebody who may bootstrap here. (required)',
    ttl: 'How long it should live from now on, such as 4h, 1h30m or 2d. (required)',
    team: 'Number of the team that it belongs to from now on.',
    'without-team': 'It belongs to no team.',
    'dry-run': 'Only show what it is, and whether it may be taken in.',
  },
  examples: ['plinth beta cleanup take-in demo-1a2b3c4d --with zoe@example.org --ttl 4h'],

  async run(call) {
    const { with: owner, ttl } = required(call, 'with', 'ttl');
    const fault = ttlFault(ttl);
    if (fault !== undefined) throw refusal([{ path: '--ttl', message: fault }]);
    const asked = teamOf(call);
    if (asked !== undefined && call.has('without-team'))
      throw refusal([{ path: '--without-team', message: 'goes not with --team' }]);
    const team = call.has('without-team') ? null : asked;
    const client = await call.connect();
    const project = call.word('project')?.text ?? '';
    if (call.has('dry-run')) {
      const found = await client.unknownProject(project);
      checkProven(found);
      return {
        data: { dryRun: true, project: found },
        show: () => `Would take in ${whichOf(found)} for ${printable(owner)}, for ${ttl}, ${intoOf(found, team)}.`,
      };
    }
    const view = await client.takeIn(project, { owner, ttl, ...(team !== undefined && { team }) }).catch(atFlag('ttl'));
    return {
      data: { bootstrap: view },
      show: () =>
        [
          `${view.projectId} is ${printable(view.owner)}'s${view.team === undefined ? '' : `, in team ${view.team}`}, and is removed at ${time(view.deadlineAt)}.`,
          ...view.warnings.map((warning) => `Warning: ${printable(warning)}`),
        ].join('\n'),
    };
  },
});

export const cleanupRemove = defineCommand({
  description: [
    'Removes a project that bears the labels of this deployment and that no record knows, by its id. It shows first what that takes away, and then asks you to type the id.',
    'Its labels must prove that this deployment made it, and it must lie directly in the parent of this deployment. A protected project is refused. plinth judges it once more just before the deletion, and deletes it by its number.',
  ],
  flags: {
    'dry-run': 'Only show what would be removed.',
    yes: 'Do not ask. Needed where there is no terminal to ask on.',
  },
  examples: ['plinth beta cleanup remove demo-1a2b3c4d --dry-run', 'plinth beta cleanup remove demo-1a2b3c4d --yes'],

  async run(call) {
    const dryRun = call.has('dry-run');
    const silence = dryRun ? [] : unasked(call);
    if (silence.length > 0) throw refusal([...call.faults, ...silence]);
    const client = await call.connect();
    const found = await client.unknownProject(call.word('project')?.text ?? '');
    checkProven(found);
    const { plan } = found;
    const goes = (plan?.items ?? []).flatMap(({ what }) => what);
    const lines = goes.map((line) => `  ${printable(line)}`);
    if (dryRun || plan === undefined) {
      return {
        data: { dryRun: true, project: found, remove: goes },
        show: () => [`Would remove ${whichOf(found)}:`, ...lines].join('\n'),
      };
    }
    if (!call.has('yes')) {
      call.output.say([`This removes ${whichOf(found)}:`, ...lines].join('\n'));
      if (!(await confirmByName('Type the id of the project to remove it:', found.projectId, call))) {
        throw new Problem('bad-input', 'That is not its id; nothing was removed.');
      }
    }
    // It keeps to what was shown.
    const view = await client.removeUnknown(found.projectId, plan.hash);
    return {
      data: { bootstrap: view },
      show: () =>
        `${view.projectId} is being removed.\nWatch it: plinth beta bootstrap-cloud status ${view.projectId} --follow`,
    };
  },
});
