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
  readonly organizationId: string;
  readonly stays: readonly Member[];
  readonly leaves: readonly Member[];
}

interface Moved {
  /** All that move, by the id of their project. */
  readonly projectIds: readonly string[];
  /** The first of them. */
  readonly shown: readonly MovedBootstrap[];
}

/** Reads nothing for a team that has no bootstraps. */
export async function movedBootstraps(context: Pick<Context, 'store'>, moving: Moving): Promise<Moved> {
  const { team, organizationId, stays } = moving;
  if (team.holds !== true) return { projectIds: [], shown: [] };
  const [held, admins] = await Promise.all([heldBy(context, team.teamId), adminsOf(context, organizationId)]);
  const members = new Set(stays.map(({ email }) => email));
  const shown = await Promise.all(
    held.slice(0, mostShown).map(async ({ name, projectId, owner, price, ...rest }) => ({
      name,
      projectId,
      owner,
      shared: rest.team !== team.teamId,
      ...(price !== undefined && { costAnHour: amountText(price.microsAnHour) }),
      gains: admins.filter((email) => !members.has(email) && email !== owner && !rest.sharedWith?.includes(email)),
      loses: await losing(context, moving, { ...rest, owner }),
    })),
  );
  return { projectIds: held.map(({ projectId }) => projectId), shown };
}

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

/** Of those who leave the team, who has the bootstrap in no other way. */
async function losing(
  { store }: Pick<Context, 'store'>,
  { team, leaves }: Moving,
  {
    owner,
    team: owning,
    sharedTeams = [],
    sharedWith = [],
  }: Pick<Held, 'owner' | 'team' | 'sharedTeams' | 'sharedWith'>,
): Promise<string[]> {
  const emails = leaves.map(({ email }) => email);
  const others = [...(owning === undefined ? [] : [owning]), ...sharedTeams].filter((each) => each !== team.teamId);
  const kept = new Set([...sharedWith, ...(owning === team.teamId ? [] : [owner])]);
  for (const teamId of others) {
    if ((await readTeam(store, teamId)) === undefined) continue;
    for (const email of (await readTeamMembers(store, teamId, emails)).keys()) kept.add(email);
  }
  return emails.filter((email) => !kept.has(email));
}
