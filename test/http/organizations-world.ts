/** A server of the organization API with people in organizations and teams: what its tests play in. */
import { expect } from 'chai';
import type { Store } from '../../functions/store/store.js';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import type { Organization, Role } from '../../shared/organization/organization.js';
import type { Team } from '../../shared/organization/team.js';
import type { ProblemBody, ProblemCode } from '../../shared/problems.js';
import {
  type Asked,
  createOrganizationsServer,
  type Operation,
  type OrganizationsServer,
} from '../organizations/organizations-server.js';
import { createIssuer, type Issuer } from './issuer.js';

export const [alice, bob, carol, dave, outsider] = [
  'alice@example.com',
  'bob@example.com',
  'carol@example.com',
  'dave@example.com',
  'x@elsewhere.example',
];

type Roles = Readonly<Record<string, Role>>;

export interface OrganizationsWorld {
  readonly server: OrganizationsServer;
  /** Made by alice, who is its first admin. */
  organization(members?: Roles): Promise<string>;
  /** Made by bob, who is its first admin; or by whom `as` says. */
  team(members?: Roles, made?: { readonly as?: string; readonly organizationId?: string }): Promise<number>;
  /** The body of the problem that is replied. */
  refused(code: ProblemCode, operation: Operation, asked?: Asked): Promise<ProblemBody>;
  emailsIn(teamId: number, as: string): Promise<string[]>;
}

/** In a `describe`: one server for all its tests. */
export function useOrganizations({
  creators = 'example.com',
  consent = creators === 'anyone' ? 'on' : 'off',
  env = {},
  open = async () => createMemoryStore(),
}: {
  readonly creators?: string;
  readonly consent?: 'on' | 'off';
  readonly env?: Readonly<Record<string, string>>;
  readonly open?: (test: Mocha.Context) => Promise<Store>;
} = {}): OrganizationsWorld {
  let issuer: Issuer;
  let store: Store;
  let server: OrganizationsServer;
  before(async function () {
    store = await open(this);
    issuer = await createIssuer();
    server = await createOrganizationsServer(issuer, {
      store,
      env: { PLINTH_ORGANIZATION_CREATORS: creators, PLINTH_MIGRATION_CONSENT: consent, ...env },
    });
  });
  after(async () => {
    server?.close();
    issuer?.close();
    await store?.close();
  });

  return {
    get server() {
      return server;
    },
    async organization(members = {}) {
      const { id } = await server.expect<Organization>(201, 'createOrganization', { body: { name: 'Acme' } });
      for (const [email, role] of Object.entries(members)) {
        await server.expect(201, 'addOrganizationMember', { params: { organizationId: id }, body: { email, role } });
      }
      return id;
    },
    async team(members = {}, { as = bob, organizationId } = {}) {
      const body = { name: 'Red', ...(organizationId === undefined ? {} : { organizationId }) };
      const { teamId } = await server.expect<Team>(201, 'createTeam', { as, body });
      for (const [email, role] of Object.entries(members)) {
        await server.expect(201, 'addTeamMember', { as, params: { teamId }, body: { email, role } });
      }
      return teamId;
    },
    async refused(code, operation, asked) {
      const { body } = await server.ask(operation, asked);
      expect((body as ProblemBody | undefined)?.code, JSON.stringify(body)).to.equal(code);
      return body as ProblemBody;
    },
    async emailsIn(teamId, as) {
      const members = await server.expect<{ email: string }[]>(200, 'listTeamMembers', { as, params: { teamId } });
      return members.map(({ email }) => email);
    },
  };
}
