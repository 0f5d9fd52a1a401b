/**
 * Ties a membership to one account. Each check of a caller's rights looks at the binding. The first change that the caller
 * makes sets it.
 */
import { collections } from '../../../shared/names.js';
import { type Account, bindingOf, isAnothers } from '../../identity/binding.js';
import type { Write } from '../../store/store.js';
import {
  type OrganizationMemberRecord,
  organizationMemberId,
  type TeamMemberRecord,
  teamMemberId,
} from '../documents.js';

export type Membership = OrganizationMemberRecord | TeamMemberRecord;

/** The membership belongs to another account with the caller's e-mail. refusal.ts answers it, outside of any transaction. */
export class NotTheirs extends Error {
  constructor(
    readonly membership: Membership,
    /** The organization whose admins read of it. Null for a standalone team. */
    readonly organizationId: string | null,
  ) {
    super('The membership is of another account');
  }
}

export const isTheirs = ({ boundTo }: Membership, caller: Account): boolean => !isAnothers(boundTo, caller);

export function checkTheirs(membership: Membership | undefined, caller: Account, organizationId: string | null): void {
  if (membership !== undefined && !isTheirs(membership, caller)) throw new NotTheirs(membership, organizationId);
}

/** The binding in a document that the caller creates for themselves. */
export function boundFields(caller: Account): { readonly boundTo?: string } {
  const boundTo = bindingOf(caller);
  return boundTo === undefined ? {} : { boundTo };
}

export const placeOf = (membership: Membership): { readonly collection: string; readonly id: string } =>
  'teamId' in membership
    ? { collection: collections.teamMembers, id: teamMemberId(membership.teamId, membership.email) }
    : {
        collection: collections.organizationMembers,
        id: organizationMemberId(membership.organizationId, membership.email),
      };

/** The writes that bind the caller's unbound memberships, to go with a change that the caller makes. */
export function bindWrites(caller: Account, ...own: readonly (Membership | undefined)[]): Write[] {
  const boundTo = bindingOf(caller);
  if (boundTo === undefined) return [];
  return own.flatMap((membership) =>
    membership === undefined || membership.boundTo !== undefined
      ? []
      : [{ kind: 'update', ...placeOf(membership), data: { boundTo } } as const],
  );
}
