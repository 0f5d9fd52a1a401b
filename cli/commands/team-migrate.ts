/** `plinth team migrate`: shows what a migration would do, asks before anyone is removed, and does exactly what it showed. */
import { shellWord } from '../../shared/command-words.js';
import type { MigrationPreview, MigrationReply } from '../../shared/organization/team.js';
import { Problem } from '../../shared/problems.js';
import { advised } from '../frame/advised.js';
import { type CommandContext, defineCommand } from '../frame/command.js';
import { confirm, unasked } from '../frame/confirm.js';
import { printable, type Style } from '../frame/output.js';
import { organizationIdOf, readInput } from '../organizations/input.js';
import { bootstrapLines } from '../organizations/moved-bootstraps.js';
import type { OrganizationClient } from '../service/organization-client.js';

export const teamMigrate = defineCommand({
  description: [
    'Moves a standalone team into an organization. For admins of both. If you are an admin of one, propose it with “team transfer”. First it shows who stays in the team and who would leave it. Then it does exactly that. If the team has changed meanwhile, it shows that anew.',
    'Every member of a team in an organization is also a member of that organization. It refuses a team with members outside. With --force it removes them from the team, after a question.',
  ],
  flags: {
    organization: 'Organization that the team moves into, by id or name. (required)',
    force: 'Remove members outside the organization from the team.',
    'dry-run': 'Only show who would stay and who would leave.',
    yes: 'Do not ask before --force. Needed where there is no terminal to ask on.',
  },
  examples: [
    'plinth team migrate 42 --organization acme --dry-run',
    'plinth team migrate 42 --organization acme',
    'plinth team migrate 42 --organization acme --force --yes',
  ],

  async run(call) {
    const [force, dryRun] = [call.has('force'), call.has('dry-run')];
    const { teamId, organization } = readInput(
      call,
      ['teamId', 'organization'],
      [],
      force && !dryRun ? unasked(call, '--force') : [],
    );
    const client = await call.connectOrganizations();
    const plan: Plan = { teamId, organization, organizationId: await organizationIdOf(client, organization), force };
    if (dryRun) {
      const { preview } = await client.previewMigration(teamId, plan.organizationId);
      const refused = leaving(preview) > 0 && !force;
      return {
        data: { dryRun, preview },
        show: (style) =>
          `${previewText(preview, plan, style)}${refused ? `\n${style.yellow('It would be refused')} without --force.` : ''}`,
      };
    }
    const { team, removedMembers } = await migrate(call, client, plan);
    return {
      data: { team, removedMembers },
      show: () =>
        [
          `Team ${printable(team.name)} (${team.teamId}) is in organization ${printable(organization)} now.`,
          ...(removedMembers.length === 0
            ? []
            : [`Removed from the team: ${removedMembers.map(printable).join(', ')}`]),
        ].join('\n'),
    };
  },
});

interface Plan {
  readonly teamId: number;
  /** As the caller wrote it. */
  readonly organization: string;
  readonly organizationId: string;
  readonly force: boolean;
}

/** The limit ends the loop if a team keeps changing. */
const mostPreviews = 5;

async function migrate(call: CommandContext, client: OrganizationClient, plan: Plan): Promise<MigrationReply> {
  const { output } = call;
  for (let shown = 1; ; shown += 1) {
    const { preview, etag } = await client.previewMigration(plan.teamId, plan.organizationId);
    output.say(previewText(preview, plan, output.style));
    if (plan.force && leaving(preview) > 0) await agree(call, preview);
    try {
      return await client.migrate(plan.teamId, plan.organizationId, plan.force, etag);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.code === 'precondition-failed' && shown < mostPreviews) {
        output.say('\nThe team or the organization has changed meanwhile. As it is now:\n');
        continue;
      }
      throw error.code === 'members-outside' ? advised(error, waysOut(error, plan)) : error;
    }
  }
}

/** How many leave, whether or not the service names them. */
const leaving = ({ leaves, counts }: MigrationPreview): number => counts?.leaves ?? leaves.length;

async function agree(call: CommandContext, preview: MigrationPreview): Promise<void> {
  if (call.has('yes')) return;
  const { teamId } = preview;
  const many = leaving(preview);
  const who = many === 1 ? 'this member' : `these ${many} members`;
  if (await confirm(`Remove ${who} from team ${teamId} and migrate it?`, call)) return;
  throw new Problem('bad-input', `Team ${teamId} is not migrated; nothing has changed.`);
}

const mostStaying = 20;

function previewText(preview: MigrationPreview, plan: Plan, style: Style): string {
  const { teamId, stays, leaves, counts, blockers, bootstraps = [], bootstrapsInAll, warnings = [] } = preview;
  const outside = leaving(preview);
  const row = ({ email, role }: MigrationPreview['stays'][number]) =>
    `  ${printable(email)}${role === 'admin' ? style.dim(' (admin)') : ''}`;
  const rest = stays.length - mostStaying;
  return [
    `Team ${teamId} into organization ${printable(plan.organization)}`,
    style.bold(`Stay: ${counts?.stays ?? stays.length}`),
    ...stays.slice(0, rest > 1 ? mostStaying : stays.length).map(row),
    ...(rest > 1 ? [style.dim(`  and ${rest} more`)] : []),
    style.bold(
      outside === 0
        ? 'Leave: 0'
        : `${plan.force ? 'Leave' : 'Outside the organization'}: ${style.yellow(String(outside))}`,
    ),
    ...leaves.map(row),
    ...bootstrapLines(bootstraps, bootstrapsInAll, style),
    ...warnings.map((text) => `${style.yellow('Warning:')} ${printable(text)}`),
    // Members outside the organization are already listed.
    ...(outside > 0 ? [] : blockers.map((text) => `${style.yellow('It would be refused:')} ${printable(text)}`)),
  ].join('\n');
}

/** The three solutions, as commands. */
function waysOut({ members }: Problem, plan: Plan): string {
  const word = shellWord(plan.organization);
  const leaves = (members?.['members'] ?? []) as readonly string[];
  const add = leaves.slice(0, 5).map((email) => `  plinth org add-member ${word} ${shellWord(email)}`);
  return [
    'To add them:',
    ...add,
    ...(leaves.length > add.length ? [`  and so on for ${leaves.length - add.length} more`] : []),
    'To invite them, and to migrate once they have accepted:',
    ...leaves.slice(0, 5).map((email) => `  plinth org invite ${word} ${shellWord(email)}`),
    ...(leaves.length > add.length ? [`  and so on for ${leaves.length - add.length} more`] : []),
    'To remove them from the team:',
    `  plinth team migrate ${plan.teamId} --organization ${word} --force`,
  ].join('\n');
}
