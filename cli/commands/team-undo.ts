/** `plinth team undo`: shows every difference that the undo of a migration makes, asks, and does exactly that. */
import type { UndoPreview } from '../../shared/organization/team.js';
import { Problem } from '../../shared/problems.js';
import { defineCommand } from '../frame/command.js';
import { confirm, unasked } from '../frame/confirm.js';
import { printable, type Style } from '../frame/output.js';
import { time } from '../frame/table.js';
import { readInput } from '../organizations/input.js';
import { bootstrapLines } from '../organizations/moved-bootstraps.js';

export const teamUndo = defineCommand({
  description: [
    'Undoes the migration of a team, within 30 days. The team stands alone again, with the members and roles that it had. First it shows every difference.',
    'For whoever may migrate the team, and for those who were its admins before the migration, also where it removed them.',
  ],
  flags: {
    'dry-run': 'Only show what would change.',
    yes: 'Do not ask first. Needed where there is no terminal to ask on.',
  },
  examples: ['plinth team undo 42 --dry-run', 'plinth team undo 42'],

  async run(call) {
    const dryRun = call.has('dry-run');
    const { teamId } = readInput(call, ['teamId'], [], dryRun ? [] : unasked(call));
    const client = await call.connectOrganizations();
    const { preview, etag } = await client.previewUndo(teamId);
    const until = time(preview.until);
    if (dryRun) return { data: { dryRun, preview }, show: (style) => previewText(preview, until, style) };
    call.output.say(previewText(preview, until, call.output.style));
    if (!call.has('yes') && !(await confirm(`Undo the migration of team ${teamId}?`, call))) {
      throw new Problem('bad-input', `Team ${teamId} stays where it is; nothing has changed.`);
    }
    const { team, restoredMembers, removedMembers } = await client.undoMigration(teamId, preview.migrationId, etag);
    return {
      data: { team, restoredMembers, removedMembers },
      show: () => `Team ${printable(team.name)} (${team.teamId}) stands alone again, as it did before its migration.`,
    };
  },
});

function previewText(preview: UndoPreview, until: string, style: Style): string {
  const { teamId, organizationId, stays, returns, leaves, counts, changes, bootstraps = [], bootstrapsInAll } = preview;
  const now = new Map(changes.map(({ email, role }) => [email, role]));
  const back = returns.filter(({ email }) => !now.has(email));
  const roles = returns.filter(({ email }) => now.has(email));
  const row = ({ email, role }: UndoPreview['stays'][number]) => `  ${printable(email)} (${role})`;
  return [
    `Team ${teamId} out of organization ${organizationId}, which is possible until ${until}`,
    style.bold(`Stay: ${stays.length}`),
    ...stays.map(row),
    style.bold(`Come back: ${back.length}`),
    ...back.map(row),
    style.bold(`Change their roles: ${roles.length}`),
    ...roles.map(({ email, role }) => `  ${printable(email)} (${now.get(email)} → ${role})`),
    style.bold(`Leave: ${counts?.leaves ?? leaves.length}`),
    ...leaves.map(row),
    ...bootstrapLines(bootstraps, bootstrapsInAll, style),
  ].join('\n');
}
