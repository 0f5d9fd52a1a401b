import { createIssuer, type Issuer } from '../http/issuer.js';
import { needFirestoreEmulator, openEmulatedStore } from '../support/emulators.js';
import { fuzzEverything, strangers } from './fuzz.js';
import { createOrganizationsServer, type OrganizationsServer } from './organizations-server.js';

const seed = Number(process.env['PLINTH_FUZZ_SEED'] ?? Date.now() % 1_000_000_000);

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

  it(`is answered as the route table says, 2000 times an operation (PLINTH_FUZZ_SEED=${seed})`, async function () {
    this.timeout(900_000);
    await fuzzEverything(server, issuer, { seed, rounds: 2000 });
  });
});
