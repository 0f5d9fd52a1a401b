/** Ceilings of teams and organizations: who sets them over HTTP, and what they refuse. Prices are as in the test of ceilings. */
import { expect } from 'chai';
import { ofTeam, readCounts } from '../../functions/engine/record/counts.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import type { GivenOptions } from '../../shared/bootstrap/options.js';
import type { PreflightReply } from '../../shared/bootstrap/preflight.js';
import type { BeginReply } from '../../shared/bootstrap/routes.js';
import type { Organization, OrganizationEvent } from '../../shared/organization/organization.js';
import type { MigrationPreview, Team } from '../../shared/organization/team.js';
import type { ProblemBody } from '../../shared/problems.js';
import { createOrganizationsServer, type OrganizationsServer } from '../organizations/organizations-server.js';
import { type BootstrapsServer, createBootstrapsServer, makeRequest } from './bootstraps-server.js';
import { oneDollarAnHour } from './ceiling-prices.js';
import { createIssuer, type Issuer } from './issuer.js';

const [alice, bob, carol] = ['alice@example.com', 'bob@example.com', 'carol@example.com'] as const;
const prices = { PLINTH_PRICES: JSON.stringify(oneDollarAnHour) };

describe('ceilings of teams and organizations', () => {
  let issuer: Issuer;
  let bootstraps: BootstrapsServer;
  let organizations: OrganizationsServer;
  let organizationId: string;
  before(async () => {
    issuer = await createIssuer();
  });
  after(() => issuer.close());
  beforeEach(async () => {
    bootstraps = await createBootstrapsServer(issuer, { env: prices });
    organizations = await createOrganizationsServer(issuer, {
      store: bootstraps.context.store,
      env: { ...prices, PLINTH_ORGANIZATION_CREATORS: 'example.com' },
    });
    organizationId = (await organizations.expect<Organization>(201, 'createOrganization', { body: { name: 'acme' } }))
      .id;
    for (const email of [bob, carol]) {
      await organizations.expect(201, 'addOrganizationMember', { params: { organizationId }, body: { email } });
    }
  });
  afterEach(() => {
    organizations.close();
    bootstraps.close();
  });

  /** Alice governs the organization. Bob is an admin of the team, and Carol a member. */
  async function team(inside = true): Promise<number> {
    const body = { name: 'platform', ...(inside && { organizationId }) };
    const { teamId } = await organizations.expect<Team>(201, 'createTeam', { body });
    for (const member of [{ email: bob, role: 'admin' }, { email: carol }]) {
      await organizations.expect(201, 'addTeamMember', { params: { teamId }, body: member });
    }
    return teamId;
  }
  const limit = (teamId: number, body: object, as: string = alice, status = 200) =>
    organizations.expect<Team & ProblemBody>(status, 'setTeamCeilings', { as, params: { teamId }, body });
  const limitAll = (body: object, as: string = alice, status = 200) =>
    organizations.expect<Organization & ProblemBody>(status, 'setOrganizationCeilings', {
      as,
      params: { organizationId },
      body,
    });
  const begin = async (name: string, of: number, options: GivenOptions = {}, as: string = carol) =>
    (
      await bootstraps.json<BeginReply>(201, 'POST', '/bootstraps', {
        body: makeRequest(name, options, { team: of }),
        as,
      })
    ).bootstrap;
  const refused = (name: string, of: number, options: GivenOptions = {}, status = 429) =>
    bootstraps.problem(status, 'POST', '/bootstraps', { body: makeRequest(name, options, { team: of }), as: carol });
  const remove = async ({ id }: BootstrapView, as: string = carol) => {
    await bootstraps.json(200, 'POST', `/bootstraps/${id}/remove`, { as });
    await bootstraps.settle();
  };

  it('are shown to members, set by admins, and told by an event', async () => {
    const teamId = await team();
    const wanted = { living: 2, usdPerMonth: '40.5' };
    const shown = { living: 2, usdPerMonth: '40.50' };
    expect((await limitAll(wanted)).ceilings).to.deep.equal(shown);
    expect((await limit(teamId, { living: 1 }, bob)).ceilings).to.deep.equal({ living: 1 });
    await limitAll(wanted, bob, 403);
    await limit(teamId, {}, carol, 403);
    await limit(teamId, {}, 'zoe@example.org', 404);
    await limitAll(wanted, 'zoe@example.org', 404);
    const seen = await organizations.expect<Organization>(200, 'getOrganization', {
      as: carol,
      params: { organizationId },
    });
    expect(seen.ceilings).to.deep.equal(shown);
    const own = await organizations.expect<Team>(200, 'getTeam', { as: carol, params: { teamId } });
    expect(own.ceilings).to.deep.equal({ living: 1 });
    const events = await organizations.expect<OrganizationEvent[]>(200, 'listOrganizationEvents', {
      params: { organizationId },
    });
    const told = events.filter(({ action }) => action.endsWith('ceilings-set'));
    expect(told.map(({ action, actor }) => [action, actor])).to.deep.equal([
      ['team-ceilings-set', bob],
      ['organization-ceilings-set', alice],
    ]);
    expect(told[1]?.after).to.deep.include({ ceilings: shown });
    await limitAll(wanted);
    const still = await organizations.expect<unknown[]>(200, 'listOrganizationEvents', { params: { organizationId } });
    expect(still, 'the same again is no event').to.have.length(events.length);
    expect((await limitAll({})).ceilings).to.equal(undefined);
  });

  it('are faulty in all fields at once', async () => {
    const { errors } = await limitAll({ living: -1, usdPerMonth: '1e3', more: 1 }, alice, 400);
    expect(errors?.map(({ path }) => path)).to.have.members(['living', 'usdPerMonth', 'more']);
  });

  it('of a team in an organization are lowered by its own admins, and raised by the organization’s alone', async () => {
    const teamId = await team();
    await limitAll({ living: 5 });
    const above = await limit(teamId, { living: 6 }, bob, 403);
    expect(above.detail).to.contain("living is at most 5, which is the organization's");
    await limit(teamId, { living: 3 }, bob);
    for (const wanted of [{ living: 4 }, {}, { usdPerMonth: '9' }]) {
      const problem = await limit(teamId, wanted, bob, 403);
      expect(problem.detail).to.contain('living is 3 and may not be raised');
      expect(problem['advice']).to.contain('Ask one of its admins');
    }
    await limit(teamId, { living: 2, usdPerMonth: '9' }, bob);
    await limit(teamId, { living: 6 }, alice);
    const standalone = await team(false);
    await limit(standalone, { living: 1 }, bob);
    await limit(standalone, { living: 7 }, bob);
  });

  it('count what a team owns, refuse one more with what, why and next, also beforehand, and let it in after a removal', async () => {
    const teamId = await team();
    await limit(teamId, { living: 2 });
    const first = await begin('first', teamId);
    await begin('second', teamId);
    const problem = await refused('third', teamId);
    expect(problem).to.include({ code: 'too-many', limit: 'livingPerTeam', value: 2 });
    expect(problem.detail).to.equal(`Team ${teamId} has 2 living bootstraps, and its ceiling is 2.`);
    expect(problem.advice)
      .to.contain('Wait until one of them is removed')
      .and.to.contain(`plinth team ceilings ${teamId}`);
    const looked = await bootstraps.json<PreflightReply>(200, 'POST', '/preflights', {
      body: makeRequest('third', {}, { team: teamId }),
      as: carol,
    });
    expect(looked.go).to.equal(false);
    expect(looked.findings.filter(({ state }) => state === 'stop').map(({ code }) => code)).to.include('ceiling');
    // Without the team it is nobody's but Carol's.
    await bootstraps.json(201, 'POST', '/bootstraps', { body: makeRequest('hers'), as: carol });
    await remove(first);
    await begin('third', teamId);
  });

  it('of an organization count all of its teams, and none outside', async () => {
    const [red, blue, outside] = [await team(), await team(), await team(false)];
    await limitAll({ living: 2 });
    await begin('red-one', red);
    await begin('outside-one', outside);
    await begin('blue-one', blue);
    const problem = await refused('blue-two', blue);
    expect(problem).to.include({ code: 'too-many', limit: 'livingPerOrganization', value: 2 });
    expect(problem.detail).to.equal(
      `Organization ${organizationId} has in its teams 2 living bootstraps, and its ceiling is 2.`,
    );
    expect(problem.advice).to.contain(`plinth org ceilings ${organizationId}`);
    await begin('outside-two', outside);
    await limitAll({ living: 3 });
    await begin('blue-two', blue);
  });

  it('of a month count what is begun, extended and protected, by team and by organization', async () => {
    const [red, blue] = [await team(), await team()];
    await limit(red, { usdPerMonth: '5' });
    const first = await begin('first', red, { projectTtl: '2h' });
    const problem = await refused('second', red, { projectTtl: '20h' }, 409);
    expect(problem).to.include({ code: 'over-ceiling', limit: 'monthOfTeam', ceiling: '5.00' });
    expect(problem.detail).to.match(
      new RegExp(
        `^The bootstraps of team ${red} would cost \\d+\\.\\d+ USD in \\d{4}-\\d\\d, and its ceiling is 5\\.00\\.$`,
      ),
    );
    expect(problem.advice).to.contain('--spot-vms').and.to.contain(`plinth team ceilings ${red}`);
    const path = `/bootstraps/${first.id}`;
    const ask = (verb: string, body: object) => bootstraps.problem(409, 'POST', `${path}/${verb}`, { body, as: carol });
    const until = new Date(Date.now() + 20 * 3_600_000).toISOString();
    expect(await ask('extend', { ttl: '20h' })).to.include({ code: 'over-ceiling', limit: 'monthOfTeam' });
    expect(await ask('protect', { until, reason: 'ours' })).to.include({ code: 'over-ceiling', limit: 'monthOfTeam' });
    await bootstraps.json(200, 'POST', `${path}/extend`, { body: { ttl: '3h' }, as: carol });

    await limit(red, {});
    await limitAll({ usdPerMonth: '8' });
    await begin('blue-one', blue, { projectTtl: '2h' });
    const beyond = await refused('blue-two', blue, { projectTtl: '20h' }, 409);
    expect(beyond).to.include({ code: 'over-ceiling', limit: 'monthOfOrganization', ceiling: '8.00' });
    expect(await ask('extend', { ttl: '20h' })).to.include({ limit: 'monthOfOrganization' });
    // What is removed early costs less, so another one has room.
    await remove(first);
    await begin('blue-two', blue, { projectTtl: '3h' });
  });

  it('of a month are told by a preflight and a dry run, of the team and of the organization, also before a resume', async () => {
    const teamId = await team();
    const tellsOf = async (name: string, projectTtl: string, limit: string) => {
      const body = makeRequest(name, { projectTtl }, { team: teamId });
      const { go, findings } = await bootstraps.json<PreflightReply>(200, 'POST', '/preflights', { body, as: carol });
      const stops = findings.filter(({ state }) => state === 'stop');
      // Whose name it is stands for all that a resume changes.
      expect([go, stops.map(({ code }) => code)]).to.deep.equal([false, [name === 'first' ? 'name' : 'ceiling']]);
      expect(stops[0]?.what).to.match(/ would cost \d+\.\d+ USD in \d{4}-\d\d, and its ceiling is 8\.00\.$/);
      expect(stops[0]?.mend).to.contain(limit === 'monthOfTeam' ? 'plinth team ceilings' : 'plinth org ceilings');
      const asked = { body, as: carol };
      const planned = await bootstraps.problem(409, 'POST', '/bootstraps?dryRun=true', asked);
      expect(planned).to.include({ code: 'over-ceiling', limit });
    };
    await limit(teamId, { usdPerMonth: '8' });
    await begin('first', teamId, { projectTtl: '2h' });
    await bootstraps.settle();
    await tellsOf('second', '20h', 'monthOfTeam');
    await tellsOf('first', '20h', 'monthOfTeam');
    await limit(teamId, {});
    await limitAll({ usdPerMonth: '8' });
    await tellsOf('second', '20h', 'monthOfOrganization');
    await tellsOf('first', '20h', 'monthOfOrganization');
    const body = makeRequest('second', { projectTtl: '3h' }, { team: teamId });
    const { go } = await bootstraps.json<PreflightReply>(200, 'POST', '/preflights', { body, as: carol });
    expect(go, 'what has room is not refused').to.equal(true);
  });

  it('are passed by a migration, which its preview says, and let nothing new begin until there is room', async () => {
    const [inside, coming] = [await team(), await team(false)];
    await limitAll({ living: 2 });
    await begin('inside', inside, { projectTtl: '2h' });
    const moved = await begin('coming-one', coming, { projectTtl: '2h' });
    const preview = async () => {
      const reply = await organizations.ask('previewMigration', {
        params: { teamId: coming },
        query: { organizationId },
      });
      return { etag: reply.headers.get('etag') ?? '', body: reply.body as MigrationPreview };
    };
    expect((await preview()).body.warnings).to.equal(undefined);
    const { etag } = await preview();
    await begin('coming-two', coming, { projectTtl: '2h' });
    await limitAll({ living: 2, usdPerMonth: '1' });
    const then = 'It moves all the same, and nothing new begins until there is room.';
    const { body, etag: latest } = await preview();
    expect(body.bootstrapsInAll).to.equal(2);
    expect(body.blockers).to.deep.equal([]);
    expect(body.warnings?.[0]).to.equal(
      `The organization would have 3 living bootstraps, and its ceiling is 2. ${then}`,
    );
    expect(body.warnings?.[1]).to.match(
      /^The organization would spend \d+\.\d+ USD in \d{4}-\d\d, and its ceiling is 1\.00\./,
    );
    const migrate = (status: number, ifMatch: string) =>
      organizations.expect<ProblemBody>(status, 'migrateTeam', {
        params: { teamId: coming },
        headers: { 'if-match': ifMatch },
        body: { organizationId },
      });
    const outdated = await migrate(412, etag);
    expect(outdated.detail).to.contain('its members or its bootstraps have changed since the preview');
    await migrate(200, latest);
    await refused('inside-two', inside);
    await remove(moved);
    await refused('inside-two', inside);
    await limitAll({ living: 3 });
    await begin('inside-two', inside);
  });

  it('hold for everything that begins at once', async () => {
    const [red, blue] = [await team(), await team()];
    await limitAll({ living: 3 });
    const asked = Array.from({ length: 8 }, (_, i) =>
      bootstraps.fetch('POST', '/bootstraps', {
        body: makeRequest(`at-once-${i}`, {}, { team: i % 2 === 0 ? red : blue }),
        as: carol,
      }),
    );
    const statuses = (await Promise.all(asked)).map(({ status }) => status).sort();
    expect(statuses).to.deep.equal([201, 201, 201, 429, 429, 429, 429, 429]);
  });

  for (const whose of ['team', 'organization'] as const) {
    it(`of a month of ${whose} hold for everything that begins at once in two processes, and refuse nothing that has room`, async () => {
      const [red, blue] = [await team(), await team()];
      const both = [red, blue];
      const spentBy = async (teams: readonly number[]): Promise<number[]> => {
        const counts = await readCounts(bootstraps.context, { teams });
        const months = Object.keys(counts.all.spend ?? {});
        return months.map((month) => teams.reduce((sum, each) => sum + (ofTeam(counts, each).spend[month] ?? 0), 0));
      };
      await begin('first', red, { projectTtl: '2h' });
      const each = Math.max(...(await spentBy(both)));
      const most = 4.5 * each;
      const body = { usdPerMonth: (most / 1_000_000).toFixed(2) };
      await (whose === 'team' ? limit(red, body) : limitAll(body));
      const other = await createBootstrapsServer(issuer, { env: prices, memory: bootstraps.context.store });
      const asked = Array.from({ length: 12 }, (_, i) =>
        (i % 2 === 0 ? bootstraps : other).fetch('POST', '/bootstraps', {
          body: makeRequest(`at-once-${i}`, { projectTtl: '2h' }, { team: whose === 'team' || i % 3 > 0 ? red : blue }),
          as: carol,
        }),
      );
      const statuses = (await Promise.all(asked)).map(({ status }) => status).sort();
      await Promise.all([bootstraps.settle(), other.settle()]);
      other.close();
      const counted = await spentBy(whose === 'team' ? [red] : both);
      const begun = statuses.filter((status) => status === 201).length;
      expect(statuses).to.deep.equal([...Array(begun).fill(201), ...Array(12 - begun).fill(409)]);
      expect(Math.max(...counted)).to.be.at.most(most);
      expect(Math.max(...counted) + each).to.be.above(most);
    });
  }

  it('count what a team began before it had any', async () => {
    const teamId = await team();
    const first = await begin('before-one', teamId, { projectTtl: '2h' });
    await begin('before-two', teamId, { projectTtl: '2h' });
    await limit(teamId, { living: 2 });
    expect((await refused('after', teamId)).detail).to.contain(`Team ${teamId} has 2 living bootstraps`);
    await limit(teamId, { usdPerMonth: '0.01' });
    const { detail } = await refused('after', teamId, { projectTtl: '2h' }, 409);
    const [, asked] = /would cost (\d+\.\d+) USD/.exec(detail) ?? [];
    const stored = await bootstraps.context.store.get('bootstraps', first.id);
    const price = stored?.data['price'] as { microsAnHour: number } | undefined;
    // All three, unless a month ends meanwhile.
    expect(price?.microsAnHour).to.be.above(0);
    expect(Number(asked)).to.be.above((2 * (price?.microsAnHour ?? 0)) / 1_000_000);
    await limitAll({ living: 2 });
    await limit(teamId, {});
    expect((await refused('after', teamId)).detail).to.contain('has in its teams 2 living bootstraps');
  });

  it('refuse what has no price, where they are by the month', async () => {
    const teamId = await team();
    await limit(teamId, { usdPerMonth: '50' });
    const problem = await refused('elsewhere', teamId, { region: 'europe-west1' }, 409);
    expect(problem).to.include({ code: 'over-ceiling', limit: 'price' });
    await limit(teamId, { living: 1 });
    await begin('elsewhere', teamId, { region: 'europe-west1' });
  });
});
