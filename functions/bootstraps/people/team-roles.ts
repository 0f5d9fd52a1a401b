/**
 * Brings the roles on projects in line with the members of their teams. A change of a team's members marks the team in the same
 * commit, and sweep works off the marks. A run that dies leaves the mark, and doing it twice changes nothing.
 */
import { addSeconds } from '../../../shared/add-seconds.js';
import { collections } from '../../../shared/names.js';
import type { Context } from '../../context.js';
import { type BootstrapRecord, liftBootstrap, read, type StoredBootstrap } from '../../engine/record/documents.js';
import { mapInBatches } from '../../host/map-in-batches.js';
import { changedHolders, settleHolder } from '../../organizations/ownership.js';
import { alterShown } from '../alter.js';
import { ofTeams, type peopleFields } from './team-people.js';

const perRun = 20;
const atOnce = 20;
/** A team that could not be done must not hold up others. */
const putOffSeconds = 60;

/** The steps that show in the cloud who its people are. */
export const roleSteps = ['caller-role', 'people-login'];

/** How many bootstraps got other people. */
export async function followTeams(context: Context): Promise<number> {
  const { clock, log } = context;
  let changed = 0;
  for (const team of await changedHolders(context, perRun)) {
    try {
      const bootstraps = await bootstrapsOf(context, team.teamId);
      const living = bootstraps.filter(({ data }) => data.removal === undefined && data.state !== 'removed');
      const errors: unknown[] = [];
      await mapInBatches(living, atOnce, async ({ id }) => {
        try {
          if (await follow(context, id, team.teamId)) changed += 1;
        } catch (error) {
          errors.push(error);
        }
      });
      if (errors.length > 0) throw errors[0];
      await settleHolder(context, team);
    } catch (error) {
      log('WARNING', `Roles of team ${team.teamId} did not follow its members yet`, { error });
      await settleHolder(context, team, addSeconds(clock.now(), putOffSeconds));
    }
  }
  if (changed > 0) log('INFO', `${changed} projects follow the members of their teams`);
  return changed;
}

/** Those that belong to the team, and those that are shared with it. */
export async function bootstrapsOf({ store }: Pick<Context, 'store'>, teamId: number): Promise<StoredBootstrap[]> {
  const { bootstraps: collection } = collections;
  const found = await Promise.all([
    store.query({ collection, where: [['team', '==', teamId]] }),
    store.query({ collection, where: [['sharedTeams', 'array-contains', teamId]] }),
  ]);
  return found.flat().flatMap((document) => read(document, liftBootstrap) ?? []);
}

/** True if somebody gains or loses a role. */
async function follow(context: Context, id: string, teamId: number): Promise<boolean> {
  let changes = false;
  const act = { actor: 'plinth', action: `follow the members of team ${teamId}` };
  const shownIn = () => roleSteps.map((step) => ({ id: step, lane: 'cloud' as const }));
  await alterShown(context, id, act, shownIn, async (record) => {
    const { fields, writes } = await ofTeams(context, record);
    changes = differs(record, fields);
    return changes ? { fields, writes } : undefined;
  });
  return changes;
}

const differs = (record: BootstrapRecord, fields: ReturnType<typeof peopleFields>): boolean =>
  JSON.stringify([record.teamPeople, record.ownerLeft]) !== JSON.stringify([fields.teamPeople, fields.ownerLeft]);
