/** The long storm, and each guard taken out in its turn. */
import { expect } from 'chai';
import { createIssuer, type Issuer } from '../http/issuer.js';
import { needFirestoreEmulator } from '../support/emulators.js';
import { blindTo, blindToRemovals, slowly, type Wrap, withoutEvents } from './guards.js';
import { type StormOptions, storm } from './storm.js';

const seed = Number(process.env['PLINTH_STORM_SEED'] ?? Date.now() % 1_000_000_000);

/** Few kinds of actions, so that the ones that must not meet do. */
const removals = {
  addOrganizationMember: 4,
  removeOrganizationMember: 5,
  addTeamMember: 8,
  migrateTeam: 3,
  createTeam: 2,
};

const emails = ['dave@example.com', 'a/b@example.com'];

describe('organizations, in a long storm', () => {
  let issuer: Issuer;
  let host: string;
  before(async function () {
    host = await needFirestoreEmulator(this);
    issuer = await createIssuer();
  });
  after(() => issuer?.close());

  const storms: Readonly<Record<string, Omit<StormOptions, 'seed'>>> = {
    'of all actions': { runs: 3, rounds: 30, callers: 8 },
    'of all actions, while functions die': { runs: 3, rounds: 30, callers: 8, deaths: 0.2 },
    'of removals, with everybody slow': { runs: 2, rounds: 30, callers: 8, weights: removals, wrap: slowly },
    'of roles and removals, with everybody slow': {
      runs: 2,
      rounds: 30,
      callers: 6,
      weights: { setOrganizationMemberRole: 6, removeOrganizationMember: 4, addOrganizationMember: 3 },
      wrap: slowly,
    },
    'of twenty callers': { runs: 1, rounds: 15, callers: 20 },
  };
  for (const [title, options] of Object.entries(storms)) {
    it(`keep their rules in one ${title} (PLINTH_STORM_SEED=${seed})`, async function () {
      this.timeout(600_000);
      const { failure, events } = await storm(host, issuer, { seed, ...options });
      expect(failure).to.equal(undefined);
      expect(events).to.be.above(50);
    });
  }

  const guards: readonly (readonly [what: string, wrap: Wrap, breaks: RegExp])[] = [
    [
      'that transactions notice changed members of the organization',
      blindTo('organizationMembers'),
      /but not in its organization|no admin/,
    ],
    ['that transactions notice changed teams', blindTo('teams'), /team/],
    ['that who is being removed is taken for gone', blindToRemovals, /but not in its organization/],
    ['that events are written with what they tell', withoutEvents, /event/],
  ];
  for (const [what, wrap, breaks] of guards) {
    it(`would break them without this: ${what}`, async function () {
      this.timeout(600_000);
      const { failure } = await storm(host, issuer, {
        seed,
        runs: 10,
        rounds: 30,
        callers: 8,
        weights: removals,
        emails,
        wrap,
      });
      expect(failure).to.match(breaks);
    });
  }
});
