/**
 * The team of a project that has lost its record: which one its labels prove, and what makes the project the team's in the
 * records again. The team is counted anew, because it may be counted for the lost record, or not.
 */
import { labels } from '../../../shared/names.js';
import { Problem } from '../../../shared/problems.js';
import type { Context } from '../../context.js';
import { findProofKey, teamInLabel } from '../../engine/proof.js';
import type { BootstrapRecord } from '../../engine/record/documents.js';
import { livingAmong, othersOf } from '../../engine/record/of-team.js';
import { bootstrapOf, numberOf } from '../../engine/record/removal-rule.js';
import type { SeenProject } from '../../engine/step.js';
import { type Holder, holdWrite, readHolder, readLivingHolder } from '../../organizations/ownership.js';
import type { Document, Write } from '../../store/store.js';
import { peopleFields } from '../people/team-people.js';

interface LostTeam {
  readonly team: number;
  /** Missing: the team is gone. */
  readonly holder?: Holder;
}

/** Undefined: its labels prove none. */
export async function teamOfLost(context: Context, project: SeenProject): Promise<LostTeam | undefined> {
  const label = project.labels?.[labels.team];
  const key = label === undefined ? undefined : await findProofKey(context);
  if (key === undefined) return undefined;
  const proven = { projectNumber: numberOf(project), bootstrapId: bootstrapOf(project) };
  const team = teamInLabel(key, label, proven);
  if (team === undefined) return undefined;
  const holder = await readHolder(context, team);
  return holder === undefined || holder.team.deletedAt !== undefined ? { team } : { team, holder };
}

/** What a project comes into, and what its owner is told of that. */
export interface Into {
  /** Missing: no team. */
  readonly holder?: Holder;
  readonly warnings: readonly string[];
}

/** Null: none. Undefined: the one that the labels prove, if it is still there. */
export type AskedTeam = number | null | undefined;

/** An owner outside the team would have nothing of it. So they are refused, and the operator decides. */
export async function intoTeam(
  context: Context,
  project: SeenProject,
  { owner, team: asked }: { readonly owner: string; readonly team: AskedTeam },
): Promise<Into> {
  if (asked === null) return { warnings: [] };
  const into = asked === undefined ? intoLost(await teamOfLost(context, project)) : await intoAsked(context, asked);
  const { holder } = into;
  if (holder === undefined || holder.members.includes(owner)) return into;
  const { teamId } = holder.team;
  throw new Problem('conflict', `${owner} is not in team ${teamId}, and ${project.projectId} would belong to it.`, {
    advice: `Name one of its members with --with. Or give --without-team, and it belongs to ${owner} alone.`,
  });
}

const intoAsked = async (context: Context, team: number): Promise<Into> => ({
  holder: await readLivingHolder(context, team),
  warnings: [],
});

export const intoLost = (lost: LostTeam | undefined): Into => {
  if (lost?.holder !== undefined) return { holder: lost.holder, warnings: [] };
  return { warnings: lost === undefined ? [] : [goneWarning(lost.team)] };
};

const goneWarning = (team: number): string => `It belonged to team ${team}, which is gone. It belongs to no team now.`;

interface RestoredToTeam {
  readonly fields: Pick<BootstrapRecord, 'team' | 'teamPeople'>;
  readonly writes: readonly Write[];
  /** The other records of the team. */
  readonly others: readonly Document[];
}

/** No ceiling applies, because nothing is new. */
export async function restoredToTeam(
  context: Pick<Context, 'store' | 'config'>,
  id: string,
  record: BootstrapRecord,
  holder: Holder | undefined,
): Promise<RestoredToTeam> {
  if (holder === undefined) return { fields: {}, writes: [], others: [] };
  const { teamId: team, owns = 0 } = holder.team;
  const others = await othersOf(context, team, id);
  const { teamPeople } = peopleFields(context.config, { ...record, team }, [holder]);
  return {
    fields: { team, ...(teamPeople !== undefined && { teamPeople }) },
    writes: [holdWrite(holder, livingAmong(others) + 1 - owns)],
    others,
  };
}
