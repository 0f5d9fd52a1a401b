/**
 * Marks a member who is being removed from an organization. The mark is a lease. While it lasts, changes that depend on the
 * member wait. The first change after its end clears it, so a removal that wakes late finds its mark gone.
 */
import { collections } from '../../../shared/names.js';
import type { Clock } from '../../host/clock.js';
import type { Write } from '../../store/store.js';
import { type OrganizationMemberRecord, organizationMemberId } from '../documents.js';

const leaseSeconds = 20;

/** Aborts a transaction that must wait for the end of a removal. Nothing is written. */
export class BeingRemoved extends Error {
  /** `what` begins a sentence. `advice` says what else the caller can do. */
  constructor(
    readonly what: string,
    readonly waitSeconds: number,
    readonly advice: string,
  ) {
    super(what);
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

/** The write that clears an expired mark, or no write without a mark. Throws `BeingRemoved` while the mark lasts. */
export function stayWrites(clock: Clock, member: OrganizationMemberRecord): Write[] {
  if (member.leaving === undefined) return [];
  const leftMs = Date.parse(member.leavingUntil ?? member.addedAt) - clock.now().getTime();
  if (leftMs > 0) {
    throw new BeingRemoved(
      `${member.email} is just being removed from the organization.`,
      Math.ceil(leftMs / 1000),
      'Try again in a moment, or remove them once more, which finishes a removal that stopped half-way.',
    );
  }
  return [unmarkWrite(member)];
}
