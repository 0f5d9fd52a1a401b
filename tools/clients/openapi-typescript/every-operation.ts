/** Calls every operation of the organization API through what openapi-typescript made of its document. Prints what it saw as one line of JSON. */
import createClient, { type Middleware } from 'openapi-fetch';
import type { paths } from './organizations.js';

declare const process: { readonly env: Readonly<Record<string, string | undefined>>; exitCode?: number };
const { ORGANIZATIONS_URL = '' } = process.env;
const called = new Set<string>();

const noting: Middleware = {
  onRequest({ request, schemaPath }) {
    called.add(`${request.method} ${schemaPath}`);
  },
};

/** A client of one person, as whom every call of it goes. */
function as(name: string) {
  const headers = { authorization: `Bearer ${process.env[`TOKEN_${name.toUpperCase()}`] ?? ''}` };
  const client = createClient<paths>({ baseUrl: ORGANIZATIONS_URL, headers });
  client.use(noting);
  return client;
}
const [alice, dave, frank, grace, operator] = [as('alice'), as('dave'), as('frank'), as('grace'), as('operator')];

function good<T>(reply: { readonly data?: T | undefined; readonly error?: unknown; readonly response: Response }): T {
  if (!reply.response.ok) throw new Error(JSON.stringify(reply.error));
  return reply.data as T;
}

async function membersOf(organizationId: string): Promise<void> {
  const params = { path: { organizationId } };
  const member = (email: string) => ({ path: { organizationId, email } });
  const [organization, invitations] = [
    '/organizations/{organizationId}',
    '/organizations/{organizationId}/invitations',
  ] as const;
  good(await alice.GET(organization, { params }));
  good(await alice.PUT(`${organization}/name`, { params, body: { name: 'renamed' } }));
  good(await alice.PUT(`${organization}/ceilings`, { params, body: { living: 9, usdPerMonth: '500' } }));
  good(await alice.POST(`${organization}/members`, { params, body: { email: 'carol@example.com', role: 'member' } }));
  const members = [{ email: 'dave@example.com', role: 'member' as const }];
  good(await alice.POST(`${organization}/members/batch`, { params, body: { members } }));
  good(
    await alice.PUT(`${organization}/members/{email}/role`, {
      params: member('dave@example.com'),
      body: { role: 'admin' },
    }),
  );
  const invited = ['frank', 'grace', 'heidi'].map((name) => ({
    email: `${name}@example.com`,
    role: 'member' as const,
  }));
  good(await alice.POST(invitations, { params, body: { members: invited } }));
  good(await alice.GET(invitations, { params }));
  good(await alice.POST(`${invitations}/{email}/resend`, { params: member('frank@example.com') }));
  good(await frank.GET('/invitations'));
  good(await frank.POST('/invitations/{organizationId}/accept', { params }));
  good(await grace.POST('/invitations/{organizationId}/decline', { params }));
  good(await alice.DELETE(`${invitations}/{email}`, { params: member('heidi@example.com') }));
}

async function madeTeam(): Promise<number> {
  const { teamId } = good(await alice.POST('/teams', { body: { name: 'first' } }));
  const params = { path: { teamId } };
  good(await alice.GET('/teams/{teamId}', { params }));
  good(await alice.PUT('/teams/{teamId}/name', { params, body: { name: 'second' } }));
  good(await alice.PUT('/teams/{teamId}/ceilings', { params, body: { living: 3 } }));
  good(await alice.POST('/teams/{teamId}/members', { params, body: { email: 'carol@example.com', role: 'member' } }));
  const members = [{ email: 'zoe@example.org', role: 'member' as const }];
  good(await alice.POST('/teams/{teamId}/members/batch', { params, body: { members } }));
  good(
    await alice.PUT('/teams/{teamId}/members/{email}/role', {
      params: { path: { teamId, email: 'carol@example.com' } },
      body: { role: 'admin' },
    }),
  );
  return teamId;
}

