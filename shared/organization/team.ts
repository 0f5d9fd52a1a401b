/** Teams as the API shows them, and what a migration into an organization does or would do. */
import * as z from 'zod';
import { moment, text } from '../api.js';
import { Ceilings } from './ceilings.js';
import { Member, Name, OrganizationId, Role } from './organization.js';
import { TeamId } from './team-id.js';

export const Team = z
  .object({
    teamId: TeamId,
    name: text('What people call it', 'platform'),
    organizationId: OrganizationId.nullable().meta({
      description: 'The organization that it is in; null: the team is standalone',
      examples: [null],
    }),
    role: Role.optional().meta({
      description: "The caller's own role in the team, if they have one",
      examples: ['admin'],
    }),
    createdAt: moment('When it was made'),
    ceilings: Ceilings.optional(),
    deletedAt: moment('When it was deleted; absent for one that is not').optional(),
  })
  .meta({ id: 'Team', description: 'People who work together, standalone or in an organization' });
export type Team = z.infer<typeof Team>;

/** The limit lets one transaction migrate a whole team. */
export const mostTeamMembers = 2000;

export const NewTeam = z
  .strictObject({
    name: Name,
    organizationId: OrganizationId.optional().meta({ description: 'Where it is made; standalone without it' }),
  })
  .meta({ id: 'NewTeam', description: 'A team to make' });

export const Migration = z
  .strictObject({
    organizationId: OrganizationId,
    force: z.boolean().default(false).meta({
      description: 'Members of the team who are not in the organization leave the team, instead of a refusal',
    }),
  })
  .meta({ id: 'Migration', description: 'Where a team is to move, and what of members outside' });

export const MigrationReply = z
  .object({
    team: Team,
    removedMembers: z
      .array(z.string())
      .meta({ description: 'E-mails of those who left the team by it', examples: [['zoe@example.org']] }),
  })
  .meta({ id: 'MigrationReply', description: 'The team as it is now, and who left it' });
export type MigrationReply = z.infer<typeof MigrationReply>;

export const Detached = z
  .object({
    team: Team,
    restoredMembers: z.array(z.string()).meta({
      description: 'E-mails of those who came back, or got back the role that they had',
      examples: [['zoe@example.org']],
    }),
    removedMembers: z
      .array(z.string())
      .meta({ description: 'E-mails of those who were no members before the migration', examples: [[]] }),
  })
  .meta({
    id: 'Detached',
    description: 'A team that stands alone again, with the members that it had before it was migrated',
  });
export type Detached = z.infer<typeof Detached>;

export const transferDays = 14;

export const NewTransfer = z
  .strictObject({
    organizationId: OrganizationId.nullable().meta({
      description: 'Where the team is to go; null: out of its organization, to stand alone',
    }),
    force: z.boolean().default(false).meta({
      description: 'Members of the team who are not in that organization leave the team, instead of a refusal',
    }),
  })
  .meta({ id: 'NewTransfer', description: 'Where a team is to go, if the other side agrees' });

export const TransferId = z.union([z.literal('standalone'), OrganizationId]).meta({
  id: 'TransferId',
  description: 'Where the team is to go: the id of an organization, or `standalone`',
  examples: ['standalone'],
});

export const Transfer = z
  .object({
    id: text('Where the team is to go: the id of an organization, or `standalone`', 'standalone'),
    teamId: TeamId,
    organizationId: OrganizationId.nullable().meta({ description: 'The same; null: it is to stand alone' }),
    force: z.boolean().meta({ description: 'Whether members outside leave the team', examples: [false] }),
    proposedBy: text('Who proposed it', 'alice@example.com'),
    proposedAt: moment('When'),
    expiresAt: moment('Until when the other side may accept', '2026-12-07T09:00:00.000Z'),
  })
  .meta({ id: 'Transfer', description: 'A move of a team that one side has proposed' });
export type Transfer = z.infer<typeof Transfer>;

/** For so long a migration can be undone. */
export const undoableDays = 30;

export const MigrationId = z
  .string()
  .regex(/^(?:latest|[0-9a-f]{14}-[0-9a-f]{8,11})$/, 'must be latest, or the id of the event of a migration')
  .meta({
    id: 'MigrationId',
    description: 'The id of the event `team-migrated`, or `latest`',
    examples: ['latest'],
  });

