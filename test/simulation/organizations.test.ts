/** Organizations in one process under schedules that a seed decides, with deaths and a database that fails. */
import { expect } from 'chai';
import type { Drawn } from '../organizations/actions.js';
import { seed } from '../support/search.js';
import { hunt, inWords } from './hunt.js';
import { organizations, playOrganizations } from './organizations.js';

const seeds = 2000;

const drawn = (kind: Drawn['kind'], by: string, more: Partial<Drawn> = {}): Drawn => ({
  ...{ kind, by: `${by}@example.com`, email: 'alice@example.com' },
  ...{ organization: 0, team: 0, admin: false, force: false, alone: false },
  ...more,
});
const acts = (...all: readonly Drawn[]) => all.map((each, i) => ({ kind: 'act', caller: i % 4, drawn: each }) as const);

describe('organizations, whoever goes on at every moment', () => {
  it(`keep their rules under ${seeds} seeds (PLINTH_TEST_SEED=${seed})`, async function () {
    this.timeout(300_000);
    const hunted = await hunt(organizations, { from: seed, goesOn: (played) => played < seeds });
    if (hunted.found !== undefined) expect.fail(inWords(organizations, hunted.found));
  });

  for (const [what, at, draws] of [
    [
      'a team leaves its organization as somebody joins that: who never saw it learns nothing of it',
      16168015,
      [
        drawn('detachTeam', 'ops'),
        drawn('addTeamMember', 'alice'),
        drawn('detachTeam', 'alice'),
        drawn('addOrganizationMember', 'ops', { email: 'carol@example.com', admin: true }),
        drawn('removeOrganizationMember', 'alice'),
        drawn('detachTeam', 'carol'),
        drawn('removeOrganizationMember', 'alice'),
        drawn('detachTeam', 'alice'),
      ],
    ],
    [
      'a team goes elsewhere as its mover loses the right: they hear of the team only what was so with the right',
      17,
      [
        drawn('addOrganizationMember', 'ops'),
        drawn('migrateTeam', 'alice', { team: 9 }),
        drawn('detachTeam', 'carol'),
        drawn('setOrganizationMemberRole', 'alice', { email: 'bob@example.com', organization: 3 }),
        drawn('migrateTeam', 'bob', { organization: 31, team: 13 }),
      ],
    ],
  ] as const) {
    it(what, async () => {
      for (let i = 0; i < 20; i++) {
        const { faults } = await playOrganizations(at + i, acts(...draws));
        expect(faults).to.deep.equal([]);
      }
    });
  }
});
