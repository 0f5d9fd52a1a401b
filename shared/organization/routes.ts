/** The route table of the organization API. */
import * as z from 'zod';
import { flag, json, type Reply, type RouteTable } from '../api.js';
import { pageHeaders, pageQuery } from '../paging.js';
import { NewCeilings } from './ceilings.js';
import { Email, EmailText } from './email.js';
import {
  AddedMembers,
  Invitation,
  Invited,
  Member,
  NewMember,
  NewMembers,
  NewName,
  NewOrganization,
  NewRole,
  Organization,
  OrganizationEvent,
  OrganizationId,
  Why,
} from './organization.js';
import { NewReplay, Replayed } from './replay.js';
import {
  Detached,
  Migration,
  MigrationId,
  MigrationPreview,
  MigrationReply,
  NewTeam,
  NewTransfer,
  Team,
  Transfer,
  TransferId,
  UndoPreview,
} from './team.js';
import { TeamIdText } from './team-id.js';

const nothing = (description: string): Reply => ({ description, type: 'application/json', schema: z.undefined() });
const created = (description: string, schema: z.ZodType): Reply => ({
  ...json(description, schema),
  headers: { Location: 'Path of what was made' },
});
const list = (description: string, schema: z.ZodType): Reply => ({
  ...json(description, z.array(schema)),
  headers: pageHeaders,
});

/** For any POST. Within a day, the same key and body get the first answer again. */
const idempotency = z.object({
  'idempotency-key': z
    .string()
    .regex(/^[\x20-\x7e]{1,255}$/, 'must have 1 to 255 printable ASCII characters')
    .optional()
    .meta({
      description:
        'Makes a retry safe: for a day the same key with the same body gives the first answer again, and does nothing. With another body it is refused (422); while the first is in flight, too (409). A 400, 409 or 412 is judged anew, and a 5xx frees the key',
      examples: ['add-bob-1'],
    }),
});

/** 500 of the longest addresses, with their roles. */
const batchBytes = 256 * 1024;

const paging = z.strictObject(pageQuery);
const when = (description: string) =>
  z.iso
    .datetime('must be a time in UTC, such as 2026-11-23T09:00:00Z')
    .optional()
    .meta({
      description,
      examples: ['2026-11-23T09:00:00Z'],
    });
const eventQuery = z.strictObject({
  ...pageQuery,
  actor: EmailText.optional().meta({ description: 'Only what they did', examples: ['alice@example.com'] }),
  action: OrganizationEvent.shape.action.optional().meta({ description: 'Only this', examples: ['member-added'] }),
  member: EmailText.optional().meta({ description: 'Only what concerns this member', examples: ['bob@example.com'] }),
  since: when('Only from then on'),
  until: when('Only before'),
});
const organizationEventQuery = eventQuery.extend({
  teamId: TeamIdText.optional().meta({ description: 'Only what concerns this team', examples: [1571417718] }),
});
const withDeleted = z.strictObject({
  ...pageQuery,
  deleted: flag('Those that are deleted and can be restored, instead of the living ones'),
});
const restorable = 'For 30 days it can be restored. Then it is gone.';
const ofOrganization = z.strictObject({ organizationId: OrganizationId });
const ofTeam = z.strictObject({ teamId: TeamIdText });

const ofTransfer = ofTeam.extend({ transferId: TransferId });
const ofMigration = ofTeam.extend({ migrationId: MigrationId });
const ifMatch = idempotency.extend({
  'if-match': z
    .string()
    .max(1000)
    .optional()
    .meta({
      description: 'The `ETag` of a preview: if anything has changed since, nothing is done (412)',
      examples: ['"NxK5QI4NwdjUcBYWbyZ8ERrrtAGU576xXaP8f8zlePs"'],
    }),
});

const ofMember = 'The answer is the same 404 for who is not there and for what the caller may not see.';

