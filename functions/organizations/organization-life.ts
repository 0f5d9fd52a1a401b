/**
 * Renames, deletes and restores an organization. An organization with teams is not deleted. A transaction cannot query, so a
 * deletion has three steps. Find its teams, and refuse if there are any. Mark the organization, after which no team comes in.
 * Find its teams again, then delete it. The mark is a lease: if the deletion dies, the mark is void after its end.
 */
import { collections } from '../../shared/names.js';
import { mostRestored, type Organization } from '../../shared/organization/organization.js';
import { Problem } from '../../shared/problems.js';
import type { Context } from '../context.js';
import type { Clock } from '../host/clock.js';
import type { Caller } from '../identity/auth.js';
import { read } from '../store/lift.js';
import type { Write } from '../store/store.js';
import { asAdmin } from './change.js';
import {
  liftOrganizationMember,
  liftTeam,
  type OrganizationMemberRecord,
  type OrganizationRecord,
  type TeamRecord,
  teamDocumentId,
} from './documents.js';
import { eventWrite } from './events/events.js';
import { BeingRemoved } from './members/leaving.js';
import { bindWrites } from './members/membership.js';
import { viewOfOrganization } from './organizations.js';
import { checkRestorable, deletedNow, expiryOfOrganizationMember } from './restorable.js';
import {
  checkAdmin,
  readOrganizationMembers,
  readOrganizationWithDeleted,
  seeOrganization,
  seeOrganizationWithDeleted,
} from './rights.js';
import { busy, transactInOrganization } from './transact.js';

const leaseSeconds = 20;
const rounds = 8;
/** A refusal names no more of them. */
const teamsNamed = 5;

const change = ({ id }: Pick<OrganizationRecord, 'id'>, data: Partial<OrganizationRecord>): Write => ({
  kind: 'update',
  collection: collections.organizations,
  id,
  data,
});
const unmarked = { deleting: undefined, deletingUntil: undefined };

/**
 * For a change that brings a team into the organization. The write that clears an expired mark, or no write without a mark.
 * Throws `BeingRemoved` while the mark lasts.
 */
export function openWrites(clock: Clock, organization: OrganizationRecord): Write[] {
  const { id, deleting, deletingUntil = organization.createdAt } = organization;
  if (deleting === undefined) return [];
  const leftMs = Date.parse(deletingUntil) - clock.now().getTime();
  if (leftMs <= 0) return [change(organization, unmarked)];
  throw new BeingRemoved(
    `Organization ${id} is just being deleted.`,
    Math.ceil(leftMs / 1000),
    'Try again in a moment.',
  );
}

export const renameOrganization = (
  context: Context,
  caller: Caller,
  organizationId: string,
  name: string,
): Promise<Organization> =>
  transactInOrganization(
    context,
    organizationId,
    asAdmin(caller, organizationId, [], ({ organization, role }) => {
      if (organization.name === name) return { result: viewOfOrganization(organization, role) };
      const renamed = { ...organization, name };
      return {
        result: viewOfOrganization(renamed, role),
        writes: [change(organization, { name })],
        events: [
          {
            action: 'organization-renamed',
            before: viewOfOrganization(organization, undefined),
            after: viewOfOrganization(renamed, undefined),
          },
        ],
      };
    }),
  );

export async function deleteOrganization(
  context: Context,
  caller: Caller,
  organizationId: string,
): Promise<Organization> {
  for (let round = 1; round <= rounds; round++) {
    await checkMayDelete(context, caller, organizationId);
    const teams = await teamsOf(context, organizationId);
    const mark = await markDeleting(context, caller, organizationId, teams);
    if (mark === undefined) continue;
    if ((await teamsOf(context, organizationId)).length > 0) {
      await unmark(context, organizationId, mark);
      continue;
    }
    const members = await membersOf(context, organizationId);
    if (members.length > mostRestored) {
      await unmark(context, organizationId, mark);
      throw tooManyMembers(members.length);
    }
    const deleted = await deleteMarked(context, caller, { organizationId, mark, members });
    if (deleted !== undefined) return deleted;
  }
  throw busy();
}

/** Before anything is looked for. The transaction that marks the organization checks again. */
async function checkMayDelete({ store }: Context, caller: Caller, organizationId: string): Promise<void> {
  checkAdmin(await seeOrganization(store, caller, organizationId), 'organization');
}

async function teamsOf({ store }: Context, organizationId: string): Promise<TeamRecord[]> {
  const found = await store.query({
    collection: collections.teams,
    where: [['organizationId', '==', organizationId]],
    orderBy: ['teamId', 'asc'],
    limit: teamsNamed + 1,
  });
  return found.map(({ data }) => liftTeam(data));
}

