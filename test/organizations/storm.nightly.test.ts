/** The long storm. */
import { expect } from 'chai';
import { createIssuer, type Issuer } from '../http/issuer.js';
import { needFirestoreEmulator } from '../support/emulators.js';
import { bySeed, seed } from '../support/search.js';
import { type StormOptions, slowly, storm } from './storm.js';

/** Few kinds of actions, so that the ones that must not meet do. */
const removals = {
  addOrganizationMember: 4,
  removeOrganizationMember: 5,
  addTeamMember: 8,
  migrateTeam: 3,
  createTeam: 2,
};

describe('organizations, in a long storm', () => {
  let issuer: Issuer;
  let host: string;
  before(async function () {
    host = await needFirestoreEmulator(this);
    issuer = await createIssuer();
  });
  after(() => issuer?.close());

  const storms: Readonly<Record<string, Omit<StormOptions, 'seed'>>> = {
    'of all actions': { runs: 2, rounds: 100, callers: 16 },
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
    it(`keep their rules in one ${title} ${bySeed}`, async function () {
      this.timeout(600_000);
      const { failure, events } = await storm(host, issuer, { seed, ...options });
      expect(failure).to.equal(undefined);
      expect(events).to.be.above(50);
    });
  }
});
