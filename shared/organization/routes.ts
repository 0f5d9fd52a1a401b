/** The route table of the organization API; read by the router, the CLI's client, the OpenAPI document and the tests. */
import * as z from 'zod';
import { flag, json, type Reply, type RouteTable } from '../api.js';
import { pageHeaders, pageQuery } from '../paging.js';
import { Email } from './email.js';
import {
  Member,
  NewMember,
  NewOrganization,
  NewRole,
  Organization,
  OrganizationEvent,
  OrganizationId,
} from './organization.js';
import { Migration, MigrationPreview, MigrationReply, NewTeam, Team, TeamId } from './team.js';

const nothing = (description: string): Reply => ({ description, type: 'application/json', schema: z.undefined() });
const created = (description: string, schema: z.ZodType): Reply => ({
  ...json(description, schema),
  headers: { Location: 'Path of what was made' },
});
const list = (description: string, schema: z.ZodType): Reply => ({
  ...json(description, z.array(schema)),
  headers: pageHeaders,
});

/** On any POST: the same key and body within a day gives the first answer again. */
const idempotency = z.object({
  'idempotency-key': z
    .string()
    .regex(/^[\x20-\x7e]{1,255}$/, 'must have 1 to 255 printable ASCII characters')
    .optional(),
});

const paging = z.strictObject(pageQuery);
const ofOrganization = z.strictObject({ organizationId: OrganizationId });
const teamId = z
  .string()
  .regex(/^\d{1,10}$/, 'must be a positive integer')
  .transform(Number)
  .pipe(TeamId);
const ofTeam = z.strictObject({ teamId });

export const organizationRoutes = {
  createOrganization: {
    method: 'POST',
    path: '/organizations',
    summary: 'Makes an organization; the caller is its first admin',
    caller: 'known',
    headers: idempotency,
    body: NewOrganization,
    replies: { 201: created('The organization', Organization) },
    problems: ['forbidden', 'conflict', 'key-reused'],
  },
  listOrganizations: {
    method: 'GET',
    path: '/organizations',
    summary: 'The organizations that the caller belongs to',
    caller: 'known',
    query: paging,
    replies: { 200: list('The organizations', Organization) },
    problems: [],
  },
  getOrganization: {
    method: 'GET',
    path: '/organizations/{organizationId}',
    summary: 'One organization',
    caller: 'known',
    params: ofOrganization,
    replies: { 200: json('The organization', Organization) },
    problems: [],
  },
  listOrganizationMembers: {
    method: 'GET',
    path: '/organizations/{organizationId}/members',
    summary: 'The members of an organization',
    caller: 'known',
    params: ofOrganization,
    query: paging,
    replies: { 200: list('The members', Member) },
    problems: [],
  },
  addOrganizationMember: {
    method: 'POST',
    path: '/organizations/{organizationId}/members',
    summary: 'Adds a member to an organization',
    caller: 'known',
    params: ofOrganization,
    headers: idempotency,
    body: NewMember,
    replies: { 200: json('Was a member with that role already', Member), 201: json('The new member', Member) },
    problems: ['forbidden', 'conflict', 'key-reused'],
  },
  setOrganizationMemberRole: {
    method: 'PUT',
    path: '/organizations/{organizationId}/members/{email}/role',
    summary: "Changes a member's role",
    caller: 'known',
    params: ofOrganization.extend({ email: Email }),
    body: NewRole,
    replies: { 200: json('The member', Member) },
    problems: ['forbidden', 'conflict'],
  },
  removeOrganizationMember: {
    method: 'DELETE',
    path: '/organizations/{organizationId}/members/{email}',
    summary: 'Removes a member; with force=true also from the teams of the organization',
    caller: 'known',
    params: ofOrganization.extend({ email: Email }),
    query: z.strictObject({ force: flag }),
    replies: { 204: nothing('The member is gone') },
    problems: ['forbidden', 'conflict'],
  },
  listOrganizationTeams: {
    method: 'GET',
    path: '/organizations/{organizationId}/teams',
    summary: 'The teams of an organization, migrated ones included',
    caller: 'known',
    params: ofOrganization,
    query: paging,
    replies: { 200: list('The teams', Team) },
    problems: [],
  },
  listOrganizationEvents: {
    method: 'GET',
    path: '/organizations/{organizationId}/events',
    summary: 'Who did what when, newest first',
    caller: 'known',
    params: ofOrganization,
    query: paging,
    replies: { 200: list('The events', OrganizationEvent) },
    problems: ['forbidden'],
  },
  createTeam: {
    method: 'POST',
    path: '/teams',
    summary: 'Makes a team, standalone or in an organization; the caller is its first admin',
    caller: 'known',
    headers: idempotency,
    body: NewTeam,
    replies: { 201: created('The team', Team) },
    problems: ['forbidden', 'conflict', 'key-reused'],
  },
  listTeams: {
    method: 'GET',
    path: '/teams',
    summary: 'The teams that the caller belongs to',
    caller: 'known',
    query: paging,
    replies: { 200: list('The teams', Team) },
    problems: [],
  },
  getTeam: {
    method: 'GET',
    path: '/teams/{teamId}',
    summary: 'One team',
    caller: 'known',
    params: ofTeam,
    replies: { 200: json('The team', Team) },
    problems: [],
  },
  listTeamMembers: {
    method: 'GET',
    path: '/teams/{teamId}/members',
    summary: 'The members of a team',
    caller: 'known',
    params: ofTeam,
    query: paging,
    replies: { 200: list('The members', Member) },
    problems: [],
  },
  addTeamMember: {
    method: 'POST',
    path: '/teams/{teamId}/members',
    summary: 'Adds a member to a team; in an organization only a member of it',
    caller: 'known',
    params: ofTeam,
    headers: idempotency,
    body: NewMember,
    replies: { 200: json('Was a member with that role already', Member), 201: json('The new member', Member) },
    problems: ['forbidden', 'conflict', 'key-reused'],
  },
  removeTeamMember: {
    method: 'DELETE',
    path: '/teams/{teamId}/members/{email}',
    summary: 'Removes a member from a team',
    caller: 'known',
    params: ofTeam.extend({ email: Email }),
    replies: { 204: nothing('The member is gone') },
    problems: ['forbidden', 'conflict'],
  },
  previewMigration: {
    method: 'GET',
    path: '/teams/{teamId}/migration',
    summary: 'What a migration would do; changes nothing. Its ETag may be sent with the migration in If-Match',
    caller: 'known',
    params: ofTeam,
    query: z.strictObject({ organizationId: OrganizationId }),
    replies: {
      200: {
        ...json('What would stay and leave', MigrationPreview),
        headers: { ETag: 'Changes with the team, its members, and who of them belongs to the organization' },
      },
    },
    problems: ['forbidden'],
  },
  migrateTeam: {
    method: 'POST',
    path: '/teams/{teamId}/migrate',
    summary: 'Moves a standalone team into an organization',
    caller: 'known',
    params: ofTeam,
    headers: idempotency.extend({ 'if-match': z.string().max(1000).optional() }),
    body: Migration,
    replies: { 200: json('The team, now in the organization', MigrationReply) },
    problems: ['members-outside', 'forbidden', 'conflict', 'precondition-failed', 'key-reused'],
  },
} as const satisfies RouteTable;
