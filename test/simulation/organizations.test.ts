/** Organizations in one process under schedules that a seed decides, with deaths and a database that fails. */
import { expect } from 'chai';
import type { Drawn } from '../organizations/actions.js';
import { findsNothing, firstSeed } from './hunt.js';
import { type OrganizationsItem, organizations, playOrganizations } from './organizations.js';
import type { Disturbance } from './process-store.js';

const seeds = 800;

const drawn = (kind: Drawn['kind'], by: string, more: Partial<Drawn> = {}): Drawn => ({
  ...{ kind, by: `${by}@example.com`, email: 'alice@example.com' },
  ...{ organization: 0, team: 0, admin: false, force: false, alone: false },
  ...more,
});
const acts = (...all: readonly Drawn[]) => all.map((each, i) => ({ kind: 'act', caller: i % 4, drawn: each }) as const);
const disturb = (caller: number, call: number, how: Disturbance) => ({ kind: 'disturb', caller, call, how }) as const;

describe('organizations, whoever goes on at every moment', () => {
  it(`keep their rules under ${seeds} seeds (PLINTH_TEST_SEED=${firstSeed})`, async function () {
    this.timeout(300_000);
    await findsNothing(organizations, (played) => played < seeds);
  });

  const plays: readonly (readonly [what: string, at: number, items: readonly OrganizationsItem[]])[] = [
    [
      'a team leaves its organization as somebody joins that: who never saw it learns nothing of it',
      16168015,
      acts(
        drawn('detachTeam', 'ops'),
        drawn('addTeamMember', 'alice'),
        drawn('detachTeam', 'alice'),
        drawn('addOrganizationMember', 'ops', { email: 'carol@example.com', admin: true }),
        drawn('removeOrganizationMember', 'alice'),
        drawn('detachTeam', 'carol'),
        drawn('removeOrganizationMember', 'alice'),
        drawn('detachTeam', 'alice'),
      ),
    ],
    [
      'a team goes elsewhere as its mover loses the right: they hear of the team only what was so with the right',
      17,
      acts(
        drawn('addOrganizationMember', 'ops'),
        drawn('migrateTeam', 'alice', { team: 9 }),
        drawn('detachTeam', 'carol'),
        drawn('setOrganizationMemberRole', 'alice', { email: 'bob@example.com', organization: 3 }),
        drawn('migrateTeam', 'bob', { organization: 31, team: 13 }),
      ),
    ],
    [
      'a team is to stand alone as its admin leaves the organization: they hear nothing of a team that has no admin',
      85,
      acts(
        drawn('removeOrganizationMember', 'ops', { force: true }),
        drawn('proposeTransfer', 'alice', { alone: true }),
      ),
    ],
    [
      'an organization is deleted once more before a removal that died in it goes on: restored, it lets it end',
      0,
      [
        ...acts(
          drawn('deleteOrganization', 'ops', { organization: 1 }),
          drawn('removeOrganizationMember', 'ops', { organization: 1, force: true }),
        ),
        disturb(0, 0, 'fails after'),
        // The call that marks the member.
        disturb(1, 5, 'dies after'),
      ],
    ],
    [
      'a team comes in as a member of both is being removed: nobody takes them for absent before they are',
      1417,
      acts(
        drawn('addTeamMember', 'ops', { team: 1 }),
        drawn('deleteTeam', 'ops'),
        drawn('removeOrganizationMember', 'ops', { organization: 1 }),
        drawn('deleteTeam', 'ops'),
        drawn('migrateTeam', 'ops', { team: 1, organization: 1, force: true }),
      ),
    ],
    [
      'somebody is removed by force as their team comes in without them: no other removal says that the team holds them',
      3315402,
      acts(
        drawn('removeOrganizationMember', 'alice', { email: 'bob@example.com' }),
        drawn('removeTeamMember', 'ops', { email: 'bob@example.com', team: 1 }),
        drawn('migrateTeam', 'ops', { team: 1, force: true }),
        drawn('removeOrganizationMember', 'alice', { email: 'bob@example.com', force: true }),
      ),
    ],
  ];
  for (const [what, at, items] of plays) {
    it(what, async () => {
      for (let i = 0; i < 20; i++) {
        const { faults } = await playOrganizations(at + i, items);
        expect(faults).to.deep.equal([]);
      }
    });
  }
});
