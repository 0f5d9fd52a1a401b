/** The rules under concurrency, on the real emulator, and what happens to them without the guards. */
import { expect } from 'chai';
import { createIssuer, type Issuer } from '../http/issuer.js';
import { needFirestoreEmulator } from '../support/emulators.js';
import { withoutTransactions } from './guards.js';
import { storm } from './storm.js';

const seed = Number(process.env['PLINTH_STORM_SEED'] ?? Date.now() % 1_000_000_000);

describe('organizations, with many callers at once', () => {
  let issuer: Issuer;
  let host: string;
  before(async function () {
    host = await needFirestoreEmulator(this);
    issuer = await createIssuer();
  });
  after(() => issuer?.close());

  it(`keep their rules at every moment, and tell every change (PLINTH_STORM_SEED=${seed})`, async function () {
    this.timeout(60_000);
    const { failure, replies, looks } = await storm(host, issuer, {
      seed,
      runs: 1,
      rounds: 15,
      callers: 8,
      deaths: 0.05,
    });
    expect(failure).to.equal(undefined);
    expect([...replies.keys()]).to.include.members([200, 201, 204, 403, 404]);
    expect(looks).to.be.above(15);
  });

  it('would break them without transactions', async function () {
    this.timeout(60_000);
    const { failure } = await storm(host, issuer, { seed, runs: 5, rounds: 30, callers: 8, wrap: withoutTransactions });
    expect(failure).to.be.a('string');
  });
});
