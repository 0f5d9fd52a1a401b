/**
 * Roles on projects follow the members of a team, wherever functions die on the way: at each write of sweep and of the steps
 * that it sends, before it and after it.
 */
import { expect } from 'chai';
import { followTeams } from '../../functions/bootstraps/people/team-roles.js';
import { shareWithTeam } from '../../functions/bootstraps/people/team-shares.js';
import { sweep } from '../../functions/engine/run/sweep.js';
import { addTeamMember, removeTeamMember } from '../../functions/organizations/teams/members.js';
import { createTeam } from '../../functions/organizations/teams/teams.js';
import { stepsOf } from '../../functions/steps/index.js';
import { local } from '../../local/stack/deployment.js';
import { functionNames } from '../../shared/names.js';
import { keysAtHand } from '../install-config/made-bootstrap.js';
import { callerOf } from '../organizations/play-functions.js';
import { createEngineLab, type EngineLab, type Tap } from './engine-lab.js';

const [alice, bob] = [`alice@${local.domain}`, `bob@${local.domain}`];

type When = 'before' | 'after';

/** A process that dies at the n-th write from when it is armed: nothing is written any more until it is another one. */
function mortalWrites() {
  let left = Number.POSITIVE_INFINITY;
  let when: When = 'before';
  let dead = false;
  const tap: Tap = {
    endpoints: async ({ endpoints }) => endpoints,
    published: () => undefined,
    store: (store) => ({
      async commit(writes) {
        if (dead) throw new Error('The process is dead');
        left -= 1;
        dead = left === 0;
        if (dead && when === 'before') throw new Error('The process dies before it writes');
        const versions = await store.commit(writes);
        if (dead) throw new Error('The process dies after it has written');
        return versions;
      },
    }),
  };
  return {
    tap,
    arm(nth: number, at: When) {
      left = nth;
      when = at;
    },
    /** Whether it has died. */
    revive(): boolean {
      const died = dead;
      left = Number.POSITIVE_INFINITY;
      dead = false;
      return died;
    },
  };
}

describe('roles of a team, while functions die', function () {
  this.timeout(240_000);
  const mortal = mortalWrites();
  let lab: EngineLab;
  let team: number;
  let projectId: string;
  let now = Date.now();
  before(async function () {
    await keysAtHand.call(this);
    lab = await createEngineLab({ tap: mortal.tap });
    const context = lab.context(functionNames.api);
    team = (await createTeam(context, callerOf(alice), { name: 'followed' })).teamId;
    const id = await lab.begin('followed');
    await lab.drain();
    await shareWithTeam(context, stepsOf({ hosts: false }), id, alice, team);
    projectId = (await lab.record(id)).projectId;
    await minutes();
  });
  after(() => lab?.close());

  const hasRole = (): boolean => {
    const { bindings = [] } = lab.cloud.world.policies.get(`projects/${projectId}`, 3) as {
      bindings?: { members: string[] }[];
    };
    return bindings.some(({ members }) => members.includes(`user:${bob}`));
  };
  /** What Cloud Scheduler calls each minute, and what follows from it. */
  const run = async (): Promise<void> => {
    const context = lab.context(functionNames.sweep);
    await Promise.allSettled([sweep(context), followTeams(context)]);
    await lab.drain();
  };
  /** Runs of sweep, a minute apart, until `done`. How many it took. */
  async function minutes(done: () => boolean = () => false, most = 6): Promise<number> {
    for (let minute = 1; minute <= most; minute++) {
      now += 60_000;
      lab.setTime(now);
      lab.revive();
      await run();
      if (done()) return minute;
    }
    return most;
  }

  for (const when of ['before', 'after'] as const) {
    it(`are gone within a minute of the next run, when one dies ${when} any of its writes`, async () => {
      const context = lab.context(functionNames.api);
      const took: number[] = [];
      for (let nth = 1; ; nth++) {
        await addTeamMember(context, callerOf(alice), team, { email: bob, role: 'member' });
        await minutes(hasRole);
        expect(hasRole()).to.equal(true);
        await minutes();
        await removeTeamMember(context, callerOf(alice), team, { email: bob });
        mortal.arm(nth, when);
        now += 60_000;
        lab.setTime(now);
        await run();
        if (!mortal.revive()) break;
        took.push(await minutes(() => !hasRole()));
      }
      expect(took).to.have.length.above(3);
      expect(Math.max(...took)).to.be.at.most(1);
    });
  }
});
