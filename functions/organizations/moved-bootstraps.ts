/** The bootstraps that a migration takes along: what they cost, and who gains and loses access. */
import * as z from 'zod';
import { amountText } from '../../shared/bootstrap/money.js';
import { collections } from '../../shared/names.js';
import type { Member } from '../../shared/organization/organization.js';
import type { MovedBootstrap } from '../../shared/organization/team.js';
import type { Context } from '../context.js';
import { liftOrganizationMember, type TeamRecord } from './documents.js';
import { readTeam, readTeamMembers } from './rights.js';

/** More are not named. */
const mostShown = 50;
const mostAdmins = 50;

const Held = z.object({
  name: z.string(),
  projectId: z.string(),
  owner: z.string(),
  state: z.string(),
  team: z.int().optional(),
  sharedTeams: z.array(z.int()).optional(),
  sharedWith: z.array(z.string()).optional(),
  price: z.object({ microsAnHour: z.int() }).optional(),
});
type Held = z.infer<typeof Held>;

interface Moving {
  readonly team: TeamRecord;
  /** Where the team goes, or what it leaves. */
  readonly organizationId: string;
  /** Its members of now. */
  readonly is: readonly Member[];
  /** Its members afterwards. */
  readonly becomes: readonly Member[];
  /** Whether it goes into the organization, or out of it. */
  readonly goes: 'in' | 'out';
}

interface Moved {
  /** All that move, by the id of their project. */
  readonly projectIds: readonly string[];
  /** The first of them. */
  readonly shown: readonly MovedBootstrap[];
}

/** Reads nothing for a team that has no bootstraps. */
export async function movedBootstraps(context: Pick<Context, 'store'>, moving: Moving): Promise<Moved> {
  const { team, organizationId, goes } = moving;
  if (team.holds !== true) return { projectIds: [], shown: [] };
  const [held, admins] = await Promise.all([heldBy(context, team.teamId), adminsOf(context, organizationId)]);
  const [is, becomes] = [emailsOf(moving.is), emailsOf(moving.becomes)];
  const come = becomes.filter((email) => !is.includes(email));
  const leave = is.filter((email) => !becomes.includes(email));
  const govern = admins.filter((email) => !is.includes(email) && !becomes.includes(email));
  const shown = await Promise.all(
    held.slice(0, mostShown).map(async (each) => {
      const among = { team, organizationId, admins };
      const [gains, loses] = await Promise.all([
        lacking(context, among, each, goes === 'in' ? [...come, ...govern] : come),
        lacking(context, among, each, goes === 'in' ? leave : [...leave, ...govern]),
      ]);
      const { name, projectId, owner, price } = each;
      return {
        name,
        projectId,
        owner,
        shared: each.team !== team.teamId,
        ...(price !== undefined && { costAnHour: amountText(price.microsAnHour) }),
        gains,
        loses,
      };
    }),
  );
  return { projectIds: held.map(({ projectId }) => projectId), shown };
}

const emailsOf = (members: readonly Member[]): string[] => members.map(({ email }) => email);

async function heldBy({ store }: Pick<Context, 'store'>, teamId: number): Promise<Held[]> {
  const found = await Promise.all([
    store.query({ collection: collections.bootstraps, where: [['team', '==', teamId]] }),
    store.query({ collection: collections.bootstraps, where: [['sharedTeams', 'array-contains', teamId]] }),
  ]);
  return found
    .flat()
    .map(({ data }) => Held.parse(data))
    .filter(({ state }) => state !== 'removed')
    .sort((a, b) => (a.projectId < b.projectId ? -1 : 1));
}

async function adminsOf({ store }: Pick<Context, 'store'>, organizationId: string): Promise<string[]> {
  const found = await store.query({
    collection: collections.organizationMembers,
    where: [
      ['organizationId', '==', organizationId],
      ['role', '==', 'admin'],
    ],
    limit: mostAdmins,
  });
  return found.map(({ data }) => liftOrganizationMember(data).email).sort();
}

/** Of these people, who has the bootstrap in no other way than by this team. */
async function lacking(
  { store }: Pick<Context, 'store'>,
  { team, organizationId, admins }: Pick<Moving, 'team' | 'organizationId'> & { readonly admins: readonly string[] },
  { owner, team: owning, sharedTeams = [], sharedWith = [] }: Held,
  emails: readonly string[],
): Promise<string[]> {
  const others = [...(owning === undefined ? [] : [owning]), ...sharedTeams].filter((each) => each !== team.teamId);
  const kept = new Set([...sharedWith, ...(owning === team.teamId ? [] : [owner])]);
  for (const teamId of others) {
    const other = await readTeam(store, teamId);
    if (other === undefined) continue;
    for (const email of (await readTeamMembers(store, teamId, emails)).keys()) kept.add(email);
    if (other.organizationId === organizationId) for (const email of admins) kept.add(email);
  }
  return emails.filter((email) => !kept.has(email)).sort();
}
