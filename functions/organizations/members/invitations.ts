/**
 * Invites people into an organization. They join by their own acceptance, within two weeks. plinth sends no mail: the webhook
 * tells of each invitation, and those invited see it in their own list.
 */
import { addSeconds } from '../../../shared/add-seconds.js';
import { collections } from '../../../shared/names.js';
import {
  type Invitation,
  type Invited,
  invitedDays,
  type Member,
  restorableDays,
} from '../../../shared/organization/organization.js';
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import type { Clock } from '../../host/clock.js';
import type { Caller } from '../../identity/auth.js';
import { read } from '../../store/lift.js';
import type { Transaction, Write } from '../../store/store.js';
import { asAdmin } from '../change.js';
import { type InvitationRecord, liftInvitation, liftOrganization, organizationMemberId } from '../documents.js';
import { eventWrite } from '../events/events.js';
import { type Page, type Paged, pageOf } from '../page.js';
import { checkAdmin, readOrganizationMembers, readOrganizationWithDeleted, seeOrganization } from '../rights.js';
import { transact } from '../transact.js';
import { endOfInvitation, readInvitations } from './invitation-documents.js';
import { stayWrites } from './leaving.js';
import { type Added, firstVersions, newMember, viewOfMember } from './members.js';
import { boundFields, checkTheirs } from './membership.js';

const daySeconds = 86_400;
const collection = collections.invitations;

function viewOf(clock: Clock, { schema: _, expireAt: __, ...invitation }: InvitationRecord, name?: string): Invitation {
  const isOver = Date.parse(invitation.expiresAt) <= clock.now().getTime();
  return { ...invitation, ...(name === undefined ? {} : { name }), state: isOver ? 'expired' : 'pending' };
}

/** Who is invited already is invited anew, with the role that is asked for now. Members stay as they are. */
export const inviteMembers = (
  context: Context,
  caller: Caller,
  organizationId: string,
  asked: readonly Member[],
): Promise<Invited> => {
  const emails = asked.map(({ email }) => email);
  return transact(
    context,
    asAdmin(caller, organizationId, emails, async ({ members }, transaction) => {
      const standing = await readInvitations(transaction, organizationId, emails);
      const fresh = asked.filter(({ email }) => !members.has(email));
      const records = fresh.map((each) => invitationNow(context.clock, caller, organizationId, each));
      return {
        result: {
          invited: records.map((record) => viewOf(context.clock, record)),
          members: [...members.values()].filter(({ email }) => emails.includes(email)).map(viewOfMember),
        },
        writes: records.map(writeOf),
        events: records.map((record) => invitedEvent(record, standing.get(record.email))),
      };
    }),
  );
};

function invitationNow(
  clock: Clock,
  caller: Caller,
  organizationId: string,
  { email, role }: Member,
): InvitationRecord {
  const now = clock.now();
  return {
    schema: 1,
    ...{ organizationId, email, role },
    invitedBy: caller.email,
    invitedAt: now.toISOString(),
    expiresAt: addSeconds(now, invitedDays * daySeconds),
    expireAt: addSeconds(now, (invitedDays + restorableDays) * daySeconds),
  };
}

const writeOf = (record: InvitationRecord): Write => ({
  kind: 'set',
  collection,
  id: organizationMemberId(record.organizationId, record.email),
  data: record,
});

const invitedEvent = (record: InvitationRecord, before: InvitationRecord | undefined) =>
  ({
    action: 'member-invited',
    email: record.email,
    before: before === undefined ? null : viewOfMember(before),
    after: viewOfMember(record),
  }) as const;

const noInvitation = (email: string): Problem => new Problem('not-found', `${email} is not invited.`);

/** The invitations that wait or have expired, by e-mail. For admins. */
export async function listInvitations(
  { store, clock }: Context,
  caller: Caller,
  organizationId: string,
  page: Page,
): Promise<Paged<Invitation>> {
  checkAdmin(await seeOrganization(store, caller, organizationId), 'organization');
  const found = await pageOf(
    store,
    { collection, where: [['organizationId', '==', organizationId]], orderBy: ['email', 'asc'] },
    page,
    liftInvitation,
  );
  return { ...found, items: found.items.map((each) => viewOf(clock, each)) };
}

