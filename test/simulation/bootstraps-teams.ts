/**
 * Teams that own bootstraps in a play: what there is of them at first, and people who move, undo, join and leave while the
 * bootstraps are made and removed.
 */
import { shareWithTeam, unshareWithTeam } from '../../functions/bootstraps/people/team-shares.js';
import { functionNames } from '../../shared/names.js';
import type { Action } from '../organizations/model.js';
import { callerOf, contextOf, playOn } from '../organizations/play-functions.js';
import type { Teaming, TeamName, Teams } from './bootstraps-plan.js';
import type { Stage } from './bootstraps-stage.js';
import { storeOf } from './process-store.js';

const [alice, bob, dave] = ['alice', 'bob', 'dave'].map((name) => `${name}@example.com`) as [string, string, string];
const operator = callerOf('ops@example.com').email;
const home = 'home';

/** What a name's bootstraps belong to. */
export const teamOf = (name: string, variant: number): TeamName =>
  name === 'first' || variant % 2 === 0 ? 'alpha' : 'beta';

function openingOf({ outside, living }: Teams): Action[] {
  const joins = (team: TeamName, email: string): Action => ({
    kind: 'addTeamMember',
    by: alice,
    team,
    email,
    role: 'member',
  });
  return [
    { kind: 'createOrganization', by: operator, organization: home },
    ...[alice, bob, dave]
      .filter((email) => email !== outside)
      .map(
        (email): Action => ({
          kind: 'addOrganizationMember',
          by: operator,
          organization: home,
          email,
          role: 'member',
        }),
      ),
    ...(living === undefined
      ? []
      : [{ kind: 'setOrganizationCeilings', by: operator, organization: home, living } as const]),
    { kind: 'createTeam', by: alice, team: 'alpha', organization: undefined },
    { kind: 'createTeam', by: alice, team: 'beta', organization: undefined },
    joins('alpha', bob),
    joins('alpha', dave),
    joins('beta', bob),
  ];
}

/** Before anything else. Nothing disturbs it. */
export async function openTeams({ scheduler, memory, teams }: Stage, asked: Teams): Promise<void> {
  const process = scheduler.process('opening');
  const store = storeOf(memory, process, { answers: false, disturb: () => undefined, onCommit: () => undefined });
  const context = contextOf({ store, clock: process.clock, random: process.random }, true);
  scheduler.start(process, async () => {
    for (const action of openingOf(asked)) {
      const { status } = await playOn(context, action, teams);
      if (status > 299) throw new Error(`${JSON.stringify(action)} is answered with ${status}`);
    }
  });
  await scheduler.run();
}

function actionOf({ what, team }: Teaming): Action | undefined {
  const by = operator;
  switch (what) {
    case 'migrate':
      return { kind: 'migrateTeam', by, team, organization: home, force: true };
    case 'undo':
      return { kind: 'undoMigration', by, team };
    case 'detach':
      return { kind: 'detachTeam', by, team };
    case 'join':
      return { kind: 'addTeamMember', by, team, email: dave, role: 'member' };
    case 'leave':
      return { kind: 'removeTeamMember', by, team, email: dave };
    default:
      return undefined;
  }
}

/** Asks at the time of the plan. */
export function teaming(stage: Stage, item: Teaming): void {
  const { scheduler, teller, invoke, teams, steps } = stage;
  const { what, team, atSeconds } = item;
  const post = scheduler.process('people');
  scheduler.start(post, async () => {
    await post.turn(atSeconds);
    teller.tell(scheduler.time(), 'operator', `asks to ${what} ${team}`);
    const action = actionOf(item);
    if (action === undefined) {
      invoke(functionNames.bootstraps, `${what} with ${team}`, async (context) => {
        const [found] = await context.store.query({
          collection: 'bootstraps',
          where: [['name', '==', 'first']],
          orderBy: ['createdAt', 'desc'],
          limit: 1,
        });
        const work = what === 'share' ? shareWithTeam : unshareWithTeam;
        if (found !== undefined) await work(context, steps, found.id, alice, Number(teams.get(team)));
      });
      return;
    }
    invoke(functionNames.api, `${what} ${team}`, async (context) => {
      const { status, named = [] } = await playOn(context, action, teams);
      teller.tell(scheduler.time(), 'operator', `hears ${[status, ...named].join(' ')} to ${what} ${team}`);
    });
  });
}
