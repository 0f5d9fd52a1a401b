/** The half of the organization API's client that is about teams. */
import * as z from 'zod';
import type { Ceilings } from '../../shared/organization/ceilings.js';
import { AddedMembers, Member, type Role } from '../../shared/organization/organization.js';
import { organizationRoutes as routes } from '../../shared/organization/routes.js';
import {
  Detached,
  MigrationPreview,
  MigrationReply,
  Team,
  Transfer,
  UndoPreview,
} from '../../shared/organization/team.js';
import { type EventFilter, type Events, eventsOf } from './event-calls.js';
import type { AddedMember, Calls } from './organization-calls.js';

export interface TeamClient {
  /** The living ones, or those that can be restored. */
  teams(deleted?: boolean): Promise<Team[]>;
  createTeam(name: string, organizationId: string | undefined): Promise<Team>;
  renameTeam(teamId: number, name: string): Promise<Team>;
  team(teamId: number): Promise<Team>;
  /** All of them: one that is left out is removed. */
  setTeamCeilings(teamId: number, ceilings: Ceilings): Promise<Team>;
  /** Undefined if an earlier try, whose answer was lost, has deleted it. */
  deleteTeam(teamId: number): Promise<Team | undefined>;
  restoreTeam(teamId: number): Promise<MigrationReply>;
  setTeamRole(teamId: number, email: string, role: Role): Promise<Member>;
  teamMembers(teamId: number): Promise<Member[]>;
  /** Newest first, at most `most` of them. */
  teamEvents(teamId: number, most: number, filter: EventFilter): Promise<Events>;
  addTeamMember(teamId: number, email: string, role: Role | undefined): Promise<AddedMember>;
  addTeamMembers(teamId: number, members: readonly Member[]): Promise<AddedMembers>;
  removeTeamMember(teamId: number, email: string, why: string | undefined): Promise<void>;
  previewMigration(teamId: number, organizationId: string): Promise<{ preview: MigrationPreview; etag: string }>;
  /** The team where it is now, or the proposal that waits. Null: to stand alone. */
  proposeTransfer(teamId: number, organizationId: string | null, force: boolean): Promise<MigrationReply | Transfer>;
  transfers(teamId: number): Promise<Transfer[]>;
  acceptTransfer(teamId: number, organizationId: string | null): Promise<MigrationReply>;
  refuseTransfer(teamId: number, organizationId: string | null): Promise<void>;
  /** Of the migration that brought the team into its organization. */
  previewUndo(teamId: number): Promise<{ preview: UndoPreview; etag: string }>;
  /** Undoes it only if nothing has changed since the preview with that ETag. */
  undoMigration(teamId: number, migrationId: string, etag: string): Promise<Detached>;
  /** Restores the members that the team had before it was migrated. */
  detach(teamId: number): Promise<Detached>;
  /** Migrates only if nothing has changed since the preview with that ETag. */
  migrate(teamId: number, organizationId: string, force: boolean, etag: string): Promise<MigrationReply>;
}

const ofTransfer = (teamId: number, organizationId: string | null) => ({
  teamId: String(teamId),
  transferId: organizationId ?? 'standalone',
});

export const teamCalls = ({ ask, askPatiently, list, add, onlyDeleted }: Calls): TeamClient => ({
  teams: (deleted = false) => list(Team, routes.listTeams, {}, onlyDeleted(deleted)),
  createTeam: (name, organizationId) =>
    ask(Team, routes.createTeam, { body: { name, ...(organizationId !== undefined && { organizationId }) } }),
  renameTeam: (teamId, name) => ask(Team, routes.renameTeam, { params: { teamId: String(teamId) }, body: { name } }),
  team: (teamId) => ask(Team, routes.getTeam, { params: { teamId: String(teamId) } }),
  setTeamCeilings: (teamId, ceilings) =>
    ask(Team, routes.setTeamCeilings, { params: { teamId: String(teamId) }, body: ceilings }),
  deleteTeam: (teamId) => ask(Team.optional(), routes.deleteTeam, { params: { teamId: String(teamId) } }),
  restoreTeam: (teamId) => ask(MigrationReply, routes.restoreTeam, { params: { teamId: String(teamId) } }),
  setTeamRole: (teamId, email, role) =>
    ask(Member, routes.setTeamMemberRole, { params: { teamId: String(teamId), email }, body: { role } }),
  teamEvents: (teamId, most, filter) =>
    eventsOf({ askPatiently }, routes.listTeamEvents, { teamId: String(teamId) }, most, filter),
  teamMembers: (teamId) => list(Member, routes.listTeamMembers, { teamId: String(teamId) }),
  addTeamMember: (teamId, email, role) => add(routes.addTeamMember, { teamId: String(teamId) }, email, role),
  addTeamMembers: (teamId, members) =>
    ask(AddedMembers, routes.addTeamMembers, { params: { teamId: String(teamId) }, body: { members } }),
  removeTeamMember: (teamId, email, why) =>
    ask(z.undefined(), routes.removeTeamMember, {
      params: { teamId: String(teamId), email },
      query: why === undefined ? {} : { why },
    }),

  async previewMigration(teamId, organizationId) {
    const { data, headers } = await askPatiently(MigrationPreview, routes.previewMigration, {
      params: { teamId: String(teamId) },
      query: { organizationId },
    });
    return { preview: data, etag: headers.get('etag') ?? '*' };
  },
  proposeTransfer: (teamId, organizationId, force) =>
    ask(z.union([MigrationReply, Transfer]), routes.proposeTransfer, {
      params: { teamId: String(teamId) },
      body: { organizationId, force },
    }),
  transfers: (teamId) => list(Transfer, routes.listTransfers, { teamId: String(teamId) }),
  acceptTransfer: (teamId, organizationId) =>
    ask(MigrationReply, routes.acceptTransfer, { params: ofTransfer(teamId, organizationId) }),
  refuseTransfer: (teamId, organizationId) =>
    ask(z.undefined(), routes.refuseTransfer, { params: ofTransfer(teamId, organizationId) }),
  async previewUndo(teamId) {
    const { data, headers } = await askPatiently(UndoPreview, routes.previewUndo, {
      params: { teamId: String(teamId), migrationId: 'latest' },
    });
    return { preview: data, etag: headers.get('etag') ?? '*' };
  },
  undoMigration: (teamId, migrationId, etag) =>
    ask(Detached, routes.undoMigration, {
      params: { teamId: String(teamId), migrationId },
      headers: { 'if-match': etag },
    }),
  detach: (teamId) => ask(Detached, routes.detachTeam, { params: { teamId: String(teamId) } }),
  migrate: (teamId, organizationId, force, etag) =>
    ask(MigrationReply, routes.migrateTeam, {
      params: { teamId: String(teamId) },
      headers: { 'if-match': etag },
      body: { organizationId, force },
    }),
});
