import { createIssuer, type Issuer } from '../http/issuer.js';
import { needFirestoreEmulator, openEmulatedStore } from '../support/emulators.js';
import { bySeed, seed } from '../support/search.js';
import { fuzzEverything, strangers } from './fuzz.js';
import { createOrganizationsServer, type OrganizationsServer } from './organizations-server.js';

describe('whatever is sent to the organization API, on Firestore', () => {
  let issuer: Issuer;
  let server: OrganizationsServer;
  let close: () => Promise<void>;
  before(async function () {
    const { store } = openEmulatedStore(await needFirestoreEmulator(this));
    close = () => store.close();
    issuer = await createIssuer();
    server = await createOrganizationsServer(issuer, { store, env: strangers });
  });
  after(async () => {
    server?.close();
    issuer?.close();
    await close?.();
  });

  it(`is answered as the route table says ${bySeed}`, async function () {
    this.timeout(900_000);
    await fuzzEverything(server, issuer, { seed, fewest: 200 });
  });
});