export const MovedBootstrap = z
  .object({
    name: text('Of the project', 'demo'),
    projectId: text('Of the project', 'demo-1a2b3c'),
    owner: text('E-mail of who has it', 'alice@example.com'),
    shared: z.boolean().meta({ description: 'Shared with the team; false: it belongs to the team', examples: [false] }),
    costAnHour: z
      .string()
      .optional()
      .meta({ description: 'What it was admitted at, in the currency of the prices', examples: ['1.25'] }),
    gains: z.array(z.string()).meta({
      description:
        'Who then has it, and had it in no other way. Members of the team get their roles on the project within about a minute, if they may bootstrap here. Admins of the organization get none',
      examples: [['carol@example.com']],
    }),
    loses: z.array(z.string()).meta({
      description:
        'Who has it no more, in any way. The roles on the project of those who leave the team go within about a minute',
      examples: [['zoe@example.org']],
    }),
  })
  .meta({ id: 'MovedBootstrap', description: 'A living bootstrap of the team, and who gains and loses access to it' });
export type MovedBootstrap = z.infer<typeof MovedBootstrap>;

const movedOnes = {
  bootstraps: z
    .array(MovedBootstrap)
    .optional()
    .meta({ description: 'The bootstraps that move with the team, at most 50 of them' }),
  bootstrapsInAll: z
    .int()
    .optional()
    .meta({ description: 'How many bootstraps move', examples: [3] }),
};

const UndoneMembers = {
  returns: z.array(Member).meta({
    description: 'Who comes back, or gets back the role that they had',
    examples: [[{ email: 'zoe@example.org', role: 'member' }]],
  }),
  leaves: z.array(Member).meta({ description: 'Who was no member before the migration, and leaves', examples: [[]] }),
  changes: z.array(Member).meta({
    description: 'Who has another role now, with that role: their old one is in `returns`',
    examples: [[]],
  }),
};

const count = (of: string) => z.int().meta({ description: `How many ${of}`, examples: [2] });

/** What an undo would do now. Its ETag, sent back in If-Match, ensures that nothing has changed since. */
export const UndoPreview = z
  .object({
    teamId: TeamId,
    migrationId: text('The id of the event of the migration', '00062a5c3f0b1e-1a2b3c4d'),
    organizationId: OrganizationId.meta({ description: 'The organization that the team would leave' }),
    stays: z.array(Member).meta({ description: 'Who stays, with the role that they have' }),
    ...UndoneMembers,
    counts: z
      .object({ leaves: count('leave') })
      .optional()
      .meta({ description: 'In place of the names in `leaves`, for former admins who do not see the team any more' }),
    ...movedOnes,
    until: moment('Until when it can be undone', '2026-12-23T09:00:00.000Z'),
  })
  .meta({ id: 'UndoPreview', description: 'What an undo of a migration would do now' });
export type UndoPreview = z.infer<typeof UndoPreview>;

/** What a migration would do now. Its ETag, sent back in If-Match, ensures that nothing has changed since. */
export const MigrationPreview = z
  .object({
    teamId: TeamId,
    organizationId: OrganizationId,
    stays: z.array(Member).meta({ description: 'Members of the team who are in the organization' }),
    leaves: z.array(Member).meta({
      description:
        'Members outside the organization: without force they stop the migration, with force they leave the team',
      examples: [[{ email: 'zoe@example.org', role: 'member' }]],
    }),
    counts: z
      .object({ stays: count('stay'), leaves: count('are outside') })
      .optional()
      .meta({ description: 'In place of the names in `stays` and `leaves`, for callers who do not see the team' }),
    blockers: z.array(z.string()).meta({
      description: 'Why it would be refused, in words; empty: it would succeed without force',
      examples: [
        [
          'Team 1571417718 cannot be migrated because these members are not members of the new organization: zoe@example.org. Add them to the organization first, or use the force option to remove them from the team.',
        ],
      ],
    }),
    ...movedOnes,
    warnings: z
      .array(z.string())
      .optional()
      .meta({
        description:
          'Ceilings of the organization that the team would pass, in words. The migration is not refused for them',
        examples: [
          [
            'The organization would have 7 living bootstraps, and its ceiling is 5. It moves all the same, and nothing new begins until there is room.',
          ],
        ],
      }),
  })
  .meta({ id: 'MigrationPreview', description: 'What a migration would do now' });
export type MigrationPreview = z.infer<typeof MigrationPreview>;
