/** The bootstraps that a team takes along when it moves: what they cost, who gains and loses access, and who must agree. */
import * as z from 'zod';
import { amountText } from '../../../shared/bootstrap/money.js';
import { collections } from '../../../shared/names.js';
import type { Member } from '../../../shared/organization/organization.js';
import type { MovedBootstrap } from '../../../shared/organization/team.js';
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import { liftOrganizationMember, type TeamRecord } from '../documents.js';
import { readTeam, readTeamMembers } from '../rights.js';

/** More are not named. */
const mostShown = 50;
export const mostAdmins = 50;

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
  // Who governs the organization has them already.
  const gain = goes === 'in' ? [...come, ...govern] : come.filter((email) => !admins.includes(email));
  const lose = goes === 'in' ? leave : [...leave, ...govern];
  const holdersOf = otherHolders(context, { team, organizationId, admins, emails: [...gain, ...lose] });
  const shown = await Promise.all(
    held.slice(0, mostShown).map(async (each) => {
      const holders = await holdersOf(each);
      const { name, projectId, owner, price } = each;
      return {
        name,
        projectId,
        owner,
        shared: each.team !== team.teamId,
        ...(price !== undefined && { costAnHour: amountText(price.microsAnHour) }),
        gains: gain.filter((email) => !holders.has(email)).sort(),
        loses: lose.filter((email) => !holders.has(email)).sort(),
      };
    }),
  );
  return { projectIds: held.map(({ projectId }) => projectId), shown };
}

const emailsOf = (members: readonly Member[]): string[] => members.map(({ email }) => email);

/**
 * Whether a living bootstrap belongs to the team or is shared with it. Whoever adds one writes the team, so a transaction that
 * has read the team may rely on the answer. A record that is lost still counts: it can be restored into the team.
 */
export const hasProjects = async (context: Pick<Context, 'store'>, team: TeamRecord): Promise<boolean> =>
  team.holds === true && ((team.owns ?? 0) > 0 || (await heldBy(context, team.teamId)).length > 0);

export const projectsStay = ({ teamId }: TeamRecord, advice: string): Problem =>
  new Problem('forbidden', `Team ${teamId} has living projects, so only an admin of the team may move it.`, { advice });

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

interface Among extends Pick<Moving, 'team' | 'organizationId'> {
  readonly admins: readonly string[];
  readonly emails: readonly string[];
}

/** Tells who of these people has a bootstrap in another way than by this team. Each other team is read once. */
function otherHolders({ store }: Pick<Context, 'store'>, { team, organizationId, admins, emails }: Among) {
  const read = async (teamId: number): Promise<readonly string[]> => {
    const other = await readTeam(store, teamId);
    if (other === undefined) return [];
    const members = await readTeamMembers(store, teamId, emails);
    return [...members.keys(), ...(other.organizationId === organizationId ? admins : [])];
  };
  const known = new Map<number, ReturnType<typeof read>>();
  const inTeam = (teamId: number) => {
    const found = known.get(teamId) ?? read(teamId);
    known.set(teamId, found);
    return found;
  };
  return async ({ owner, team: owning, sharedTeams = [], sharedWith = [] }: Held): Promise<ReadonlySet<string>> => {
    const others = [...(owning === undefined ? [] : [owning]), ...sharedTeams].filter((each) => each !== team.teamId);
    const members = (await Promise.all(others.map(inTeam))).flat();
    return new Set([...sharedWith, ...(owning === team.teamId ? [] : [owner]), ...members]);
  };
}