/** The caller's own, by organization. */
export async function listOwnInvitations(
  { store, clock }: Context,
  { email }: Caller,
  page: Page,
): Promise<Paged<Invitation>> {
  const found = await pageOf(
    store,
    { collection, where: [['email', '==', email]], orderBy: ['organizationId', 'asc'] },
    page,
    liftInvitation,
  );
  const ids = found.items.map(({ organizationId }) => organizationId);
  const organizations = await store.getMany(collections.organizations, ids);
  const items = found.items.flatMap((each, i) => {
    const organization = read(organizations[i], liftOrganization)?.data;
    if (organization === undefined || organization.deletedAt !== undefined) return [];
    return [viewOf(clock, each, organization.name)];
  });
  return { ...found, items };
}

export const resendInvitation = (
  context: Context,
  caller: Caller,
  organizationId: string,
  email: string,
): Promise<Invitation> =>
  transact(
    context,
    asAdmin(caller, organizationId, [], async (_, transaction) => {
      const invitation = await readInvitation(transaction, organizationId, email);
      const record = invitationNow(context.clock, caller, organizationId, invitation);
      return {
        result: viewOf(context.clock, record),
        writes: [writeOf(record)],
        events: [invitedEvent(record, invitation)],
      };
    }),
  );

export const revokeInvitation = (
  context: Context,
  caller: Caller,
  organizationId: string,
  email: string,
): Promise<void> =>
  transact(
    context,
    asAdmin(caller, organizationId, [], async (_, transaction) => {
      const invitation = await readInvitation(transaction, organizationId, email);
      return {
        result: undefined,
        writes: [endOfInvitation(invitation)],
        events: [{ action: 'invitation-revoked', email, before: viewOfMember(invitation), after: null }],
      };
    }),
  );

async function readInvitation(
  transaction: Transaction,
  organizationId: string,
  email: string,
): Promise<InvitationRecord> {
  const invitation = (await readInvitations(transaction, organizationId, [email])).get(email);
  if (invitation === undefined) throw noInvitation(email);
  return invitation;
}

/** The caller's own invitation. That of a deleted organization is not there. */
async function invitationOf(transaction: Transaction, { email }: Caller, organizationId: string) {
  const organization = await readOrganizationWithDeleted(transaction, organizationId);
  const invitation = (await readInvitations(transaction, organizationId, [email])).get(email);
  const isThere = organization !== undefined && organization.deletedAt === undefined;
  return isThere ? { invitation, isThere } : { invitation: undefined, isThere };
}

/** The membership belongs to the accepting account from the beginning. Who is a member already stays as they are. */
export const acceptInvitation = (context: Context, caller: Caller, organizationId: string): Promise<Added> =>
  transact(context, async (transaction) => {
    const { email } = caller;
    const own = (await readOrganizationMembers(transaction, organizationId, [email])).get(email);
    const { invitation, isThere } = await invitationOf(transaction, caller, organizationId);
    if (isThere && own !== undefined) {
      checkTheirs(own, caller, organizationId);
      transaction.write(...stayWrites(context.clock, own));
      return { member: viewOfMember(own), added: false };
    }
    if (invitation === undefined) throw noInvitation(email);
    if (viewOf(context.clock, invitation).state === 'expired') {
      throw new Problem('conflict', `The invitation of ${email} has expired.`, {
        advice: `Ask ${invitation.invitedBy}, or another admin, to invite you again.`,
      });
    }
    const { role } = invitation;
    const [version = 1] = await firstVersions(transaction, organizationId, [email]);
    const addedAt = context.clock.now().toISOString();
    transaction.write(
      endOfInvitation(invitation),
      newMember({ organizationId, email, role, addedAt, version, ...boundFields(caller) }),
      eventWrite(transaction, {
        organizationId,
        actor: email,
        action: 'invitation-accepted',
        email,
        version,
        before: null,
        after: { email, role },
      }),
    );
    return { member: { email, role }, added: true };
  });

export const declineInvitation = (context: Context, caller: Caller, organizationId: string): Promise<void> =>
  transact(context, async (transaction) => {
    const { invitation } = await invitationOf(transaction, caller, organizationId);
    if (invitation === undefined) throw noInvitation(caller.email);
    transaction.write(
      endOfInvitation(invitation),
      eventWrite(transaction, {
        organizationId,
        actor: caller.email,
        action: 'invitation-declined',
        email: caller.email,
        before: viewOfMember(invitation),
        after: null,
      }),
    );
  });
