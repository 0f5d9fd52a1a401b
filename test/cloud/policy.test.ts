/** How policies are changed: nothing of others is lost, and nothing is written without need. */
import { expect } from 'chai';
import { createPolicy, type Policy, withGrants, withoutGrants } from '../../functions/cloud/policy.js';
import { Problem } from '../../shared/problems.js';

/** Of a lease that is not lost. */
const still = new AbortController().signal;
const grant = { member: 'user:alice@example.com', role: 'roles/viewer' };
const condition = { title: 'until noon', expression: 'false' };
const standing: Policy = {
  version: 3,
  etag: 'e1',
  bindings: [
    { role: 'roles/viewer', members: ['user:alice@example.com'], condition },
    { role: 'roles/viewer', members: ['user:bob@example.com'] },
    { role: 'roles/owner', members: ['user:bob@example.com'] },
  ],
};

describe('policies', () => {
  it('add a member beside the others, and leave conditions alone', () => {
    expect(withGrants(standing, [grant])).to.deep.equal({
      version: 3,
      etag: 'e1',
      bindings: [
        { role: 'roles/viewer', members: ['user:alice@example.com'], condition },
        { role: 'roles/viewer', members: ['user:bob@example.com', 'user:alice@example.com'] },
        { role: 'roles/owner', members: ['user:bob@example.com'] },
      ],
    });
  });

  it('begin a binding where the role has none', () => {
    expect(withGrants({ etag: 'e' }, [grant]).bindings).to.deep.equal([
      { role: 'roles/viewer', members: ['user:alice@example.com'] },
    ]);
  });

  it('are the same object if nothing is missing', () => {
    const granted = withGrants(standing, [grant]);
    expect(withGrants(granted, [grant])).to.equal(granted);
    expect(withoutGrants(standing, [grant])).to.equal(standing);
  });

  it('take a grant back, and nothing else', () => {
    expect(withoutGrants(withGrants(standing, [grant]), [grant])).to.deep.equal(standing);
  });

  const aborted = () => new Problem('cloud-unavailable', 'raced', { members: { cloudStatus: 'ABORTED' } });

  it('are read again when a race is lost, and written with what was read last', async () => {
    let etag = 0;
    const written: Policy[] = [];
    const policy = createPolicy({
      read: async () => ({ ...standing, etag: `e${etag}` }),
      async write(next) {
        written.push(next);
        if (etag++ < 2) throw aborted();
        return next;
      },
    });
    await policy.grant([grant], still);
    expect(written.map((each) => each.etag)).to.deep.equal(['e0', 'e1', 'e2']);
  });

  it('are not written any more once the lease is lost, however late in the reading or between races', async () => {
    for (const lostAtRead of [1, 2]) {
      const lease = new AbortController();
      let reads = 0;
      let writes = 0;
      const policy = createPolicy({
        async read() {
          reads += 1;
          if (reads === lostAtRead) lease.abort(new Error('somebody else has it'));
          return standing;
        },
        async write() {
          writes += 1;
          throw aborted();
        },
      });
      const error = await policy.grant([grant], lease.signal).catch((thrown: unknown) => thrown);
      expect((error as Error).message).to.equal('somebody else has it');
      expect(writes).to.equal(lostAtRead - 1);
    }
  });

  it('give up after some lost races', async () => {
    let writes = 0;
    const policy = createPolicy({
      read: async () => standing,
      async write() {
        writes++;
        throw aborted();
      },
    });
    const error = await policy.grant([grant], still).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(Problem);
    expect(writes).to.equal(5);
  });
});
