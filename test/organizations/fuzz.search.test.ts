import { createMemoryStore } from '../../local/functions/memory-store.js';
import { createIssuer, type Issuer } from '../http/issuer.js';
import { bySeed, searchMs, seed } from '../support/search.js';
import { fuzzEverything, strangers } from './fuzz.js';
import { createOrganizationsServer, type OrganizationsServer } from './organizations-server.js';

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

  it(`is answered as the route table says, by no fault of ours, with nobody else's data ${bySeed}`, async function () {
    this.timeout(searchMs + 240_000);
    await fuzzEverything(server, issuer, { seed, fewest: 48 });
  });
});