/** Into the organization and out again, with the tags of both previews. */
async function movedAndBack(teamId: number, organizationId: string) {
  const path = { teamId };
  const tagOf = (response: Response) => ({ 'If-Match': response.headers.get('etag') ?? '' });
  const into = await alice.GET('/teams/{teamId}/migration', { params: { path, query: { organizationId } } });
  const moved = good(
    await alice.POST('/teams/{teamId}/migrate', {
      params: { path, header: tagOf(into.response) },
      body: { organizationId, force: true },
    }),
  );
  const inIt = good(await alice.GET('/organizations/{organizationId}/teams', { params: { path: { organizationId } } }));
  const undo = '/teams/{teamId}/migrations/{migrationId}/undo';
  const latest = { ...path, migrationId: 'latest' };
  const out = await alice.GET(undo, { params: { path: latest } });
  const undone = good(await alice.POST(undo, { params: { path: latest, header: tagOf(out.response) } }));
  return {
    removed: moved.removedMembers,
    teams: inIt.map(({ name }) => name),
    returns: good(out).returns.map(({ email }) => email),
    restored: undone.restoredMembers,
  };
}

/** In by agreement, and out by an operator. */
async function transferred(teamId: number, organizationId: string): Promise<void> {
  const params = { path: { teamId } };
  const answer = { params: { path: { teamId, transferId: organizationId } } };
  const proposed = async () =>
    good(await dave.POST('/teams/{teamId}/transfers', { params, body: { organizationId, force: true } }));
  await proposed();
  good(await alice.GET('/teams/{teamId}/transfers', { params }));
  good(await alice.POST('/teams/{teamId}/transfers/{transferId}/refuse', answer));
  await proposed();
  good(await alice.POST('/teams/{teamId}/transfers/{transferId}/accept', answer));
  good(await operator.POST('/teams/{teamId}/detach', { params }));
}

/** Who left, and why; both are deleted and taken back. */
async function ended(teamId: number, organizationId: string) {
  const [ofTeam, ofOrganization] = [{ path: { teamId } }, { path: { organizationId } }];
  const query = { why: 'no more needed' };
  good(
    await alice.DELETE('/teams/{teamId}/members/{email}', {
      params: { path: { teamId, email: 'zoe@example.org' }, query },
    }),
  );
  good(
    await alice.DELETE('/organizations/{organizationId}/members/{email}', {
      params: { path: { organizationId, email: 'dave@example.com' }, query },
    }),
  );
  const left = good(
    await alice.GET('/teams/{teamId}/events', { params: { ...ofTeam, query: { action: 'team-member-removed' } } }),
  );
  const gone = good(
    await alice.GET('/organizations/{organizationId}/events', {
      params: { ...ofOrganization, query: { action: 'member-removed' } },
    }),
  );
  const body = { since: '2026-01-01T00:00:00Z' };
  good(await alice.POST('/teams/{teamId}/events/replay', { params: ofTeam, body }));
  good(await alice.POST('/organizations/{organizationId}/events/replay', { params: ofOrganization, body }));
  good(await alice.DELETE('/teams/{teamId}', { params: ofTeam }));
  good(await alice.POST('/teams/{teamId}/restore', { params: ofTeam }));
  good(await alice.DELETE('/organizations/{organizationId}', { params: ofOrganization }));
  good(await alice.POST('/organizations/{organizationId}/restore', { params: ofOrganization }));
  const team = good(await alice.GET('/teams/{teamId}/members', { params: ofTeam }));
  const organization = good(await alice.GET('/organizations/{organizationId}/members', { params: ofOrganization }));
  return {
    why: [...left, ...gone].map(({ email, why }) => `${email}: ${why}`),
    members: { team: team.map(({ email }) => email), organization: organization.map(({ email }) => email) },
  };
}

const { id: organizationId } = good(await alice.POST('/organizations', { body: { name: 'by a client' } }));
await membersOf(organizationId);
const teamId = await madeTeam();
const moved = await movedAndBack(teamId, organizationId);
await transferred(teamId, organizationId);
const end = await ended(teamId, organizationId);
const organizations = good(await alice.GET('/organizations'));
const teams = good(await alice.GET('/teams'));
console.log(
  JSON.stringify({
    called: [...called].sort(),
    ...moved,
    ...end,
    left: [...organizations, ...teams].map(({ name }) => name),
  }),
);
