/** Many members at once, past the API: what would take thousands of calls. */
import { liftTeam, teamDocumentId } from '../../functions/organizations/documents.js';
import { newMember } from '../../functions/organizations/members/members.js';
import { newTeamMember } from '../../functions/organizations/teams/documents.js';
import type { Store, Write } from '../../functions/store/store.js';
import { collections } from '../../shared/names.js';

/** 254 characters: a domain of labels of 63, a local part of 64 at most (which browsers do not ask for). */
export const longEmail = (n: number): string => {
  const domain = `${'d'.repeat(63)}.${'e'.repeat(63)}.${'f'.repeat(53)}.example`;
  return `${String(n).padStart(254 - domain.length - 1, 'x')}@${domain}`;
};
const shortEmail = (n: number): string => `member-${String(n).padStart(5, '0')}@example.com`;

export interface ManyMembers {
  readonly organizationId: string;
  readonly teamId: number;
  /** How many team members are in the organization too. */
  readonly inside: number;
  readonly outside: number;
  readonly email?: (n: number) => string;
}

/** Adds them to the team, those inside to the organization too. Their addresses, in alphabetical order. */
export async function addMembersAtOnce(
  store: Store,
  { organizationId, teamId, inside, outside, email = shortEmail }: ManyMembers,
): Promise<{ readonly inside: string[]; readonly outside: string[] }> {
  const found = await store.get(collections.teams, teamDocumentId(teamId));
  if (found === undefined) throw new Error(`There is no team ${teamId}`);
  const all = Array.from({ length: inside + outside }, (_, n) => email(n));
  const split = { inside: all.slice(0, inside).sort(), outside: all.slice(inside).sort() };
  const addedAt = new Date().toISOString();
  const { changes, members = 0 } = liftTeam(found.data);
  const writes: Write[] = [
    ...all.map((each) => newTeamMember(teamId, each, 'member', addedAt)),
    ...split.inside.map((each) => newMember({ organizationId, email: each, role: 'member', addedAt, version: 1 })),
    {
      kind: 'update',
      collection: collections.teams,
      id: teamDocumentId(teamId),
      data: { changes: changes + all.length, members: members + all.length },
    },
  ];
  const atOnce = 1000;
  for (let i = 0; i < writes.length; i += atOnce) await store.commit(writes.slice(i, i + atOnce));
  return split;
}
