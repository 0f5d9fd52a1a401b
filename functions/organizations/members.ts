/** The members of an organization: shows them, adds them, changes their roles. Called by functions/http/organizations.ts. */
import { collections } from '../../shared/names.js';
import type { Member, Role } from '../../shared/organization/organization.js';
import { Problem } from '../../shared/problems.js';
import type { Context } from '../context.js';
import type { Caller } from '../http/auth.js';
import type { Write } from '../store/store.js';
import { liftOrganizationMember, type OrganizationMemberRecord, organizationMemberId } from './documents.js';
import { eventWrite } from './events.js';
import { keepingAnAdmin } from './last-admin.js';
import { type Page, type Paged, pageOf } from './page.js';
import { checkAdmin, readOrganizationMembers, standingIn, standingOf } from './standing.js';
import { type Also, transact } from './transact.js';

export const viewOfMember = ({ email, role }: Member): Member => ({ email, role });

export function newMember(organizationId: string, email: string, role: Role, addedAt: string): Write {
  const data: OrganizationMemberRecord = {
    schema: 1,
    organizationId,
    email,
    role,
    governs: role === 'admin',
    addedAt,
  };
  const id = organizationMemberId(organizationId, email);
  return { kind: 'create', collection: collections.organizationMembers, id, data };
}

export const noMember = (email: string): Problem => new Problem('not-found', `${email} is no member.`);

const isLeaving = (email: string): Problem =>
  new Problem('conflict', `${email} is just being removed from the organization.`, {
    advice:
      'Try again in a moment; if that does not help, remove them once more, which finishes a removal that stopped half-way.',
  });

/** By e-mail. */
export async function listOrganizationMembers(
  { store }: Context,
  caller: Caller,
  organizationId: string,
  page: Page,
): Promise<Paged<Member>> {
  await standingIn(store, caller, organizationId);
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
  /** False: was a member with that role already. */
  readonly added: boolean;
}

export const otherRole = ({ email, role }: Member, advice: string): Problem =>
  new Problem('conflict', `${email} is a member already, as ${role}.`, { advice });

export const addOrganizationMember = (
  context: Context,
  caller: Caller,
  organizationId: string,
  { email, role }: Member,
  also?: Also<Added>,
): Promise<Added> =>
  transact(
    context,
    async (transaction) => {
      const members = await readOrganizationMembers(transaction, organizationId, [caller.email, email]);
      checkAdmin(await standingOf(transaction, caller, organizationId, members.get(caller.email)), 'organization');
      const standing = members.get(email);
      if (standing?.leaving !== undefined) throw isLeaving(email);
      if (standing?.role === role) return { member: { email, role }, added: false };
      if (standing !== undefined) throw otherRole(standing, 'Set the role of the member instead.');
      transaction.write(
        newMember(organizationId, email, role, context.clock.now().toISOString()),
        eventWrite(context, {
          organizationId,
          actor: caller.email,
          action: 'member-added',
          email,
          before: null,
          after: { email, role },
        }),
      );
      return { member: { email, role }, added: true };
    },
    also,
  );

export const setOrganizationMemberRole = (
  context: Context,
  caller: Caller,
  organizationId: string,
  { email, role }: Member,
): Promise<Member> =>
  keepingAnAdmin(context, organizationId, email, async (transaction, checkAnother) => {
    const members = await readOrganizationMembers(transaction, organizationId, [caller.email, email]);
    checkAdmin(await standingOf(transaction, caller, organizationId, members.get(caller.email)), 'organization');
    const member = members.get(email);
    if (member === undefined) throw noMember(email);
    if (member.leaving !== undefined) throw isLeaving(email);
    if (member.role === role) return { email, role };
    if (member.governs) await checkAnother();
    transaction.write(
      {
        kind: 'update',
        collection: collections.organizationMembers,
        id: organizationMemberId(organizationId, email),
        data: { role, governs: role === 'admin' },
      },
      eventWrite(context, {
        organizationId,
        actor: caller.email,
        action: 'member-role-changed',
        email,
        before: viewOfMember(member),
        after: { email, role },
      }),
    );
    return { email, role };
  });
