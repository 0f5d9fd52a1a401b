/** For how long a delete can be taken back. Afterwards Firestore removes the documents by their `expireAt`. */
import { addSeconds } from '../../shared/add-seconds.js';
import { collections } from '../../shared/names.js';
import { restorableDays } from '../../shared/organization/organization.js';
import { Problem } from '../../shared/problems.js';
import type { Clock } from '../host/clock.js';
import type { Write } from '../store/store.js';
import { type OrganizationRecord, organizationMemberId, type TeamRecord, teamMemberId } from './documents.js';

type Deletable = Pick<OrganizationRecord | TeamRecord, 'deletedAt' | 'expireAt'>;

/** The fields of what is deleted now. */
export function deletedNow(clock: Clock): { readonly deletedAt: string; readonly expireAt: string } {
  const now = clock.now();
  return { deletedAt: now.toISOString(), expireAt: addSeconds(now, restorableDays * 86_400) };
}

export const isRestorable = (clock: Clock, { expireAt }: Deletable): boolean =>
  expireAt !== undefined && Date.parse(expireAt) > clock.now().getTime();

/** Who may restore it learns that it is too late. */
export function checkRestorable(clock: Clock, deleted: Deletable, what: string): void {
  if (isRestorable(clock, deleted)) return;
  throw new Problem('conflict', `${what} was deleted more than ${restorableDays} days ago, and is gone.`, {
    advice: 'Make a new one.',
  });
}

/** Lets the memberships expire with what they are of, or keeps them again. */
export const expiryOfOrganizationMember = (organizationId: string, email: string, expireAt?: string): Write => ({
  kind: 'update',
  collection: collections.organizationMembers,
  id: organizationMemberId(organizationId, email),
  data: { expireAt },
});
export const expiryOfTeamMember = (teamId: number, email: string, expireAt?: string): Write => ({
  kind: 'update',
  collection: collections.teamMembers,
  id: teamMemberId(teamId, email),
  data: { expireAt },
});
