/** Organizations under schedules that a seed decides; PLINTH_SCHEDULE plays one of them again. */
import { seed } from '../support/search.js';
import type { Drawn } from './actions.js';
import { playSchedule, searchSchedules } from './schedules.js';

const runs = 2000;

const drawn = (kind: Drawn['kind'], by: string, more: Partial<Drawn> = {}): Drawn => ({
  ...{ kind, by: `${by}@example.com`, email: 'alice@example.com' },
  ...{ organization: 0, team: 0, admin: false, force: false, alone: false },
  ...more,
});

describe('organizations, whoever goes on at every moment', () => {
  it(`keep their rules under ${runs} schedules (PLINTH_TEST_SEED=${seed})`, async function () {
    this.timeout(300_000);
    await searchSchedules(seed, runs);
  });

  it('a team leaves its organization as somebody joins that: who never saw it learns nothing of it', () =>
    playSchedule({
      seed: 16168015,
      draws: [
        drawn('detachTeam', 'ops'),
        drawn('addTeamMember', 'alice'),
        drawn('detachTeam', 'alice'),
        drawn('addOrganizationMember', 'ops', { email: 'carol@example.com', admin: true }),
        drawn('removeOrganizationMember', 'alice'),
        drawn('detachTeam', 'carol'),
        drawn('removeOrganizationMember', 'alice'),
        drawn('detachTeam', 'alice'),
      ],
    }));

  it('a team goes elsewhere as its mover loses the right: they hear of the team only what was so with the right', () =>
    playSchedule({
      seed: 17,
      draws: [
        drawn('addOrganizationMember', 'ops'),
        drawn('migrateTeam', 'alice', { team: 9 }),
        drawn('detachTeam', 'carol'),
        drawn('setOrganizationMemberRole', 'alice', { email: 'bob@example.com', organization: 3 }),
        drawn('migrateTeam', 'bob', { organization: 31, team: 13 }),
      ],
    }));
});
