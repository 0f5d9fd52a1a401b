/** Shows and adds the members of an organization, and changes their roles. */
import { collections } from '../../shared/names.js';
import type { Member } from '../../shared/organization/organization.js';
import { Problem } from '../../shared/problems.js';
import type { Context } from '../context.js';
import type { Caller } from '../identity/auth.js';
import { read } from '../store/lift.js';
import type { Transaction, Write } from '../store/store.js';
import { asAdmin } from './change.js';
import {
  liftMemberVersion,
  liftOrganizationMember,
  type OrganizationMemberRecord,
  organizationMemberId,
} from './documents.js';
import { endOfInvitation, readInvitations } from './invitation-documents.js';
import { keepingAnAdmin } from './last-admin.js';
import { stayWrites } from './leaving.js';
import { type Page, type Paged, pageOf } from './page.js';
import { seeOrganization } from './rights.js';
import { transact } from './transact.js';

export const viewOfMember = ({ email, role }: Member): Member => ({ email, role });

/** `boundTo` is for a caller who creates their own membership. */
export function newMember(
  made: Pick<OrganizationMemberRecord, 'organizationId' | 'email' | 'role' | 'addedAt' | 'version' | 'boundTo'>,
): Write {
  const { organizationId, email, role } = made;
  const data: OrganizationMemberRecord = { schema: 1, ...made, governs: role === 'admin' };
  const id = organizationMemberId(organizationId, email);
  return { kind: 'create', collection: collections.organizationMembers, id, data };
}

/** The version of the next change to a member. */
export const nextVersion = ({ version = 1 }: Pick<OrganizationMemberRecord, 'version'>): number => version + 1;

/** The version of an added member. It continues where an earlier membership ended. */
export async function firstVersion(transaction: Transaction, organizationId: string, email: string): Promise<number> {
  const id = organizationMemberId(organizationId, email);
  const ended = await transaction.get(collections.organizationMemberVersions, id);
  return (read(ended, liftMemberVersion)?.data.version ?? 0) + 1;
}

export const noMember = (email: string): Problem => new Problem('not-found', `${email} is no member.`);

/** The members, by e-mail. */
export async function listOrganizationMembers(
  { store }: Context,
  caller: Caller,
  organizationId: string,
  page: Page,
): Promise<Paged<Member>> {
  await seeOrganization(store, caller, organizationId);
  const members = await pageOf(
    store,
    {
      collection: collections.organizationMembers,
      where: [['organizationId', '==', organizationId]],
      orderBy: ['email', 'asc'],
    },
    page,
    liftOrganizationMember,
  );
  return { ...members, items: members.items.map(viewOfMember) };
}

export interface Added {
  readonly member: Member;
  /** False if they were a member with that role already. */
  readonly added: boolean;
}

export const otherRole = ({ email, role }: Member, advice: string): Problem =>
  new Problem('conflict', `${email} is a member already, as ${role}.`, { advice });

export const addOrganizationMember = (
  context: Context,
  caller: Caller,
  organizationId: string,
  { email, role }: Member,
): Promise<Added> =>
  transact(
    context,
    asAdmin(caller, organizationId, [email], async ({ members }, transaction) => {
      const outcome = (added: boolean): Added => ({ member: { email, role }, added });
      const known = members.get(email);
      const stay = known === undefined ? [] : stayWrites(context.clock, known);
      if (known?.role === role) return { result: outcome(false), writes: stay };
      if (known !== undefined) throw otherRole(known, 'Set the role of the member instead.');
      const version = await firstVersion(transaction, organizationId, email);
      const invitations = await readInvitations(transaction, organizationId, [email]);
      const addedAt = context.clock.now().toISOString();
      return {
        result: outcome(true),
        writes: [
          ...[...invitations.values()].map(endOfInvitation),
          newMember({ organizationId, email, role, addedAt, version }),
        ],
        events: [{ action: 'member-added', email, version, before: null, after: { email, role } }],
      };
    }),
  );

export const setOrganizationMemberRole = (
  context: Context,
  caller: Caller,
  organizationId: string,
  { email, role }: Member,
): Promise<Member> =>
  keepingAnAdmin(context, organizationId, email, (checkAnother) =>
    asAdmin(caller, organizationId, [email], async ({ members }) => {
      const member = members.get(email);
      if (member === undefined) throw noMember(email);
      const stay = stayWrites(context.clock, member);
      if (member.role === role) return { result: { email, role }, writes: stay };
      if (member.role === 'admin') await checkAnother();
      const version = nextVersion(member);
      return {
        result: { email, role },
        writes: [
          {
            kind: 'update',
            collection: collections.organizationMembers,
            id: organizationMemberId(organizationId, email),
            data: { role, governs: role === 'admin', version, leaving: undefined, leavingUntil: undefined },
          },
        ],
        events: [
          { action: 'member-role-changed', email, version, before: viewOfMember(member), after: { email, role } },
        ],
      };
    }),
  );
