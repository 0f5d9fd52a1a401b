import { expect } from 'chai';
import type { Operation } from '../organizations/organizations-server.js';
import { alice, bob, carol, dave, useOrganizations } from './organizations-world.js';

describe('lists', () => {
  const world = useOrganizations();
  let organizationId: string;
  let teamId: number;
  before(async () => {
    organizationId = await world.organization({ [bob]: 'admin', [carol]: 'member', [dave]: 'member' });
    teamId = await world.team({ [carol]: 'member', [dave]: 'member' }, { organizationId });
    await world.team({}, { organizationId });
    await world.organization({ [bob]: 'member' });
  });

  const nextOf = (headers: Headers): URL | undefined => {
    const [, path] = /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '') ?? [];
    return path === undefined ? undefined : new URL(path, world.server.origin);
  };

  const lists: Partial<Record<Operation, () => Record<string, string | number>>> = {
    listOrganizations: () => ({}),
    listTeams: () => ({}),
    listOrganizationMembers: () => ({ organizationId }),
    listOrganizationTeams: () => ({ organizationId }),
    listOrganizationEvents: () => ({ organizationId }),
    listTeamMembers: () => ({ teamId }),
  };
  for (const [operation, params] of Object.entries(lists) as [Operation, () => Record<string, string | number>][]) {
    it(`${operation} is whole without a limit, and the same in pages`, async () => {
      const whole = await world.server.ask(operation, { as: bob, params: params() });
      expect(whole.headers.get('link')).to.equal(null);
      for (const limit of [1, 2, 200]) {
        const found: unknown[] = [];
        let query: Record<string, string> | undefined = { limit: String(limit) };
        while (query !== undefined) {
          const page = await world.server.ask(operation, { as: bob, params: params(), query });
          expect((page.body as unknown[]).length).to.be.within(1, limit);
          found.push(...(page.body as unknown[]));
          const next = nextOf(page.headers);
          query = next === undefined ? undefined : Object.fromEntries(next.searchParams);
        }
        expect(found).to.deep.equal(whole.body);
      }
    });
  }

  it('go on after what is removed meanwhile', async () => {
    const params = {
      organizationId: await world.organization({ [bob]: 'member', [carol]: 'member', [dave]: 'member' }),
    };
    const first = await world.server.ask('listOrganizationMembers', { params, query: { limit: '2' } });
    await world.server.expect(204, 'removeOrganizationMember', { params: { ...params, email: bob } });
    const query = Object.fromEntries(nextOf(first.headers)?.searchParams ?? []);
    const second = await world.server.expect<object[]>(200, 'listOrganizationMembers', { params, query });
    expect(second).to.deep.equal([
      { email: carol, role: 'member' },
      { email: dave, role: 'member' },
    ]);
  });

  it('have cursors of one caller and one list', async () => {
    const params = { organizationId };
    const first = await world.server.ask('listOrganizationMembers', { params, query: { limit: '1' } });
    const { limit = '', cursor = '' } = Object.fromEntries(nextOf(first.headers)?.searchParams ?? []);
    const refused = async (operation: Operation, as: string, which: string, of: Record<string, string | number>) => {
      const problem = await world.refused('bad-input', operation, { as, params: of, query: { limit, cursor: which } });
      expect(problem.errors?.map(({ path }) => path)).to.deep.equal(['query.cursor']);
    };
    await world.server.expect(200, 'listOrganizationMembers', { params, query: { limit, cursor } });
    await refused('listOrganizationMembers', bob, cursor, params);
    await refused('listOrganizationTeams', alice, cursor, params);
    await refused('listOrganizationMembers', alice, `${cursor}x`, params);
    await refused('listOrganizationMembers', alice, 'made-up', params);
  });

  for (const limit of ['0', '01', '201', '-1', '1.5', 'all', '']) {
    it(`take no limit of ${JSON.stringify(limit)}`, async () => {
      await world.refused('bad-input', 'listTeams', { query: { limit } });
    });
  }
});
