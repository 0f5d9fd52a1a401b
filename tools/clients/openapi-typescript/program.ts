/** Uses both APIs through what openapi-typescript made of their documents. Prints what it saw as one line of JSON. */
import createClient from 'openapi-fetch';
import type { paths as BootstrapPaths, components } from './bootstraps.js';
import type { paths as OrganizationPaths } from './organizations.js';

declare const process: { readonly env: Readonly<Record<string, string | undefined>>; exitCode?: number };
const { ORGANIZATIONS_URL = '', BOOTSTRAPS_URL = '', TOKEN = '' } = process.env;

const headers = { authorization: `Bearer ${TOKEN}` };
const organizations = createClient<OrganizationPaths>({ baseUrl: ORGANIZATIONS_URL, headers });
const bootstraps = createClient<BootstrapPaths>({ baseUrl: BOOTSTRAPS_URL, headers });

function good<T>(reply: { readonly data?: T | undefined; readonly error?: unknown }): T {
  if (reply.data === undefined) throw new Error(JSON.stringify(reply.error));
  return reply.data;
}

/** Makes a team that may not move, and tells who is in the way. */
async function outsiders(): Promise<readonly string[]> {
  const { id: organizationId } = good(await organizations.POST('/organizations', { body: { name: 'by a client' } }));
  const { teamId } = good(await organizations.POST('/teams', { body: { name: 'first' } }));
  const params = { path: { teamId } };
  const member = good(
    await organizations.POST('/teams/{teamId}/members', {
      params: { ...params, header: { 'Idempotency-Key': 'add-zoe' } },
      body: { email: 'zoe@example.org', role: 'member' },
    }),
  );
  const { error, response } = await organizations.POST('/teams/{teamId}/migrate', {
    params,
    body: { organizationId, force: false },
  });
  if (response.status !== 400 || error?.code !== 'members-outside') throw new Error(JSON.stringify(error));
  return [...error.members, member.role];
}

/** By number, a page at a time. */
async function allTeams(): Promise<readonly string[]> {
  for (const name of ['second', 'third']) good(await organizations.POST('/teams', { body: { name } }));
  const names: string[] = [];
  let cursor: string | undefined;
  do {
    const query = { limit: 1, ...(cursor === undefined ? {} : { cursor }) };
    const reply = await organizations.GET('/teams', { params: { query } });
    names.push(...good(reply).map(({ name }) => name));
    const [, next] = /<([^>]+)>; rel="next"/.exec(reply.response.headers.get('link') ?? '') ?? [];
    cursor =
      next === undefined ? undefined : (new URL(next, ORGANIZATIONS_URL).searchParams.get('cursor') ?? undefined);
  } while (cursor !== undefined);
  return names.sort();
}

const addressed = ({ name }: components['schemas']['BootstrapSummary'], { key }: { readonly key: string }): string =>
  `${name} ${key}`;

async function firstBootstrap() {
  const [summary] = good(await bootstraps.GET('/bootstraps', { params: { query: { all: false, limit: 5 } } }));
  if (summary === undefined) throw new Error('There is no bootstrap.');
  const path = { id: summary.id };
  const { state, result } = good(await bootstraps.GET('/bootstraps/{id}', { params: { path } }));
  const config = good(
    await bootstraps.GET('/bootstraps/{id}/config', {
      params: { path, query: { datacenter: 'dc1' } },
      parseAs: 'text',
    }),
  );
  return { datacenters: result.datacenters.map((each) => addressed(summary, each)), state, config: config.trim() };
}

const { data: team, error: noTeam } = await organizations.GET('/teams/{teamId}', { params: { path: { teamId: 1 } } });
console.log(
  JSON.stringify({
    unknown: team?.name ?? noTeam?.code,
    outsiders: await outsiders(),
    teams: await allTeams(),
    organizations: good(await organizations.GET('/organizations')).map(({ name, role }) => `${name}: ${role}`),
    bootstrap: await firstBootstrap(),
  }),
);
