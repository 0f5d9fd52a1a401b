/** The rules under concurrency, on the real emulator. What becomes of them without one of their guards is in guards.test.ts. */
import { expect } from 'chai';
import { createIssuer, type Issuer } from '../http/issuer.js';
import { needFirestoreEmulator } from '../support/emulators.js';
import { bySeed, seed } from '../support/search.js';
import { storm } from './storm.js';

describe('organizations, with many callers at once', () => {
  let issuer: Issuer;
  let host: string;
  before(async function () {
    host = await needFirestoreEmulator(this);
    issuer = await createIssuer();
  });
  after(() => issuer?.close());

  it(`keep their rules at every moment, and tell every change ${bySeed}`, async function () {
    this.timeout(240_000);
    const found = await storm(host, issuer, { seed, runs: 1, rounds: 12, callers: 8, deaths: 0.05 });
    expect(found.failure).to.equal(undefined);
    expect([...found.replies.keys()]).to.include.members([200, 201, 204, 404]);
    expect(found.looks).to.be.above(12);
    expect(found.events).to.be.above(12);
  });
});
