/** Creates organizations and shows them. */
import { collections } from '../../shared/names.js';
import type { Organization, Role } from '../../shared/organization/organization.js';
import { Problem } from '../../shared/problems.js';
import type { Config } from '../config.js';
import type { Context } from '../context.js';
import type { Caller } from '../identity/auth.js';
import { read } from '../store/lift.js';
import { liftOrganization, liftOrganizationMember, type OrganizationRecord } from './documents.js';
import { eventWrite } from './events/events.js';
import { newMember } from './members/members.js';
import { boundFields, isTheirs } from './members/membership.js';
import { type Page, type Paged, pageOf } from './page.js';
import { isRestorable } from './restorable.js';
import { seeOrganization } from './rights.js';
import { transact } from './transact.js';

export const viewOfOrganization = (
  { id, name, createdAt, ceilings, deletedAt }: OrganizationRecord,
  role: Role | undefined,
): Organization => ({
  id,
  name,
  ...(role === undefined ? {} : { role }),
  createdAt,
  ...(ceilings === undefined ? {} : { ceilings }),
  ...(deletedAt === undefined ? {} : { deletedAt }),
});

/** Throws a 403 if the caller may not create organizations here. */
function checkMayCreate({ organizationCreators: { anyone, domains } }: Config, caller: Caller): void {
  if (anyone || caller.operator || (caller.domain !== undefined && domains.includes(caller.domain))) return;
  throw new Problem('forbidden', `${caller.email} may not make organizations here.`, {
    advice: 'Ask an operator of this deployment.',
  });
}

/** Creates an organization with the caller as its first admin. */
export async function createOrganization(context: Context, caller: Caller, name: string): Promise<Organization> {
  checkMayCreate(context.config, caller);
  const id = context.random.uuid();
  const createdAt = context.clock.now().toISOString();
  const record: OrganizationRecord = { schema: 1, id, name, createdAt };
  return transact(context, async (transaction) => {
    // The id is new, so nothing is found. The event takes the time of this read.
    await transaction.get(collections.organizations, id);
    const made = viewOfOrganization(record, 'admin');
    transaction.write(
      { kind: 'create', collection: collections.organizations, id, data: record },
      newMember({
        organizationId: id,
        email: caller.email,
        role: 'admin',
        addedAt: createdAt,
        version: 1,
        ...boundFields(caller),
      }),
      eventWrite(transaction, {
        organizationId: id,
        actor: caller.email,
        action: 'organization-created',
        version: 1,
        before: null,
        after: viewOfOrganization(record, undefined),
      }),
    );
    return made;
  });
}

/** The organizations that the caller belongs to, by id. `deleted`: those that are deleted, instead of the living ones. */
export async function listOrganizations(
  { store, clock }: Context,
  caller: Caller,
  deleted: boolean,
  page: Page,
): Promise<Paged<Organization>> {
  const memberships = await pageOf(
    store,
    {
      collection: collections.organizationMembers,
      where: [['email', '==', caller.email]],
      orderBy: ['organizationId', 'asc'],
    },
    page,
    liftOrganizationMember,
  );
  const own = memberships.items.filter((each) => isTheirs(each, caller));
  const found = await store.getMany(
    collections.organizations,
    own.map(({ organizationId }) => organizationId),
  );
  const items = own.flatMap(({ role }, i) => {
    const organization = read(found[i], liftOrganization)?.data;
    if (organization === undefined || (organization.deletedAt !== undefined) !== deleted) return [];
    return deleted && !isRestorable(clock, organization) ? [] : [viewOfOrganization(organization, role)];
  });
  return { ...memberships, items };
}

export async function getOrganization({ store }: Context, caller: Caller, organizationId: string) {
  const { organization, role } = await seeOrganization(store, caller, organizationId);
  return viewOfOrganization(organization, role);
}
