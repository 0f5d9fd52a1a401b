/** Adds up to 500 members in one transaction, all or none. A refusal names everybody who speaks against it. */
import { collections } from '../../shared/names.js';
import type { AddedMembers, Member, Role } from '../../shared/organization/organization.js';
import { mostTeamMembers } from '../../shared/organization/team.js';
import { type Fault, Problem } from '../../shared/problems.js';
import type { Context } from '../context.js';
import type { Caller } from '../identity/auth.js';
import { read } from '../store/lift.js';
import type { Transaction } from '../store/store.js';
import { liftMemberVersion, organizationMemberId } from './documents.js';
import { eventWrite } from './events.js';
import { endOfInvitation, readInvitations } from './invitation-documents.js';
import { stayWrites } from './leaving.js';
import { newMember } from './members.js';
import { bindWrites, boundFields } from './membership.js';
import {
  checkAdmin,
  noTeam,
  readOrganizationMembers,
  readTeam,
  readTeamMembers,
  rightsInTeam,
  seeOrganization,
} from './rights.js';
import { adminsIn, countMembers, full, newTeamMember, teamChange } from './team-members.js';
import { transact, transactInTeam } from './transact.js';

const pathOf = (i: number): string => `members.${i}.email`;

function refuse(faults: readonly Fault[], code: 'bad-input' | 'conflict', advice: string): void {
  if (faults.length === 0) return;
  const detail = faults.map(({ path, message }) => `${path} ${message}`).join('; ');
  throw new Problem(code, `${detail}.`, { errors: faults, advice });
}

/** Those who are members with another role. */
const otherRoles = (asked: readonly Member[], known: ReadonlyMap<string, { readonly role: Role }>): Fault[] =>
  asked.flatMap(({ email, role }, i) => {
    const had = known.get(email)?.role;
    if (had === undefined || had === role) return [];
    return [{ path: pathOf(i), message: `${email} is a member already, as ${had}` }];
  });

const adviceOnRoles = 'Change the roles of these members instead, and leave them out here.';

const result = (asked: readonly Member[], known: ReadonlyMap<string, unknown>): AddedMembers => ({
  added: asked.filter(({ email }) => !known.has(email)),
  unchanged: asked.filter(({ email }) => known.has(email)),
});

export const addOrganizationMembers = (
  context: Context,
  caller: Caller,
  organizationId: string,
  asked: readonly Member[],
): Promise<AddedMembers> =>
  transact(context, async (transaction) => {
    const emails = asked.map(({ email }) => email);
    const seen = await seeOrganization(transaction, caller, organizationId, emails);
    checkAdmin(seen, 'organization');
    const known = new Map([...seen.members].filter(([email]) => emails.includes(email)));
    transaction.write(...[...known.values()].flatMap((member) => stayWrites(context.clock, member)));
    refuse(otherRoles(asked, known), 'conflict', adviceOnRoles);
    const { added, unchanged } = result(asked, known);
    if (added.length === 0) return { added, unchanged };
    await addNew(context, transaction, caller, organizationId, added);
    transaction.write(...bindWrites(caller, seen.own));
    return { added, unchanged };
  });

async function addNew(
  { clock }: Context,
  transaction: Transaction,
  caller: Caller,
  organizationId: string,
  added: readonly Member[],
): Promise<void> {
  const emails = added.map(({ email }) => email);
  const ids = emails.map((email) => organizationMemberId(organizationId, email));
  const ended = await transaction.getMany(collections.organizationMemberVersions, ids);
  const invitations = await readInvitations(transaction, organizationId, emails);
  const addedAt = clock.now().toISOString();
  for (const [nth, { email, role }] of added.entries()) {
    const version = (read(ended[nth], liftMemberVersion)?.data.version ?? 0) + 1;
    const told = { actor: caller.email, action: 'member-added', email, version } as const;
    transaction.write(
      newMember({ organizationId, email, role, addedAt, version }),
      eventWrite(transaction, { organizationId, ...told, before: null, after: { email, role } }, { nth }),
    );
  }
  transaction.write(...[...invitations.values()].map(endOfInvitation));
}

export const addTeamMembers = (
  context: Context,
  caller: Caller,
  teamId: number,
  asked: readonly Member[],
): Promise<AddedMembers> =>
  transactInTeam(context, teamId, async (transaction) => {
    const team = await readTeam(transaction, teamId);
    if (team === undefined) throw noTeam(teamId);
    const { organizationId } = team;
    const all = [caller.email, ...asked.map(({ email }) => email)];
    const known = await readTeamMembers(transaction, teamId, all);
    const inOrganization =
      organizationId === null ? undefined : await readOrganizationMembers(transaction, organizationId, all);
    const own = known.get(caller.email);
    const governor = inOrganization?.get(caller.email);
    checkAdmin(await rightsInTeam(caller, team, own, async () => governor), 'team');
    checkAll(asked, known, inOrganization);
    const { added, unchanged } = result(asked, known);
    if (added.length === 0) return { added, unchanged };
    const members = await countMembers(context, team);
    if (members + added.length > mostTeamMembers) throw full(team, members);
    const addedAt = context.clock.now().toISOString();
    for (const [nth, { email, role }] of added.entries()) {
      const member = inOrganization?.get(email);
      const bound = email === caller.email ? boundFields(caller) : {};
      const told = { actor: caller.email, action: 'team-member-added', email } as const;
      const version = team.changes + 1 + nth;
      transaction.write(
        ...(member === undefined ? [] : stayWrites(context.clock, member)),
        newTeamMember(teamId, email, role, addedAt, bound),
        eventWrite(
          transaction,
          { organizationId, teamId, version, ...told, before: null, after: { email, role } },
          { nth },
        ),
      );
    }
    const admins = team.admins + adminsIn(added);
    transaction.write(
      ...bindWrites(caller, own, governor),
      teamChange(team, { admins, members: members + added.length }, added.length),
    );
    return { added, unchanged };
  });

/** `inOrganization` is absent for a standalone team. */
function checkAll(
  asked: readonly Member[],
  known: ReadonlyMap<string, { readonly role: Role }>,
  inOrganization: ReadonlyMap<string, unknown> | undefined,
): void {
  const outside = asked.flatMap(({ email }, i) =>
    known.has(email) || inOrganization === undefined || inOrganization.has(email)
      ? []
      : [{ path: pathOf(i), message: `${email} is no member of the organization that the team is in` }],
  );
  const faults = [...outside, ...otherRoles(asked, known)];
  if (outside.length > 0) refuse(faults, 'bad-input', 'Add them to the organization, or invite them, first.');
  refuse(faults, 'conflict', adviceOnRoles);
}