async function membersOf({ store }: Context, organizationId: string): Promise<OrganizationMemberRecord[]> {
  const found = await store.query({
    collection: collections.organizationMembers,
    where: [['organizationId', '==', organizationId]],
    orderBy: ['email', 'asc'],
    limit: mostRestored + 1,
  });
  return found.map(({ data }) => liftOrganizationMember(data));
}

/** `found` are teams that an earlier query saw. Undefined if none of them is there any more. */
const markDeleting = (
  context: Context,
  caller: Caller,
  organizationId: string,
  found: readonly TeamRecord[],
): Promise<string | undefined> =>
  transactInOrganization(
    context,
    organizationId,
    asAdmin(caller, organizationId, [], async ({ organization }, transaction) => {
      if (found.length > 0) {
        const ids = found.map(({ teamId }) => teamDocumentId(teamId));
        const standing = (await transaction.getMany(collections.teams, ids))
          .flatMap((each) => read(each, liftTeam)?.data ?? [])
          .filter((team) => team.organizationId === organizationId);
        if (standing.length > 0) throw hasTeams(organization, standing);
        return { result: undefined };
      }
      const mark = context.random.uuid();
      const deletingUntil = new Date(context.clock.now().getTime() + leaseSeconds * 1000).toISOString();
      return {
        result: mark,
        writes: [...openWrites(context.clock, organization), change(organization, { deleting: mark, deletingUntil })],
      };
    }),
  );

function hasTeams({ name }: OrganizationRecord, teams: readonly TeamRecord[]): Problem {
  const named = teams.slice(0, teamsNamed).map(({ teamId, name: called }) => ({ teamId, name: called }));
  const rest = teams.length > teamsNamed ? ', and more' : '';
  return new Problem(
    'conflict',
    `Organization ${name} still has teams: ${named.map((team) => `${team.teamId} (${team.name})`).join(', ')}${rest}.`,
    { advice: 'Delete these teams, or take them out of the organization, first.', members: { teams: named } },
  );
}

const tooManyMembers = (members: number): Problem =>
  new Problem('conflict', `The organization has at least ${members} members, too many to delete at once.`, {
    advice: `Remove members until there are ${mostRestored}.`,
  });

const unmark = (context: Context, organizationId: string, mark: string): Promise<void> =>
  transactInOrganization(context, organizationId, async (transaction) => {
    const organization = await readOrganizationWithDeleted(transaction, organizationId);
    if (organization?.deleting === mark) transaction.write(change(organization, unmarked));
  });

interface Marked {
  readonly organizationId: string;
  readonly mark: string;
  readonly members: readonly OrganizationMemberRecord[];
}

/** Undefined if the mark is no longer this deletion's. */
const deleteMarked = (
  context: Context,
  caller: Caller,
  { organizationId, mark, members }: Marked,
): Promise<Organization | undefined> => {
  const emails = members.map(({ email }) => email);
  return transactInOrganization(
    context,
    organizationId,
    asAdmin(caller, organizationId, emails, ({ organization, role, members: still }) => {
      if (organization.deleting !== mark) return { result: undefined };
      const gone = deletedNow(context.clock);
      return {
        result: viewOfOrganization({ ...organization, ...gone }, role),
        writes: [
          change(organization, { ...gone, ...unmarked }),
          // Who has left since the query has no document any more.
          ...emails
            .filter((email) => still.has(email))
            .map((email) => expiryOfOrganizationMember(organizationId, email, gone.expireAt)),
        ],
        events: [{ action: 'organization-deleted', before: viewOfOrganization(organization, undefined), after: null }],
      };
    }),
  );
};

/** For its admins and operators. An organization that is not deleted stays as it is. */
export async function restoreOrganization(
  context: Context,
  caller: Caller,
  organizationId: string,
): Promise<Organization> {
  // Nobody joins or leaves a deleted organization, but a removal that was under way may still end.
  checkAdmin(await seeOrganizationWithDeleted(context.store, caller, organizationId), 'organization');
  const emails = (await membersOf(context, organizationId)).map(({ email }) => email);
  return transactInOrganization(context, organizationId, async (transaction) => {
    const seen = await seeOrganizationWithDeleted(transaction, caller, organizationId);
    checkAdmin(seen, 'organization');
    const { organization, role, own } = seen;
    if (organization.deletedAt === undefined) return viewOfOrganization(organization, role);
    checkRestorable(context.clock, organization, `Organization ${organization.name}`);
    const still = await readOrganizationMembers(transaction, organizationId, emails);
    const { deletedAt: _, ...restored } = organization;
    transaction.write(
      ...bindWrites(caller, own),
      change(organization, { deletedAt: undefined, expireAt: undefined }),
      ...[...still.keys()].map((email) => expiryOfOrganizationMember(organizationId, email)),
      eventWrite(transaction, {
        organizationId,
        actor: caller.email,
        action: 'organization-restored',
        before: null,
        after: viewOfOrganization(restored, undefined),
      }),
    );
    return viewOfOrganization(restored, role);
  });
}
