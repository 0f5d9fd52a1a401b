/** Shows and adds the members of an organization, and changes their roles. */
import { collections } from '../../../shared/names.js';
import type { Member } from '../../../shared/organization/organization.js';
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import type { Caller } from '../../identity/auth.js';
import { read } from '../../store/lift.js';
import type { Transaction, Write } from '../../store/store.js';
import { asAdmin } from '../change.js';
import {
  liftMemberVersion,
  liftOrganizationMember,
  type OrganizationMemberRecord,
  organizationMemberId,
} from '../documents.js';
import { type Page, type Paged, pageOf } from '../page.js';
import { seeOrganization } from '../rights.js';
import { transact } from '../transact.js';
import { endOfInvitation, readInvitations } from './invitation-documents.js';
import { keepingAnAdmin } from './last-admin.js';
import { stayWrites } from './leaving.js';

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

/** The versions of added members, in their order. Each continues where an earlier membership ended. */
export async function firstVersions(
  transaction: Transaction,
  organizationId: string,
  emails: readonly string[],
): Promise<number[]> {
  const ids = emails.map((email) => organizationMemberId(organizationId, email));
  const ended = await transaction.getMany(collections.organizationMemberVersions, ids);
  return ended.map((each) => (read(each, liftMemberVersion)?.data.version ?? 0) + 1);
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

/** What becomes of an organization by new members. They are invited no longer. */
export async function additions(
  { clock }: Pick<Context, 'clock'>,
  transaction: Transaction,
  organizationId: string,
  added: readonly Member[],
) {
  const emails = added.map(({ email }) => email);
  const versions = await firstVersions(transaction, organizationId, emails);
  const invitations = await readInvitations(transaction, organizationId, emails);
  const addedAt = clock.now().toISOString();
  const records = added.map(({ email, role }, i) => ({
    organizationId,
    email,
    role,
    addedAt,
    version: versions[i] ?? 1,
  }));
  return {
    writes: [...records.map(newMember), ...[...invitations.values()].map(endOfInvitation)],
    events: records.map(
      ({ email, role, version }) =>
        ({ action: 'member-added', email, version, before: null, after: { email, role } }) as const,
    ),
  };
}

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
      return { result: outcome(true), ...(await additions(context, transaction, organizationId, [{ email, role }])) };
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
      const version = member.version + 1;
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
