/**
 * Plays the transcripts of the organization API over HTTP, on any store. Pinned: see test/house/spec-is-pinned.test.ts.
 */
import { expect } from 'chai';
import { type OpenStore, useOrganizationApi } from '../support/spec-world.js';
import { type Exchange, type Status, type Transcript, transcripts } from './organization-transcripts.js';

/** By their names in the transcripts: UUIDs of organizations, integers of teams. */
type Ids = Readonly<Record<string, string | number>>;

interface Reply {
  readonly status: number;
  readonly type: string;
  readonly body: unknown;
}

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const email = /[^\s,;:"'()[\]<>]+@[a-z\d.-]*[a-z\d]/gi;

const filled = (text: string, ids: Ids): string =>
  text.replaceAll(/\{(\w+)\}/g, (whole, name) => `${ids[name] ?? whole}`);

function expectStatus(found: number, wanted: Status, said: string): void {
  if (wanted === 'success') expect(found, said).to.be.within(200, 299);
  else if (wanted === 'refusal') expect(found, said).to.be.within(400, 499);
  else expect(found, said).to.equal(wanted);
}

function expectList({ body }: Reply, { field, values }: NonNullable<Exchange['lists']>, ids: Ids): void {
  expect(body).to.be.an('array');
  const found = (body as Readonly<Record<string, unknown>>[]).map((each) => each[field]);
  for (const each of found) {
    if (field === 'id') expect(each).to.be.a('string').that.matches(uuid);
    else expect(Number.isInteger(each), `${each} is an integer`).to.equal(true);
  }
  expect(found).to.have.members(values.map((value) => ids[value.slice(1, -1)]));
}

/** The structure of an error was left open: the field is RFC 9457's. */
function expectOutsiders({ body }: Reply, outsiders: readonly string[]): void {
  const { detail } = body as { readonly detail?: unknown };
  expect(detail).to.be.a('string');
  const text = String(detail);
  expect(text)
    .to.match(/cannot be migrated/)
    .and.match(/not members of the new organization/);
  const named = text.match(email) ?? [];
  expect(named).to.have.members(outsiders);
  expect(
    [',', ', '].some((comma) => text.includes(named.join(comma))),
    `comma-separated: ${text}`,
  ).to.equal(true);
  expect(text, 'one way out').to.match(/add(?:ing)? them to the organization first/i);
  expect(text, 'the other').to.match(/force option to remove them from the team/i);
}

/** In a `describe`. */
export function tellTranscripts(open: OpenStore): void {
  const api = useOrganizationApi(open);

  async function send({ as, method, path, body }: Exchange, ids: Ids): Promise<Reply> {
    const reply = await fetch(api.baseUrl + filled(path, ids), {
      method,
      headers: {
        ...(as === null ? {} : await api.credentialsOf(as)),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : filled(JSON.stringify(body), ids),
    });
    const text = await reply.text();
    const type = reply.headers.get('content-type') ?? '';
    return { status: reply.status, type, body: text === '' ? undefined : JSON.parse(text) };
  }

  async function make({ organization, other, team, inside }: NonNullable<Transcript['given']>): Promise<Ids> {
    const ids: Record<string, string | number> = {};
    const made = async ({ admin, members = [] }: NonNullable<typeof organization>) =>
      api.makeOrganization(admin, members);
    if (organization !== undefined) ids['organization'] = await made(organization);
    if (other !== undefined) ids['other'] = await made(other);
    if (team !== undefined) ids['team'] = await api.makeTeam(team);
    if (inside !== undefined) ids['inside'] = await api.makeTeam(inside, String(ids['organization']));
    return ids;
  }

  async function look(transcript: Transcript, ids: Ids): Promise<void> {
    const { given: { organization } = {}, after = {} } = transcript;
    const [organizationId, teamId] = [String(ids['organization']), Number(ids['team'])];
    if (after.team !== undefined) {
      expect(await api.membersOfTeam(teamId), 'members of the team').to.have.members(after.team);
    }
    if (after.organization !== undefined) {
      const members = await api.membersOfOrganization(organizationId);
      expect(members, 'members of the organization').to.have.members(after.organization);
      // Every member of a team in an organization must also be a member of that organization.
      if (after.migrated === true) expect(members).to.include.members(await api.membersOfTeam(teamId));
    }
    if (after.migrated !== undefined) {
      const path = '/organizations/{organization}/teams';
      const reply = await send({ as: organization?.admin ?? null, method: 'GET', path, status: 'success' }, ids);
      expectList(reply, { field: 'teamId', values: after.migrated ? ['{team}'] : [] }, ids);
    }
  }

  for (const [operation, told] of Object.entries(transcripts)) {
    describe(operation, () => {
      for (const transcript of told) {
        it(transcript.name, async () => {
          const ids = await make(transcript.given ?? {});
          for (const exchange of transcript.exchanges) {
            const reply = await send(exchange, ids);
            const said = `${exchange.method} ${exchange.path}: ${reply.status} ${JSON.stringify(reply.body)}`;
            expectStatus(reply.status, exchange.status, said);
            if (reply.body !== undefined) expect(reply.type, said).to.match(/\bjson\b/);
            if (exchange.lists !== undefined) expectList(reply, exchange.lists, ids);
            if (exchange.outsiders !== undefined) expectOutsiders(reply, exchange.outsiders);
          }
          await look(transcript, ids);
        });
      }
    });
  }
}
