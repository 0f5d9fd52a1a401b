import { expect } from 'chai';
import type { Store } from '../../functions/store/store.js';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import { collections } from '../../shared/names.js';
import { Problem } from '../../shared/problems.js';
import { alice, bob, carol, useOrganizations } from './organizations-world.js';

const memory = createMemoryStore();
/** What the store does before the next transaction, once. */
let beforeTransaction: (() => void | Promise<void>) | undefined;
/** How often transactions have run, those included that ran again. */
let runs = 0;
const store: Store = {
  ...memory,
  async transaction(body) {
    const before = beforeTransaction;
    beforeTransaction = undefined;
    await before?.();
    return memory.transaction((transaction) => {
      runs += 1;
      return body(transaction);
    });
  },
};

describe('an idempotency key', () => {
  const world = useOrganizations({ open: async () => store });
  const create = (key: string, name = 'Acme', as = alice) =>
    world.server.ask('createOrganization', { as, body: { name }, headers: { 'idempotency-key': key } });
  const kept = () => Object.values(memory.dump()[collections.idempotency] ?? {});
  /** As if all requests that are in flight had died long ago. */
  const expireLeases = async () => {
    for (const [id, data] of Object.entries(memory.dump()[collections.idempotency] ?? {})) {
      if (data['leaseUntil'] === undefined) continue;
      const past = { ...data, leaseUntil: '2020-01-01T00:00:00.000Z' };
      await memory.commit([{ kind: 'set', collection: collections.idempotency, id, data: past }]);
    }
  };

  it('gives the first answer again, and does nothing', async () => {
    const [first, again] = [await create('one'), await create('one')];
    expect(again.status).to.equal(201);
    expect(again.body).to.deep.equal(first.body);
    expect(again.headers.get('location')).to.equal(first.headers.get('location'));
    expect((await create('two')).body).not.to.deep.equal(first.body);
  });

  it('gives an answer without a body again', async () => {
    const params = { organizationId: await world.organization() };
    await world.server.expect(200, 'inviteMembers', { params, body: { members: [{ email: bob }] } });
    const decline = () =>
      world.server.ask('declineInvitation', { as: bob, params, headers: { 'idempotency-key': 'declined' } });
    expect([(await decline()).status, (await decline()).status]).to.deep.equal([204, 204]);
  });

  it('is of one caller, one path, and one body', async () => {
    const first = await create('mine');
    expect((await create('mine', 'Acme', carol)).body).not.to.deep.equal(first.body);
    const reused = await create('mine', 'Other');
    expect(reused.status).to.equal(422);
    expect(reused.body).to.include({ code: 'key-reused' });
    const team = await world.server.ask('createTeam', {
      body: { name: 'Acme' },
      headers: { 'idempotency-key': 'mine' },
    });
    expect(team.status).to.equal(201);
  });

  it('does not mind how the body is written', async () => {
    const ask = (body: string) =>
      world.server.token(alice).then((token) =>
        fetch(`${world.server.origin}/organizations`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${token}`,
            'content-type': 'application/json',
            'idempotency-key': 'written',
          },
          body,
        }).then((reply) => reply.json() as unknown),
      );
    expect(await ask('{ "name" : " Acme " }')).to.deep.equal(await ask('{"name":"Acme"}'));
  });

  it('keeps refusals that last', async () => {
    const teamId = await world.team();
    const migrate = (key: string) =>
      world.server.ask('migrateTeam', {
        params: { teamId },
        body: { organizationId: 'ffffffff-ffff-4fff-8fff-ffffffffffff' },
        headers: { 'idempotency-key': key },
      });
    const [first, again] = [await migrate('lasting'), await migrate('lasting')];
    expect(first.status).to.be.oneOf([403, 404]);
    const { instance: _, ...told } = first.body as Record<string, unknown>;
    expect([again.status, again.body]).to.deep.equal([first.status, { ...(again.body as object), ...told }]);
    expect(kept().filter(({ outcome }) => String(outcome).includes(String(told['code'])))).to.have.lengthOf(1);
  });

  it('judges anew what was refused as things stood', async () => {
    const organizationId = await world.organization();
    const teamId = await world.team();
    const migrate = () =>
      world.server.ask('migrateTeam', {
        params: { teamId },
        body: { organizationId },
        headers: { 'idempotency-key': 'refused' },
      });
    const first = await migrate();
    await world.server.expect(201, 'addOrganizationMember', { params: { organizationId }, body: { email: bob } });
    expect([first.status, (await migrate()).status]).to.deep.equal([400, 200]);
  });

  it('keeps what changed nothing', async () => {
    const params = { organizationId: await world.organization({ [bob]: 'member' }) };
    const add = () =>
      world.server.ask('addOrganizationMember', {
        params,
        body: { email: bob },
        headers: { 'idempotency-key': 'same' },
      });
    expect((await add()).status).to.equal(200);
    await world.server.expect(204, 'removeOrganizationMember', { params: { ...params, email: bob } });
    expect((await add()).status).to.equal(200);
    expect(await world.server.expect(200, 'listOrganizationMembers', { params })).to.have.length(1);
  });

  it('answers 409 while the first is in flight', async () => {
    let whileInFlight: Awaited<ReturnType<typeof create>> | undefined;
    beforeTransaction = async () => {
      whileInFlight = await create('flight');
    };
    expect((await create('flight')).status).to.equal(201);
    expect(whileInFlight?.status).to.equal(409);
    expect(whileInFlight?.headers.get('retry-after')).to.equal('1');
    expect((await create('flight')).status).to.equal(201);
  });

  it('makes one of ten at once', async () => {
    const before = Object.keys(memory.dump()[collections.organizations] ?? {}).length;
    const statuses = (await Promise.all(Array.from({ length: 10 }, () => create('ten')))).map(({ status }) => status);
    expect(new Set(statuses)).to.satisfy((found: Set<number>) => [...found].every((each) => [201, 409].includes(each)));
    expect(Object.keys(memory.dump()[collections.organizations] ?? {})).to.have.length(before + 1);
  });

  it('lets changes of one team take turns, as they do without a key', async () => {
    const teamId = await world.team();
    const before = runs;
    const add = (n: number) =>
      world.server.ask('addTeamMember', {
        as: bob,
        params: { teamId },
        body: { email: `member-${n}@example.com` },
        headers: { 'idempotency-key': `turn-${n}` },
      });
    const replies = await Promise.all(Array.from({ length: 10 }, (_, n) => add(n)));
    expect(new Set(replies.map(({ status }) => status))).to.deep.equal(new Set([201]));
    expect(runs - before).to.equal(10);
  });

  it('is free again after a failure of ours', async () => {
    beforeTransaction = () => {
      throw new Problem('unavailable', 'The database cannot be reached now.');
    };
    expect((await create('failed')).status).to.equal(503);
    expect((await create('failed')).status).to.equal(201);
  });

  it('is free again when the first request died, whose late change then fails', async () => {
    const before = Object.keys(memory.dump()[collections.organizations] ?? {}).length;
    let second: Awaited<ReturnType<typeof create>> | undefined;
    beforeTransaction = async () => {
      await expireLeases();
      second = await create('late');
    };
    const first = await create('late');
    expect(second?.status).to.equal(201);
    expect(first.status).to.equal(503);
    expect((await create('late')).body).to.deep.equal(second?.body);
    expect(Object.keys(memory.dump()[collections.organizations] ?? {})).to.have.length(before + 1);
  });

  it('is forgotten after a day', async () => {
    const first = await create('day');
    for (const [id, data] of Object.entries(memory.dump()[collections.idempotency] ?? {})) {
      expect(Date.parse(String(data['expireAt'])) - Date.now()).to.be.within(23.9 * 3600_000, 24 * 3600_000);
      const past = { ...data, expireAt: '2020-01-01T00:00:00.000Z' };
      await memory.commit([{ kind: 'set', collection: collections.idempotency, id, data: past }]);
    }
    const later = await create('day', 'Other');
    expect(later.status).to.equal(201);
    expect(later.body).not.to.deep.equal(first.body);
  });

  for (const key of ['', 'x'.repeat(256), 'ä']) {
    it(`has 1 to 255 printable characters: not ${JSON.stringify(key.slice(0, 5))}`, async () => {
      const { status, body } = await create(key);
      expect(status).to.equal(400);
      expect(body).to.have.nested.property('errors[0].path', 'header.idempotency-key');
    });
  }

  it('leaves no token behind, nor the key itself', async () => {
    await create('a-key-to-look-for');
    const text = JSON.stringify(kept());
    expect(text).not.to.contain(await world.server.token(alice));
    expect(text).not.to.contain('a-key-to-look-for');
  });
});