export const organizationRoutes = {
  createOrganization: {
    method: 'POST',
    path: '/organizations',
    tag: 'Organizations',
    summary: 'Makes an organization; the caller is its first admin',
    description:
      'For operators, and for callers of the domains that the deployment names; some deployments let anybody. Two organizations may have one name.',
    caller: 'known',
    headers: idempotency,
    body: NewOrganization,
    replies: { 201: created('The organization', Organization) },
    problems: ['forbidden', 'conflict', 'key-reused', 'too-many'],
  },
  listOrganizations: {
    method: 'GET',
    path: '/organizations',
    tag: 'Organizations',
    summary: 'The organizations that the caller belongs to',
    description: "Each with the caller's own role. Whole, or with `limit` in pages.",
    caller: 'known',
    query: withDeleted,
    replies: { 200: list('The organizations', Organization) },
    problems: [],
  },
  getOrganization: {
    method: 'GET',
    path: '/organizations/{organizationId}',
    tag: 'Organizations',
    summary: 'One organization',
    description: 'For its members and operators; to anybody else it is not there.',
    caller: 'known',
    params: ofOrganization,
    replies: { 200: json('The organization', Organization) },
    problems: [],
  },
  renameOrganization: {
    method: 'PUT',
    path: '/organizations/{organizationId}/name',
    tag: 'Organizations',
    summary: 'Renames an organization',
    description: 'For admins of the organization. Two organizations may have one name.',
    caller: 'known',
    params: ofOrganization,
    body: NewName,
    replies: { 200: json('The organization', Organization) },
    problems: ['forbidden'],
  },
  setOrganizationCeilings: {
    method: 'PUT',
    path: '/organizations/{organizationId}/ceilings',
    tag: 'Organizations',
    summary: 'Sets what the bootstraps of all its teams may come to',
    description:
      'For admins of the organization. A ceiling that is left out is removed. It holds for what begins or is extended from then on, and ends nothing that lives.',
    caller: 'known',
    params: ofOrganization,
    body: NewCeilings,
    replies: { 200: json('The organization', Organization) },
    problems: ['forbidden'],
  },
  deleteOrganization: {
    method: 'DELETE',
    path: '/organizations/{organizationId}',
    tag: 'Organizations',
    summary: 'Deletes an organization that has no teams',
    description: `For admins of the organization. One that has teams is a 409 that lists them, and nothing changes. ${restorable}`,
    caller: 'known',
    params: ofOrganization,
    replies: { 200: json('The organization, now deleted', Organization) },
    problems: ['forbidden', 'conflict'],
  },
  restoreOrganization: {
    method: 'POST',
    path: '/organizations/{organizationId}/restore',
    tag: 'Organizations',
    summary: 'Takes back that an organization was deleted',
    description:
      'For those who were its admins, within 30 days. It has its members again, as they were. One that is not deleted is answered 200.',
    caller: 'known',
    params: ofOrganization,
    headers: idempotency,
    replies: { 200: json('The organization', Organization) },
    problems: ['forbidden', 'conflict', 'key-reused'],
  },
  listOrganizationMembers: {
    method: 'GET',
    path: '/organizations/{organizationId}/members',
    tag: 'Organizations',
    summary: 'The members of an organization',
    description: 'For its members, by e-mail. Whole, or with `limit` in pages.',
    caller: 'known',
    params: ofOrganization,
    query: paging,
    replies: { 200: list('The members', Member) },
    problems: [],
  },
  addOrganizationMember: {
    method: 'POST',
    path: '/organizations/{organizationId}/members',
    tag: 'Organizations',
    summary: 'Adds a member to an organization',
    description:
      'For admins of the organization. Twice is fine: who is a member with that role already is answered 200. With another role it is a 409; change the role instead.',
    caller: 'known',
    params: ofOrganization,
    headers: idempotency,
    body: NewMember,
    replies: { 200: json('Was a member with that role already', Member), 201: json('The new member', Member) },
    problems: ['forbidden', 'conflict', 'key-reused', 'too-many'],
  },
  addOrganizationMembers: {
    method: 'POST',
    path: '/organizations/{organizationId}/members/batch',
    tag: 'Organizations',
    summary: 'Adds up to 500 members to an organization, all or none',
    description:
      'For admins of the organization. Who is a member with that role already stays as they are. Those with another role make it a 409 that names all of them, and nothing changes.',
    caller: 'known',
    params: ofOrganization,
    headers: idempotency,
    body: NewMembers,
    bodyLimitBytes: batchBytes,
    replies: { 200: json('Who was added', AddedMembers) },
    problems: ['forbidden', 'conflict', 'key-reused', 'too-many'],
  },
  setOrganizationMemberRole: {
    method: 'PUT',
    path: '/organizations/{organizationId}/members/{email}/role',
    tag: 'Organizations',
    summary: "Changes a member's role",
    description: `For admins of the organization. The last admin stays one (409). ${ofMember}`,
    caller: 'known',
    params: ofOrganization.extend({ email: Email }),
    body: NewRole,
    replies: { 200: json('The member', Member) },
    problems: ['forbidden', 'conflict'],
  },
  removeOrganizationMember: {
    method: 'DELETE',
    path: '/organizations/{organizationId}/members/{email}',
    tag: 'Organizations',
    summary: 'Removes a member; with force=true also from the teams of the organization',
    description:
      'For admins of the organization, and for members who leave. Without `force` it is a 409 that lists the teams which still hold the member, and nothing changes. The last admin stays (409).',
    caller: 'known',
    params: ofOrganization.extend({ email: Email }),
    query: z.strictObject({ force: flag('Also from the teams of the organization'), why: Why.optional() }),
    replies: { 204: nothing('The member is gone') },
    problems: ['forbidden', 'conflict'],
  },
  inviteMembers: {
    method: 'POST',
    path: '/organizations/{organizationId}/invitations',
    tag: 'Invitations',
    summary: 'Invites up to 500 people into an organization',
    description:
      'For admins of the organization. They become members when they accept, within 14 days. Who is invited already is invited anew, with the role that is asked for now. Members stay as they are, and the answer names them. plinth sends no mail: the webhook tells of each invitation.',
    caller: 'known',
    params: ofOrganization,
    headers: idempotency,
    body: NewMembers,
    bodyLimitBytes: batchBytes,
    replies: { 200: json('Who was invited', Invited) },
    problems: ['forbidden', 'conflict', 'key-reused', 'too-many'],
  },
  listInvitations: {
    method: 'GET',
    path: '/organizations/{organizationId}/invitations',
    tag: 'Invitations',
    summary: 'Who is invited into an organization and has not answered',
    description:
      'For admins of the organization, by e-mail. Expired ones show for 30 days more. Whole, or with `limit` in pages.',
    caller: 'known',
    params: ofOrganization,
    query: paging,
    replies: { 200: list('The invitations', Invitation) },
    problems: ['forbidden'],
  },
  resendInvitation: {
    method: 'POST',
    path: '/organizations/{organizationId}/invitations/{email}/resend',
    tag: 'Invitations',
    summary: 'Tells of an invitation again, and gives it 14 days from now',
    description: 'For admins of the organization, also for an expired invitation.',
    caller: 'known',
    params: ofOrganization.extend({ email: Email }),
    headers: idempotency,
    replies: { 200: json('The invitation', Invitation) },
    problems: ['forbidden', 'conflict', 'key-reused', 'too-many'],
  },
  revokeInvitation: {
    method: 'DELETE',
    path: '/organizations/{organizationId}/invitations/{email}',
    tag: 'Invitations',
    summary: 'Takes an invitation back',
    description: 'For admins of the organization. Who has accepted already stays a member, and is a 404 here.',
    caller: 'known',
    params: ofOrganization.extend({ email: Email }),
    replies: { 204: nothing('They are not invited any more') },
    problems: ['forbidden', 'conflict'],
  },
  listOwnInvitations: {
    method: 'GET',
    path: '/invitations',
    tag: 'Invitations',
    summary: 'The invitations of the caller',
    description: 'By organization, each with its name. Whole, or with `limit` in pages.',
    caller: 'known',
    query: paging,
    replies: { 200: list('The invitations', Invitation) },
    problems: [],
  },
  acceptInvitation: {
    method: 'POST',
    path: '/invitations/{organizationId}/accept',
    tag: 'Invitations',
    summary: 'Joins the organization that the caller is invited into',
    description:
      'For whom the invitation is. The membership belongs to the accepting account from then on. Who is a member already is answered 200, an expired invitation 409.',
    caller: 'known',
    params: ofOrganization,
    headers: idempotency,
    replies: { 200: json('Was a member already', Member), 201: json('The new member', Member) },
    problems: ['conflict', 'key-reused'],
  },
  declineInvitation: {
    method: 'POST',
    path: '/invitations/{organizationId}/decline',
    tag: 'Invitations',
    summary: 'Declines an invitation',
    description: 'For whom the invitation is. It is gone then. An admin may invite again.',
    caller: 'known',
    params: ofOrganization,
    headers: idempotency,
    replies: { 204: nothing('The invitation is gone') },
    problems: ['conflict', 'key-reused'],
  },
  listOrganizationTeams: {
    method: 'GET',
    path: '/organizations/{organizationId}/teams',
    tag: 'Organizations',
    summary: 'The teams of an organization, migrated ones included',
    description: 'For members of the organization, by number. Whole, or with `limit` in pages.',
    caller: 'known',
    params: ofOrganization,
    query: paging,
    replies: { 200: list('The teams', Team) },
    problems: [],
  },
  listOrganizationEvents: {
    method: 'GET',
    path: '/organizations/{organizationId}/events',
    tag: 'Organizations',
    summary: 'Who did what when, newest first',
    description:
      'The record of an organization, as a JSON array: no stream of events. For its admins. Every removal and migration shows what was before and after. Filters hold together. Whole, or with `limit` in pages.',
    caller: 'known',
    params: ofOrganization,
    query: organizationEventQuery,
    replies: { 200: list('The events', OrganizationEvent) },
    problems: ['forbidden'],
  },
  replayOrganizationEvents: {
    method: 'POST',
    path: '/organizations/{organizationId}/events/replay',
    tag: 'Organizations',
    summary: 'Sends events to the webhook of the deployment again',
    description:
      'For admins of the organization: from a time or from an event on, oldest first. Each message has the id that it had, so a receiver knows a repeat. All replays of the deployment share one line, of which each event takes 1.2 seconds. What waits to be sent anyway keeps its time. A call takes up to 1,000 events, fewer if the line becomes full, and `next` says where the next call goes on. Where the line is full, it is a 429, whose `next` says where a later call begins. Without a webhook it is a 409.',
    caller: 'known',
    params: ofOrganization,
    headers: idempotency,
    body: NewReplay,
    replies: { 200: json('What is sent again', Replayed) },
    problems: ['forbidden', 'conflict', 'key-reused', 'too-many'],
  },
  createTeam: {
    method: 'POST',
    path: '/teams',
    tag: 'Teams',
    summary: 'Makes a team, standalone or in an organization; the caller is its first admin',
    description: 'Standalone for anybody; in an organization for its admins.',
    caller: 'known',
    headers: idempotency,
    body: NewTeam,
    replies: { 201: created('The team', Team) },
    problems: ['forbidden', 'conflict', 'key-reused', 'too-many'],
  },
  listTeams: {
    method: 'GET',
    path: '/teams',
    tag: 'Teams',
    summary: 'The teams that the caller belongs to',
    description: "Each with the caller's own role, by number. Whole, or with `limit` in pages.",
    caller: 'known',
    query: withDeleted,
    replies: { 200: list('The teams', Team) },
    problems: [],
  },
  getTeam: {
    method: 'GET',
    path: '/teams/{teamId}',
    tag: 'Teams',
    summary: 'One team',
    description: 'For its members and the admins of its organization; to anybody else it is not there.',
    caller: 'known',
    params: ofTeam,
    replies: { 200: json('The team', Team) },
    problems: [],
  },
  renameTeam: {
    method: 'PUT',
    path: '/teams/{teamId}/name',
    tag: 'Teams',
    summary: 'Renames a team',
    description: 'For admins of the team and of its organization. Two teams may have one name.',
    caller: 'known',
    params: ofTeam,
    body: NewName,
    replies: { 200: json('The team', Team) },
    problems: ['forbidden', 'conflict'],
  },
  setTeamCeilings: {
    method: 'PUT',
    path: '/teams/{teamId}/ceilings',
    tag: 'Teams',
    summary: 'Sets what the bootstraps of the team may come to',
    description:
      "For admins of the team and of its organization. A ceiling that is left out is removed. In an organization, only its admins may raise or remove one, and nobody else may set one above the organization's. It holds for what begins or is extended from then on, and ends nothing that lives.",
    caller: 'known',
    params: ofTeam,
    body: NewCeilings,
    replies: { 200: json('The team', Team) },
    problems: ['forbidden', 'conflict'],
  },
  deleteTeam: {
    method: 'DELETE',
    path: '/teams/{teamId}',
    tag: 'Teams',
    summary: 'Deletes a team',
    description: `For admins of the team and of its organization. ${restorable}`,
    caller: 'known',
    params: ofTeam,
    replies: { 200: json('The team, now deleted', Team) },
    problems: ['forbidden', 'conflict'],
  },
  restoreTeam: {
    method: 'POST',
    path: '/teams/{teamId}/restore',
    tag: 'Teams',
    summary: 'Takes back that a team was deleted',
    description:
      'For those who were its admins, and for admins of the organization that it was in, within 30 days. It comes back into that organization, without the members who have left that meanwhile. Where the organization is deleted, it is a 409. A team that is not deleted is answered 200.',
    caller: 'known',
    params: ofTeam,
    headers: idempotency,
    replies: { 200: json('The team, and who is no member of it any more', MigrationReply) },
    problems: ['forbidden', 'conflict', 'key-reused'],
  },
  listTeamMembers: {
    method: 'GET',
    path: '/teams/{teamId}/members',
    tag: 'Teams',
    summary: 'The members of a team',
    description: 'For whoever sees the team, by e-mail. Whole, or with `limit` in pages.',
    caller: 'known',
    params: ofTeam,
    query: paging,
    replies: { 200: list('The members', Member) },
    problems: [],
  },
  listTeamEvents: {
    method: 'GET',
    path: '/teams/{teamId}/events',
    tag: 'Teams',
    summary: 'Who did what to a team, newest first, also before it came into its organization',
    description:
      'The record of a team, as a JSON array. For admins of the team and of its organization. Filters hold together. Whole, or with `limit` in pages.',
    caller: 'known',
    params: ofTeam,
    query: eventQuery,
    replies: { 200: list('The events', OrganizationEvent) },
    problems: ['forbidden'],
  },
  replayTeamEvents: {
    method: 'POST',
    path: '/teams/{teamId}/events/replay',
    tag: 'Teams',
    summary: 'Sends events of a team to the webhook of the deployment again',
    description:
      'For admins of the team and of its organization, also what was before it came into its organization. All else is as for an organization.',
    caller: 'known',
    params: ofTeam,
    headers: idempotency,
    body: NewReplay,
    replies: { 200: json('What is sent again', Replayed) },
    problems: ['forbidden', 'conflict', 'key-reused', 'too-many'],
  },
  addTeamMember: {
    method: 'POST',
    path: '/teams/{teamId}/members',
    tag: 'Teams',
    summary: 'Adds a member to a team; in an organization only a member of it',
    description:
      'For admins of the team and of its organization. Twice is fine: who is a member with that role already is answered 200. With another role it is a 409. In an organization an e-mail that is no member of it is a 400.',
    caller: 'known',
    params: ofTeam,
    headers: idempotency,
    body: NewMember,
    replies: { 200: json('Was a member with that role already', Member), 201: json('The new member', Member) },
    problems: ['forbidden', 'conflict', 'key-reused', 'too-many'],
  },
  addTeamMembers: {
    method: 'POST',
    path: '/teams/{teamId}/members/batch',
    tag: 'Teams',
    summary: 'Adds up to 500 members to a team, all or none',
    description:
      'For admins of the team and of its organization. Who is a member with that role already stays as they are. In an organization, those outside make it a 400, those with another role a 409. It names all of them, and nothing changes.',
    caller: 'known',
    params: ofTeam,
    headers: idempotency,
    body: NewMembers,
    bodyLimitBytes: batchBytes,
    replies: { 200: json('Who was added', AddedMembers) },
    problems: ['forbidden', 'conflict', 'key-reused', 'too-many'],
  },
  setTeamMemberRole: {
    method: 'PUT',
    path: '/teams/{teamId}/members/{email}/role',
    tag: 'Teams',
    summary: "Changes a member's role in a team",
    description: `For admins of the team and of its organization. The last admin of a standalone team stays one (409). ${ofMember}`,
    caller: 'known',
    params: ofTeam.extend({ email: Email }),
    body: NewRole,
    replies: { 200: json('The member', Member) },
    problems: ['forbidden', 'conflict'],
  },
  removeTeamMember: {
    method: 'DELETE',
    path: '/teams/{teamId}/members/{email}',
    tag: 'Teams',
    summary: 'Removes a member from a team',
    description: `For admins of the team and of its organization, and for members who leave. A standalone team keeps its last admin (409). ${ofMember}`,
    caller: 'known',
    params: ofTeam.extend({ email: Email }),
    query: z.strictObject({ why: Why.optional() }),
    replies: { 204: nothing('The member is gone') },
    problems: ['forbidden', 'conflict'],
  },
  previewMigration: {
    method: 'GET',
    path: '/teams/{teamId}/migration',
    tag: 'Migration',
    summary: 'What a migration would do; changes nothing. Its ETag may be sent with the migration in If-Match',
    description:
      'For whoever may migrate the team there. It names who would stay, who would leave with `force`, and why it would be refused without. A caller who is no member of the team gets their numbers in `counts`, and no names. It counts as a change, in the limit of changes a minute.',
    caller: 'known',
    params: ofTeam,
    query: z.strictObject({ organizationId: OrganizationId.meta({ description: 'Where the team would move' }) }),
    replies: {
      200: {
        ...json('What would stay and leave', MigrationPreview),
        headers: {
          ETag: 'Changes with the team, its members, who of them belongs to the organization, and the bootstraps that move',
        },
      },
    },
    problems: ['forbidden', 'too-many'],
  },
  migrateTeam: {
    method: 'POST',
    path: '/teams/{teamId}/migrate',
    tag: 'Migration',
    summary: 'Moves a standalone team into an organization',
    description:
      'For admins of the organization who are admins of the team, too. Some deployments ask for no consent of the team: there they migrate any team that has no living projects. Otherwise propose a transfer, which an admin of the team accepts. Members of the team who are not in the organization make it a 400 that lists them in `members`, and nothing changes; with `force` they leave the team. A team that is in that organization already is answered 200, one that is in another 409.',
    caller: 'known',
    params: ofTeam,
    headers: ifMatch,
    body: Migration,
    replies: { 200: json('The team, now in the organization', MigrationReply) },
    problems: ['members-outside', 'forbidden', 'conflict', 'precondition-failed', 'key-reused', 'too-many'],
  },
  proposeTransfer: {
    method: 'POST',
    path: '/teams/{teamId}/transfers',
    tag: 'Migration',
    summary: 'Proposes that a team goes into an organization, on to another one, or out of its organization',
    description:
      'The two sides are who the team belongs to and where it goes: admins of its organization, or of the team where it stands alone; and admins of the organization that it goes to, or of the team where it is to stand alone. An admin of both moves it at once (200). Otherwise the proposal waits 14 days for the other side (201). Whoever cannot see the team learns nothing of it: the proposal is taken also where there is no such team.',
    caller: 'known',
    params: ofTeam,
    headers: idempotency,
    body: NewTransfer,
    replies: { 200: json('The team, where it is now', MigrationReply), 201: json('The proposal', Transfer) },
    problems: ['members-outside', 'forbidden', 'conflict', 'key-reused', 'too-many'],
  },
  listTransfers: {
    method: 'GET',
    path: '/teams/{teamId}/transfers',
    tag: 'Migration',
    summary: 'The proposals that wait for an answer',
    description: 'For admins of the team and of its organization. Whole, or with `limit` in pages.',
    caller: 'known',
    params: ofTeam,
    query: paging,
    replies: { 200: list('The proposals', Transfer) },
    problems: ['forbidden'],
  },
  acceptTransfer: {
    method: 'POST',
    path: '/teams/{teamId}/transfers/{transferId}/accept',
    tag: 'Migration',
    summary: 'Agrees to a proposal: the team moves',
    description:
      'For admins of the side that did not propose it. What holds for a migration holds here: members outside make it a 400, unless the proposal says `force`. If the proposer is no admin any more, it is a 409.',
    caller: 'known',
    params: ofTransfer,
    headers: idempotency,
    replies: { 200: json('The team, where it is now', MigrationReply) },
    problems: ['members-outside', 'forbidden', 'conflict', 'key-reused'],
  },
  refuseTransfer: {
    method: 'POST',
    path: '/teams/{teamId}/transfers/{transferId}/refuse',
    tag: 'Migration',
    summary: 'Refuses a proposal, or takes an own one back',
    description: 'For admins of either side, and for who proposed it. The proposal is gone then.',
    caller: 'known',
    params: ofTransfer,
    headers: idempotency,
    replies: { 204: nothing('The proposal is gone') },
    problems: ['forbidden', 'conflict', 'key-reused'],
  },
  previewUndo: {
    method: 'GET',
    path: '/teams/{teamId}/migrations/{migrationId}/undo',
    tag: 'Migration',
    summary: 'What the undo of a migration would do; changes nothing. Its ETag may be sent with the undo in If-Match',
    description:
      'For whoever may undo it. It names every difference: who comes back, who leaves, whose role changes, and who gains and loses access to which bootstrap. A former admin who does not see the team any more gets the number of those who leave, and no names. It counts as a change, in the limit of changes a minute. Only the migration that brought the team into its present organization can be undone (409), within 30 days.',
    caller: 'known',
    params: ofMigration,
    replies: {
      200: {
        ...json('What would change', UndoPreview),
        headers: { ETag: 'Changes with the team, its members and the bootstraps that move' },
      },
    },
    problems: ['forbidden', 'conflict', 'too-many'],
  },
  undoMigration: {
    method: 'POST',
    path: '/teams/{teamId}/migrations/{migrationId}/undo',
    tag: 'Migration',
    summary: 'Undoes a migration: the team stands alone again, with the members and roles that it had',
    description:
      'For whoever may migrate the team into that organization, and for those who were its admins before, also where they were removed by it. While the team has living projects, only its present admins and those of its organization may. Within 30 days. A team that was made in its organization, or has left it, is a 409.',
    caller: 'known',
    params: ofMigration,
    headers: ifMatch,
    replies: { 200: json('The team, which stands alone now', Detached) },
    problems: ['forbidden', 'conflict', 'precondition-failed', 'key-reused'],
  },
  detachTeam: {
    method: 'POST',
    path: '/teams/{teamId}/detach',
    tag: 'Migration',
    summary: 'Takes a team out of its organization',
    description:
      'For operators of the deployment. The members are again those that the team had before it was migrated, with the roles that they had; a team that was made in the organization keeps those that it has. A team that stands alone, or would have no admin, is answered 409.',
    caller: 'known',
    params: ofTeam,
    headers: idempotency,
    replies: { 200: json('The team, which stands alone now', Detached) },
    problems: ['forbidden', 'conflict', 'key-reused'],
  },
} as const satisfies RouteTable;
