/** Adds up to 500 members in one transaction, all or none. A refusal names everybody who speaks against it. */
import type { AddedMembers, Member, Role } from '../../../shared/organization/organization.js';
import { type Fault, Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import type { Caller } from '../../identity/auth.js';
import { asAdmin, asTeamAdmin } from '../change.js';
import { additionsTo } from '../teams/members.js';
import { transact, transactInTeam } from '../transact.js';
import { stayWrites } from './leaving.js';
import { additions } from './members.js';

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

const emailsOf = (members: readonly Member[]): string[] => members.map(({ email }) => email);

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
): Promise<AddedMembers> => {
  const emails = emailsOf(asked);
  return transact(
    context,
    asAdmin(caller, organizationId, emails, async ({ members }, transaction) => {
      const known = new Map([...members].filter(([email]) => emails.includes(email)));
      const stay = [...known.values()].flatMap((member) => stayWrites(context.clock, member));
      refuse(otherRoles(asked, known), 'conflict', adviceOnRoles);
      const outcome = result(asked, known);
      if (outcome.added.length === 0) return { result: outcome, writes: stay };
      const { writes, events } = await additions(context, transaction, organizationId, outcome.added);
      return { result: outcome, writes: [...stay, ...writes], events };
    }),
  );
};

export const addTeamMembers = (
  context: Context,
  caller: Caller,
  teamId: number,
  asked: readonly Member[],
): Promise<AddedMembers> =>
  transactInTeam(
    context,
    teamId,
    asTeamAdmin(caller, teamId, emailsOf(asked), (seen) => {
      checkAll(asked, seen.members, seen.team.organizationId === null ? undefined : seen.inOrganization);
      const outcome = result(asked, seen.members);
      if (outcome.added.length === 0) return { result: outcome };
      return { result: outcome, ...additionsTo(context, caller, seen, outcome.added) };
    }),
  );

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
