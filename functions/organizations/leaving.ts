/**
 * The mark of a member who is being removed from an organization: a lease. While it lasts, whoever counts on the member waits.
 * Once it is over they are a member again, after its end has been written: so a removal that wakes late finds its mark gone.
 */
import { collections } from '../../shared/names.js';
import type { Clock } from '../context.js';
import type { Write } from '../store/store.js';
import { type OrganizationMemberRecord, organizationMemberId } from './documents.js';

const leaseSeconds = 20;

/** Thrown out of a transaction that must not go on before the removal is through; nothing is written. */
export class BeingRemoved extends Error {
  constructor(
    readonly email: string,
    readonly waitSeconds: number,
  ) {
    super(`${email} is being removed`);
  }
}

const change = ({ organizationId, email }: OrganizationMemberRecord, data: Record<string, unknown>): Write => ({
  kind: 'update',
  collection: collections.organizationMembers,
  id: organizationMemberId(organizationId, email),
  data,
});

export const markWrite = (clock: Clock, member: OrganizationMemberRecord, mark: string): Write =>
  change(member, {
    leaving: mark,
    leavingUntil: new Date(clock.now().getTime() + leaseSeconds * 1000).toISOString(),
    governs: false,
  });

export const unmarkWrite = (member: OrganizationMemberRecord): Write =>
  change(member, { leaving: undefined, leavingUntil: undefined, governs: member.role === 'admin' });

/** The write that ends a mark whose time is over; none where there is no mark. Throws `BeingRemoved` while it lasts. */
export function stayWrites(clock: Clock, member: OrganizationMemberRecord): Write[] {
  if (member.leaving === undefined) return [];
  const leftMs = Date.parse(member.leavingUntil ?? member.addedAt) - clock.now().getTime();
  if (leftMs > 0) throw new BeingRemoved(member.email, Math.ceil(leftMs / 1000));
  return [unmarkWrite(member)];
}
