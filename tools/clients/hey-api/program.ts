/**
 * Uses both APIs through what @hey-api/openapi-ts made of their documents. Prints what it saw as one line of JSON. The code that
 * the generator brings along whatever the document is not written for `exactOptionalPropertyTypes`; this is, and the types are.
 */
import { client as bootstrapsClient } from './api/bootstraps/client.gen.js';
import {
  type BootstrapSummary,
  followBootstrap,
  getBootstrap,
  getConfig,
  listBootstraps,
  type StreamItem,
} from './api/bootstraps/index.js';
import { client as organizationsClient } from './api/organizations/client.gen.js';
import {
  addTeamMember,
  createOrganization,
  createTeam,
  type GetTeamErrors,
  getTeam,
  listOrganizations,
  listTeams,
  type MigrateTeamErrors,
  migrateTeam,
} from './api/organizations/index.js';

declare const process: { readonly env: Readonly<Record<string, string | undefined>> };
const { ORGANIZATIONS_URL = '', BOOTSTRAPS_URL = '', TOKEN = '' } = process.env;
organizationsClient.setConfig({ baseUrl: ORGANIZATIONS_URL, auth: TOKEN });
bootstrapsClient.setConfig({ baseUrl: BOOTSTRAPS_URL, auth: TOKEN });

const throwOnError = true;

/** Makes a team that may not move, and tells who is in the way. */
async function outsiders(): Promise<readonly string[]> {
  const { data: organization } = await createOrganization({ body: { name: 'by a client' }, throwOnError });
  const { data: team } = await createTeam({ body: { name: 'first' }, throwOnError });
  const path = { teamId: team.teamId };
  const { data: member } = await addTeamMember({
    path,
    headers: { 'Idempotency-Key': 'add-zoe' },
    body: { email: 'zoe@example.org' },
    throwOnError,
  });
  const { error, response } = await migrateTeam({ path, body: { organizationId: organization.id } });
  // The status says which of the types it is.
  const problem = response?.status === 400 ? (error as MigrateTeamErrors[400]) : undefined;
  if (problem?.code !== 'members-outside') throw new Error(JSON.stringify(error));
  return [...problem.members, member.role];
}

/** By number, a page at a time. */
async function allTeams(): Promise<readonly string[]> {
  for (const name of ['second', 'third']) await createTeam({ body: { name }, throwOnError });
  const names: string[] = [];
  let cursor: string | undefined;
  do {
    const query = { limit: 1, ...(cursor === undefined ? {} : { cursor }) };
    const { data, response } = await listTeams({ query, throwOnError });
    names.push(...data.map(({ name }) => name));
    const [, next] = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '') ?? [];
    cursor =
      next === undefined ? undefined : (new URL(next, ORGANIZATIONS_URL).searchParams.get('cursor') ?? undefined);
  } while (cursor !== undefined);
  return names.sort();
}

const addressed = ({ name }: BootstrapSummary, { key }: { readonly key: string }): string => `${name} ${key}`;
const told = (event: StreamItem): string => (event.type === 'end' ? `${event.type}: ${event.reason}` : event.type);

async function firstBootstrap() {
  const { data: all } = await listBootstraps({ query: { limit: 5 }, throwOnError });
  const [summary] = all;
  if (summary === undefined) throw new Error('There is no bootstrap.');
  const path = { id: summary.id };
  const { data: bootstrap } = await getBootstrap({ path, throwOnError });
  const { data: config } = await getConfig({ path, query: { datacenter: 'dc1' }, parseAs: 'text', throwOnError });
  const { stream } = await followBootstrap({ path });
  const events: string[] = [];
  for await (const event of stream) {
    events.push(told(event));
    if (event.type === 'end') break;
  }
  const datacenters = bootstrap.result.datacenters.map((each) => addressed(summary, each));
  return { datacenters, state: bootstrap.state, config: config.trim(), last: events.at(-1) };
}

const { data: team, error: noTeam } = await getTeam({ path: { teamId: 1 } });
console.log(
  JSON.stringify({
    unknown: team?.name ?? (noTeam as GetTeamErrors[404]).code,
    outsiders: await outsiders(),
    teams: await allTeams(),
    organizations: (await listOrganizations({ throwOnError })).data.map(({ name, role }) => `${name}: ${role}`),
    bootstrap: await firstBootstrap(),
  }),
);
