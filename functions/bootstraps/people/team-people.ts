/**
 * Who has roles on a project by its teams. What is stored of that decides roles alone. Who may see a bootstrap is asked of the
 * teams, at each request.
 */
import type { Context } from '../../context.js';
import { latestFormer } from '../../engine/record/bounded.js';
import type { BootstrapRecord } from '../../engine/record/documents.js';
import { mayBeGivenTo } from '../../identity/entitled.js';
import { type Holder, holdWrite, readHolder } from '../../organizations/ownership.js';
import type { Alteration } from '../alter.js';

/** Google takes 1,500 members in a policy, and each person is there up to three times. */
const mostTeamPeople = 200;

type OfTeams = Pick<BootstrapRecord, 'owner' | 'team' | 'sharedTeams' | 'sharedWith' | 'teamPeople' | 'formerPeople'>;

/** The team that it belongs to, then those that it is shared with. */
export const teamsOf = ({
  team,
  sharedTeams = [],
}: Pick<BootstrapRecord, 'team' | 'sharedTeams'>): readonly number[] =>
  team === undefined ? sharedTeams : [team, ...sharedTeams.filter((each) => each !== team)];

/** Teams that are gone have no members. */
const holdersOf = async (
  context: Pick<Context, 'store'>,
  record: Pick<BootstrapRecord, 'team' | 'sharedTeams'>,
): Promise<Holder[]> => {
  const found = await Promise.all(teamsOf(record).map((team) => readHolder(context, team)));
  return found.flatMap((holder) => holder ?? []);
};

/** Empty lists are not stored. */
export const some = <T>(all: T[]): T[] | undefined => (all.length === 0 ? undefined : all);

/** The fields that follow from the members of its teams. Whoever may not bootstrap here gets no role on a project. */
export function peopleFields(
  config: Context['config'],
  record: OfTeams,
  holders: readonly Holder[],
): Pick<Alteration['fields'], 'teamPeople' | 'ownerLeft' | 'formerPeople'> {
  const { owner, team, sharedWith = [], teamPeople = [], formerPeople = [] } = record;
  const ownerLeft =
    team !== undefined && !holders.some((holder) => holder.team.teamId === team && holder.members.includes(owner));
  const people = [...new Set(holders.flatMap(({ members }) => members))]
    .filter((email) => (email !== owner || ownerLeft) && mayBeGivenTo(config, email))
    .sort()
    .slice(0, mostTeamPeople);
  const gone = teamPeople.filter((email) => !people.includes(email) && !sharedWith.includes(email) && email !== owner);
  const former = formerPeople.filter((email) => !people.includes(email) && !gone.includes(email));
  return {
    teamPeople: some(people),
    ownerLeft: ownerLeft ? true : undefined,
    formerPeople: some(latestFormer([...former, ...gone])),
  };
}

/** What follows from its teams, and the writes that keep the commit to the members that were read. */
export async function ofTeams(context: Pick<Context, 'store' | 'config'>, record: OfTeams) {
  const holders = await holdersOf(context, record);
  return {
    fields: peopleFields(context.config, record, holders),
    writes: holders.map((holder) => holdWrite(holder)),
  };
}
