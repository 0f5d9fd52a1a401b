import { createMemoryStore } from '../../local/memory-store.js';
import { createIssuer, type Issuer } from '../http/issuer.js';
import { fuzzEverything, strangers } from './fuzz.js';
import { createOrganizationsServer, type OrganizationsServer } from './organizations-server.js';

const seed = Number(process.env['PLINTH_FUZZ_SEED'] ?? Date.now() % 1_000_000_000);

describe('whatever is sent to the organization API', () => {
  let issuer: Issuer;
  let server: OrganizationsServer;
  before(async () => {
    issuer = await createIssuer();
    server = await createOrganizationsServer(issuer, { store: createMemoryStore(), env: strangers });
  });
  after(() => {
    server.close();
    issuer.close();
  });

  it(`is answered as the route table says, by no fault of ours, with nobody else's data (PLINTH_FUZZ_SEED=${seed})`, async function () {
    this.timeout(60_000);
    await fuzzEverything(server, issuer, { seed, rounds: 200 });
  });
});
