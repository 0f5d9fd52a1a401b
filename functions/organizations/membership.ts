/** Whose a membership is: looked at wherever a caller's rights are, and settled by the first change that they make by it. */
import { collections } from '../../shared/names.js';
import { type Account, bindingOf, isAnothers } from '../identity/binding.js';
import type { Write } from '../store/store.js';
import {
  type OrganizationMemberRecord,
  organizationMemberId,
  type TeamMemberRecord,
  teamMemberId,
} from './documents.js';

export type Membership = OrganizationMemberRecord | TeamMemberRecord;

/** Thrown where a membership is of another account with the caller's e-mail. Answered by refusal.ts, outside of any transaction. */
export class NotTheirs extends Error {
  constructor(
    readonly membership: Membership,
    /** Whose admins are told; null: of a standalone team. */
    readonly organizationId: string | null,
  ) {
    super('The membership is of another account');
  }
}

export const isTheirs = ({ boundTo }: Membership, caller: Account): boolean => !isAnothers(boundTo, caller);

export function checkTheirs(membership: Membership | undefined, caller: Account, organizationId: string | null): void {
  if (membership !== undefined && !isTheirs(membership, caller)) throw new NotTheirs(membership, organizationId);
}

/** Of a document that the caller makes for themselves. */
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

/** Beside a change that the caller makes: binds those of their memberships that nobody has changed anything by. */
export function bindWrites(caller: Account, ...own: readonly (Membership | undefined)[]): Write[] {
  const boundTo = bindingOf(caller);
  if (boundTo === undefined) return [];
  return own.flatMap((membership) =>
    membership === undefined || membership.boundTo !== undefined
      ? []
      : [{ kind: 'update', ...placeOf(membership), data: { boundTo } } as const],
  );
}
