/** The database takes the claim of an idempotency key, and its answer is lost: nothing is sent again, and nothing changes. */
import { expect } from 'chai';
import type { Store } from '../../functions/store/store.js';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import { collections } from '../../shared/names.js';
import { Problem } from '../../shared/problems.js';
import { alice, useOrganizations } from './organizations-world.js';

const memory = createMemoryStore();
let claims = 0;
const store: Store = {
  ...memory,
  async commit(writes) {
    const versions = await memory.commit(writes);
    const [first] = writes;
    if (first?.kind !== 'create' || first.collection !== collections.idempotency) return versions;
    claims += 1;
    throw new Problem('unavailable', 'The database did not answer.');
  },
};

describe('a claim of an idempotency key whose answer is lost', () => {
  const world = useOrganizations({ open: async () => store });

  it('is answered 503 at once, and does not meet itself as a request in flight', async () => {
    const headers = { 'idempotency-key': 'lost' };
    const { status } = await world.server.ask('createOrganization', { as: alice, body: { name: 'Acme' }, headers });
    expect(status).to.equal(503);
    expect(claims).to.equal(1);
    expect(memory.dump()[collections.organizations] ?? {}).to.deep.equal({});
  });
});
