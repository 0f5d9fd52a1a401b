/** One run of the fuzzer over all operations: what must hold, whatever was sent. */
import { expect } from 'chai';
import { problemRoutes } from '../../shared/api.js';
import { consoleRoutes } from '../../shared/console/routes.js';
import type { Organization } from '../../shared/organization/organization.js';
import { organizationRoutes } from '../../shared/organization/routes.js';
import type { Team } from '../../shared/organization/team.js';
import type { Issuer } from '../http/issuer.js';
import { checkReply, routeOf } from '../support/contract.js';
import { createRounds } from '../support/search.js';
import { createFuzzer, type Sent, send } from './fuzzer.js';
import { type Operation, type OrganizationsServer, operations, operator } from './organizations-server.js';
import { createRandom } from './random.js';

const routes = { ...organizationRoutes, ...problemRoutes, ...consoleRoutes };

/**
 * Tenants are strangers to each other only where anyone may come. Elsewhere the admin of any organization may look at any
 * team and migrate it, as the reference has it.
 */
export const strangers = {
  PLINTH_ORGANIZATION_CREATORS: 'anyone',
  // Events can be replayed only where there is a webhook. Nothing here sends to it.
  PLINTH_WEBHOOK_URL: 'http://127.0.0.1:9/webhook',
};

/** How a careless client, or a careful attacker, would spoil a token. */
async function badTokens(issuer: Issuer): Promise<string[]> {
  const email = 'alice@example.com';
  const good = await issuer.token(email);
  const [head = '', payload = '', signature = ''] = good.split('.');
  const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const past = Math.floor(Date.now() / 1000) - 7200;
  return Promise.all([
    issuer.token(email, { strangersKey: true }),
    issuer.token(email, { claims: { exp: past } }),
    issuer.token(email, { claims: { aud: 'https://elsewhere.example.com' } }),
    issuer.token(email, { claims: { iss: 'https://elsewhere.example.com' } }),
    issuer.token(email, { claims: { email_verified: false } }),
    issuer.token(email, { claims: { email: undefined } }),
    issuer.token(email, { claims: { email: ['alice@example.com'] } }),
    issuer.token(email, { claims: { sub: undefined } }),
    issuer.token(email, { header: { kid: 'unknown' } }),
    `${encoded({ alg: 'none' })}.${payload}.`,
    `${encoded({ alg: 'none' })}.${payload}.${signature}`,
    `${encoded({ alg: 'HS256' })}.${payload}.${signature}`,
    `${head}.${encoded({ email: operator, email_verified: true })}.${signature}`,
    `${head}.${payload}.${signature.slice(1)}`,
    '..',
  ]);
}

