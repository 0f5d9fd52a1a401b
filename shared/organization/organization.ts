/** Organizations and their members as the API shows them. */
import * as z from 'zod';
import { moment, text } from '../api.js';
import { plainLine } from '../plain-text.js';
import { Ceilings } from './ceilings.js';
import { Email } from './email.js';

export const Role = z
  .enum(['admin', 'member'], 'must be admin or member')
  .meta({ id: 'Role', description: 'An admin changes things, a member belongs to them' });
export type Role = z.infer<typeof Role>;

/** Ids are compared in lower case. */
export const OrganizationId = z
  .uuid('must be a UUID')
  .toLowerCase()
  .meta({
    id: 'OrganizationId',
    description: 'Id of an organization; compared lower-cased',
    examples: ['4d010652-4196-432f-9bad-210f0897da71'],
  });

/** What people call an organization or a team. */
export const Name = plainLine(100, {
  id: 'Name',
  description:
    'What people call it. Blanks around it are taken away, letters are kept composed (NFC), and what cannot be seen is refused; characters are counted as UTF-16 code units',
  examples: ['acme'],
});

/** What whoever removes somebody tells them of it. */
export const Why = plainLine(300, {
  id: 'Why',
  description: 'Why they are removed: the event and the message to the webhook tell it',
  examples: ['moved to another department'],
});

/** Shown as stored. Its form isn't checked again. */
const shownEmail = (description: string, example = 'bob@example.com') => text(description, example);

export const Organization = z
  .object({
    id: OrganizationId,
    name: text('What people call it', 'acme'),
    role: Role.optional().meta({
      description: "The caller's own role; absent for an operator who is no member",
      examples: ['admin'],
    }),
    createdAt: moment('When it was made'),
    ceilings: Ceilings.optional(),
    deletedAt: moment('When it was deleted; absent for one that is not').optional(),
  })
  .meta({ id: 'Organization', description: 'Groups teams under one government' });
export type Organization = z.infer<typeof Organization>;

export const Member = z
  .object({ email: shownEmail('Who it is, lower-cased'), role: Role })
  .meta({ id: 'Member', description: 'A member of an organization or of a team' });
export type Member = z.infer<typeof Member>;

export const NewOrganization = z
  .strictObject({ name: Name })
  .meta({ id: 'NewOrganization', description: 'An organization to make' });
export const NewName = z
  .strictObject({ name: Name })
  .meta({ id: 'NewName', description: 'What to call it from now on' });
export const NewMember = z
  .strictObject({ email: Email, role: Role.default('member') })
  .meta({ id: 'NewMember', description: 'Somebody to add' });
export const NewRole = z
  .strictObject({ role: Role })
  .meta({ id: 'NewRole', description: 'The role to have from now on' });

/** One call adds or invites so many. */
const mostAtOnce = 500;
export const NewMembers = z
  .strictObject({
    members: z
      .array(NewMember)
      .min(1, 'must name somebody')
      .max(mostAtOnce, `must have at most ${mostAtOnce} members`)
      .superRefine((members, context) => {
        const seen = new Set<string>();
        for (const [i, { email }] of members.entries()) {
          if (seen.has(email)) context.addIssue({ code: 'custom', path: [i, 'email'], message: 'is named twice' });
          seen.add(email);
        }
      })
      .meta({ description: 'Who, each once', examples: [[{ email: 'bob@example.com', role: 'member' }]] }),
  })
  .meta({ id: 'NewMembers', description: 'All whom to add or to invite, or none' });
export const AddedMembers = z
  .object({
    added: z.array(Member).meta({ description: 'Who is a member by it' }),
    unchanged: z.array(Member).meta({ description: 'Who was one already, with that role', examples: [[]] }),
  })
  .meta({ id: 'AddedMembers', description: 'Who was added' });
export type AddedMembers = z.infer<typeof AddedMembers>;

export const invitedDays = 14;
export const Invitation = z
  .object({
    organizationId: OrganizationId,
    name: text("The organization's name, to the one who is invited", 'acme').optional(),
    email: shownEmail('Who is invited, lower-cased'),
    role: Role,
    invitedBy: shownEmail('Who invited them last', 'alice@example.com'),
    invitedAt: moment('When'),
    expiresAt: moment('Until when they may accept', '2026-12-07T09:00:00.000Z'),
    state: z.enum(['pending', 'expired']).meta({ description: 'Whether they may still accept', examples: ['pending'] }),
  })
  .meta({ id: 'Invitation', description: 'Somebody who may join an organization, and has not yet' });
export type Invitation = z.infer<typeof Invitation>;
export const Invited = z
  .object({
    invited: z.array(Invitation).meta({ description: 'Who is invited by it, or once more' }),
    members: z.array(Member).meta({ description: 'Who is a member already, and stays as they are', examples: [[]] }),
  })
  .meta({ id: 'Invited', description: 'Who was invited' });
export type Invited = z.infer<typeof Invited>;

/** For so long a delete can be taken back. */
export const restorableDays = 30;
/** One transaction deletes an organization with so many members, or restores it. */
export const mostRestored = 2000;

/** Who did what and when. Each removal and migration holds the state before and after. */
export const OrganizationEvent = z
  .object({
    id: text('Sorts by time', '00062a5c3f0b1e-1a2b3c4d'),
    at: moment('When it was done'),
    actor: shownEmail('Who did it', 'alice@example.com'),
    action: z
      .enum([
        'organization-created',
        'organization-renamed',
        'organization-deleted',
        'organization-restored',
        'organization-ceilings-set',
        'member-added',
        'member-role-changed',
        'member-removed',
        'member-invited',
        'invitation-accepted',
        'invitation-declined',
        'invitation-revoked',
        'team-created',
        'team-renamed',
        'team-deleted',
        'team-restored',
        'team-ceilings-set',
        'team-member-added',
        'team-member-role-changed',
        'team-member-removed',
        'team-migrated',
        'team-detached',
        'team-left',
        'team-transfer-proposed',
        'team-transfer-refused',
        'team-migration-undone',
        'identity-refused',
      ])
      .meta({
        description:
          "What was done; `identity-refused`: another account with a member's e-mail was refused, and nothing has changed",
        examples: ['member-added'],
      }),
    email: shownEmail('The member concerned').optional(),
    teamId: z.int().optional().meta({ description: 'The team concerned' }),
    why: text(
      'Why somebody was removed: as who removed them said, or by which rule. Absent where nobody said it',
      'moved to another department',
    ).optional(),
    version: z
      .int()
      .optional()
      .meta({
        description:
          'Of the team, or of the member in the organization, that it is about: one more with each change, also for a member who comes back. Absent in events from before 3.0.0',
        examples: [1],
      }),
    before: z.unknown().meta({
      description: 'What was changed as the API showed it before; null: it was not there',
      examples: [null],
    }),
    after: z.unknown().meta({
      description: 'What was changed as the API showed it afterwards; null: it is not there any more',
      examples: [{ email: 'bob@example.com', role: 'member' }],
    }),
  })
  .meta({ id: 'OrganizationEvent', description: 'Who did what when' });
export type OrganizationEvent = z.infer<typeof OrganizationEvent>;
