/**
 * What each operation costs in documents, the unit that Firestore bills, without contention. The reference page prints it, and
 * a test counts it.
 */
import type { organizationRoutes } from '../../shared/organization/routes.js';
import { mostAdmins } from './moves/moved-bootstraps.js';

/** What the number of documents grows with. */
export type Counted =
  | 'listed'
  | 'members named'
  | 'members of the organization'
  | 'members of the team'
  | 'members that leave'
  | 'teams that hold the member';

/** At most `fixed + each.times × n`. */
export interface Documents {
  readonly fixed: number;
  readonly each?: { readonly times: number; readonly of: Counted };
}

export interface Cost {
  readonly reads: Documents;
  readonly writes: Documents;
}

const documents = (fixed: number, times = 0, of: Counted = 'listed'): Documents =>
  times === 0 ? { fixed } : { fixed, each: { times, of } };
const none = documents(0);

/**
 * Once the caller has changed something, their
 * membership is bound. That saves one write, or two in a team of an organization. What makes, invites or previews counts against the
 * limit of changes a minute: a read and a write, which operators and deployments without a limit are spared.
 */
export const operationCosts: Readonly<Record<keyof typeof organizationRoutes, Cost>> = {
  createOrganization: { reads: documents(2), writes: documents(4) },
  listOrganizations: { reads: documents(1, 2), writes: none },
  getOrganization: { reads: documents(2), writes: none },
  listOrganizationMembers: { reads: documents(3, 1), writes: none },
  renameOrganization: { reads: documents(2), writes: documents(3) },
  setOrganizationCeilings: { reads: documents(3), writes: documents(4) },
  deleteOrganization: {
    reads: documents(16, 2, 'members of the organization'),
    writes: documents(4, 1, 'members of the organization'),
  },
  restoreOrganization: {
    reads: documents(5, 2, 'members of the organization'),
    writes: documents(3, 1, 'members of the organization'),
  },
  addOrganizationMember: { reads: documents(6), writes: documents(5) },
  addOrganizationMembers: {
    reads: documents(3, 3, 'members named'),
    writes: documents(2, 3, 'members named'),
  },
  inviteMembers: { reads: documents(3, 2, 'members named'), writes: documents(2, 2, 'members named') },
  listInvitations: { reads: documents(3, 1), writes: none },
  resendInvitation: { reads: documents(4), writes: documents(4) },
  revokeInvitation: { reads: documents(3), writes: documents(3) },
  listOwnInvitations: { reads: documents(1, 2), writes: none },
  acceptInvitation: { reads: documents(4), writes: documents(3) },
  declineInvitation: { reads: documents(2), writes: documents(2) },
  // Two reads, unless it takes an admin away. Then it looks for another one.
  setOrganizationMemberRole: { reads: documents(11), writes: documents(3) },
  removeOrganizationMember: {
    reads: documents(20, 4, 'teams that hold the member'),
    writes: documents(4, 3, 'teams that hold the member'),
  },
  listOrganizationTeams: { reads: documents(3, 2), writes: none },
  // Plus the events of ten seconds before the end and before the beginning of the page.
  listOrganizationEvents: { reads: documents(13, 1), writes: none },
  // With a filter, as many as it takes to find them.
  listTeamEvents: { reads: documents(14, 1), writes: none },
  createTeam: { reads: documents(4), writes: documents(5) },
  listTeams: { reads: documents(1, 3), writes: none },
  getTeam: { reads: documents(3), writes: none },
  listTeamMembers: { reads: documents(4, 1), writes: none },
  renameTeam: { reads: documents(3), writes: documents(4) },
  setTeamCeilings: { reads: documents(5), writes: documents(5) },
  deleteTeam: {
    reads: documents(3, 1, 'members of the team'),
    writes: documents(4, 1, 'members of the team'),
  },
  restoreTeam: {
    reads: documents(5, 2, 'members of the team'),
    writes: documents(5, 1, 'members of the team'),
  },
  addTeamMembers: {
    reads: documents(4, 2, 'members named'),
    writes: documents(4, 2, 'members named'),
  },
  setTeamMemberRole: { reads: documents(5), writes: documents(5) },
  addTeamMember: { reads: documents(6), writes: documents(6) },
  removeTeamMember: { reads: documents(5), writes: documents(5) },
  previewMigration: { reads: documents(5, 2, 'members of the team'), writes: documents(1) },
  migrateTeam: {
    reads: documents(6, 2, 'members of the team'),
    writes: documents(4, 1, 'members that leave'),
  },
  proposeTransfer: {
    reads: documents(5, 2, 'members of the team'),
    writes: documents(7, 1, 'members that leave'),
  },
  listTransfers: { reads: documents(4, 1), writes: none },
  acceptTransfer: {
    reads: documents(9, 2, 'members of the team'),
    writes: documents(7, 1, 'members that leave'),
  },
  refuseTransfer: { reads: documents(5), writes: documents(5) },
  previewUndo: { reads: documents(5, 1, 'members of the team'), writes: documents(1) },
  undoMigration: {
    reads: documents(4, 1, 'members of the team'),
    writes: documents(5, 1, 'members that leave'),
  },
  detachTeam: {
    reads: documents(4, 1, 'members of the team'),
    writes: documents(3, 1, 'members that leave'),
  },
};

/**
 * Added by an Idempotency-Key: one write claims the key, one stores the answer. A repeated answer costs one read and no write.
 */
export const idempotencyCost = { writes: 2, readsAgain: 1 } as const;

/**
 * Added by each preview, and with If-Match by what it previews, for a team that has bootstraps. Whether they let a caller move
 * it who is no admin of it costs the first of them. Besides, these are read, removed
 * ones among them while they are kept, and each of their other teams with whoever comes or leaves.
 */
export const bootstrapsCost = { fixed: 2, mostAdmins } as const;