export async function fuzzEverything(
  server: OrganizationsServer,
  issuer: Issuer,
  { seed, fewest, atOnce = 8 }: { readonly seed: number; readonly fewest: number; readonly atOnce?: number },
): Promise<Map<Operation, Map<number, number>>> {
  // Another tenant's, never to be seen by the fuzzer's callers, who know the ids.
  const mallory = 'planted-admin@planted-domain.example';
  const planted = await server.expect<Organization>(201, 'createOrganization', {
    as: operator,
    body: { name: 'planted-organization' },
  });
  const plantedParams = { organizationId: planted.id };
  await server.expect(201, 'addOrganizationMember', {
    as: operator,
    params: plantedParams,
    body: { email: mallory, role: 'admin' },
  });
  await server.expect(201, 'addOrganizationMember', {
    as: mallory,
    params: plantedParams,
    body: { email: 'planted-member@planted-domain.example' },
  });
  const plantedTeam = await server.expect<Team>(201, 'createTeam', {
    as: mallory,
    body: { name: 'planted-team', organizationId: planted.id },
  });
  const plantedAlone = await server.expect<Team>(201, 'createTeam', {
    as: mallory,
    body: { name: 'planted-standalone' },
  });

  const own = await server.expect<Organization>(201, 'createOrganization', { as: operator, body: { name: 'own' } });
  const elsewhere = await server.expect<Organization>(201, 'createOrganization', {
    as: operator,
    body: { name: 'elsewhere' },
  });
  const callers = ['alice@example.com', 'bob@example.com', 'carol@example.com'];
  const people = [...callers, 'a/b@example.com', '__x__@example.com'];
  const teams: number[] = [];
  /** The callers administer it, and it has no team: they can delete it. */
  let empty = '';
  /** The fuzzer drives its own people out, and its teams into the organization. */
  async function refurnish(): Promise<void> {
    const params = { organizationId: own.id };
    const inviting = { as: operator, params: { organizationId: elsewhere.id } };
    for (const each of [{ as: operator, params }, inviting]) await server.ask('restoreOrganization', each);
    for (const email of callers) {
      const member = { ...inviting.params, email };
      await server.ask('removeOrganizationMember', { as: operator, params: member, query: { force: 'true' } });
    }
    const invited = callers.map((email) => ({ email, role: 'admin' }));
    await server.ask('inviteMembers', { ...inviting, body: { members: invited } });
    const others = ['a/b@example.com', '__x__@example.com'];
    for (const email of others) {
      const member = { ...params, email };
      await server.ask('removeOrganizationMember', { as: operator, params: member, query: { force: 'true' } });
    }
    const members = others.map((email) => ({ email }));
    await server.ask('inviteMembers', { as: operator, params, body: { members } });
    for (const email of callers) {
      await server.ask('addOrganizationMember', { as: operator, params, body: { email } });
      await server.ask('setOrganizationMemberRole', {
        as: operator,
        params: { ...params, email },
        body: { role: 'admin' },
      });
    }
    const { teamId } = await server.expect<Team>(201, 'createTeam', { body: { name: 'anew' } });
    await server.expect(201, 'addTeamMember', {
      params: { teamId },
      body: { email: 'bob@example.com', role: 'admin' },
    });
    await server.ask('proposeTransfer', {
      as: 'carol@example.com',
      params: { teamId },
      body: { organizationId: own.id, force: true },
    });
    // One whose migration can be undone.
    const migrated = await server.expect<Team>(201, 'createTeam', { body: { name: 'migrated' } });
    await server.ask('migrateTeam', {
      params: { teamId: migrated.teamId },
      body: { organizationId: own.id, force: true },
    });
    empty = (await server.expect<Organization>(201, 'createOrganization', { as: operator, body: { name: 'empty' } }))
      .id;
    for (const email of callers) {
      await server.expect(201, 'addOrganizationMember', {
        as: operator,
        params: { organizationId: empty },
        body: { email, role: 'admin' },
      });
    }
    teams.push(teamId, migrated.teamId);
    while (teams.length > 4) teams.shift();
  }

  const random = createRandom(seed);
  const fuzz = createFuzzer({
    random,
    tokens: {
      good: await Promise.all(callers.map((email) => server.token(email))),
      bad: await badTokens(issuer),
    },
    known: () => ({
      organizationId: [own.id, own.id, elsewhere.id, empty, planted.id],
      members: [[{ email: 'dave@example.com' }], [{ email: 'a/b@example.com', role: 'member' }]],
      teamId: [...teams, ...teams, plantedTeam.teamId, plantedAlone.teamId],
      transferId: ['standalone', own.id],
      migrationId: ['latest'],
      email: people,
      name: ['A name', 'Another'],
      since: ['2026-01-01T00:00:00Z'],
    }),
  });
  const statuses = new Map<Operation, Map<number, number>>();
  const succeeded = new Set<Operation>();

  async function one(operation: Operation, sent: Sent, at: string): Promise<void> {
    const shown = (): string =>
      `${at}: ${sent.method} ${sent.path} ${JSON.stringify(sent.headers)} ${sent.body?.toString().slice(0, 2000)}`;
    const received = await send(server.origin, sent).catch((error: Error) => {
      throw new Error(`${error.message}; ${shown()}`);
    });
    const { status, text } = received;
    const counted = statuses.get(operation) ?? new Map<number, number>();
    statuses.set(operation, counted.set(status, (counted.get(status) ?? 0) + 1));
    // The fuzzer may have made another operation of it, or asked for a page.
    const { [operation]: own } = organizationRoutes;
    if (status < 300 && routeOf({ [operation]: own }, sent.method, sent.path) !== undefined) succeeded.add(operation);
    expect(status, `${shown()}\n${text}\n${server.logged.at(-1)}`).to.be.lessThan(500);
    // HEAD brings no body to look at.
    if (sent.method === 'HEAD') return;
    expect(text, shown()).not.to.match(/planted-|\.[jt]s:\d|node_modules|<pre>/);
    try {
      checkReply(routeOf(routes, sent.method, sent.path)?.[1], received);
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${shown()}\n${status} ${text}`);
    }
  }

  /** Nobody here is one, as an operator would see what was planted. */
  const forOperators: ReadonlySet<Operation> = new Set(['detachTeam']);
  /** Let through at least once, and refused in each way. */
  const isSeen = (operation: Operation): boolean =>
    (succeeded.has(operation) || forOperators.has(operation)) &&
    [400, 401, 404].every((status) => statuses.get(operation)?.has(status));
  const goesOn = createRounds(Math.ceil(fewest / atOnce));
  // What chance has not let through yet goes on for a while: a few hundred requests may all be faulty.
  let more = 10_000;
  for (let round = 0; ; round += atOnce) {
    const due = goesOn() ? operations : operations.filter((operation) => !isSeen(operation));
    if (due.length < operations.length) more -= atOnce;
    if (due.length === 0 || more < 0) break;
    if (round % (5 * atOnce) === 0) await refurnish();
    for (const operation of due) {
      const batch = Array.from({ length: atOnce }, () => fuzz(organizationRoutes[operation]));
      await Promise.all(batch.map((sent, i) => one(operation, sent, `round ${round + i}, ${operation}`)));
    }
  }
  // It was neither all refused at the first door nor all let through, and what was planted stands.
  for (const [operation, counted] of statuses) {
    expect([...counted.keys()], operation).to.include.members([400, 401, 404]);
    expect(succeeded.has(operation), `${operation} succeeded`).to.equal(!forOperators.has(operation));
  }
  const kept = await server.expect<readonly unknown[]>(200, 'listOrganizationMembers', {
    as: mallory,
    params: plantedParams,
  });
  expect(kept).to.have.length(3);
  return statuses;
}
