/** The documents of invitations: each has the place of the membership that it may become. */
import { collections } from '../../../shared/names.js';
import { read } from '../../store/lift.js';
import type { Write } from '../../store/store.js';
import { type InvitationRecord, liftInvitation, organizationMemberId } from '../documents.js';
import type { Reader } from '../rights.js';

const collection = collections.invitations;

export async function readInvitations(
  reader: Reader,
  organizationId: string,
  emails: readonly string[],
): Promise<ReadonlyMap<string, InvitationRecord>> {
  const ids = emails.map((email) => organizationMemberId(organizationId, email));
  const found = (await reader.getMany(collection, ids)).flatMap((each) => read(each, liftInvitation)?.data ?? []);
  return new Map(found.map((each) => [each.email, each]));
}

export const endOfInvitation = ({ organizationId, email }: InvitationRecord): Write => ({
  kind: 'delete',
  collection,
  id: organizationMemberId(organizationId, email),
});
