/** The organization API for test/spec: the real function `api` on real HTTP, on a store in memory or on Firestore's emulator. */
import { randomUUID } from 'node:crypto';
import type { Store } from '../../functions/store/store.js';
import { createMemoryStore } from '../../local/functions/memory-store.js';
import { createIssuer, type Issuer } from '../http/issuer.js';
import {
  createOrganizationsServer,
  type OrganizationsServer,
  operator,
} from '../organizations/organizations-server.js';

export type OpenStore = (test: Mocha.Context) => Promise<Store>;

export const inMemory: OpenStore = async () => createMemoryStore();

/** Loaded here alone: Firestore's client takes its time. */
export const onFirestore: OpenStore = async (test) => {
  const { needFirestoreEmulator, openEmulatedStore } = await import('./emulators.js');
  return openEmulatedStore(await needFirestoreEmulator(test)).store;
};

export interface OrganizationApi {
  /** `{base_url}`, without a slash at its end. */
  readonly baseUrl: string;
  /** The headers by which a person is known. */
  credentialsOf(email: string): Promise<Readonly<Record<string, string>>>;
  /** An organization with one admin and these members. Returns its id. */
  makeOrganization(admin: string, members: readonly string[]): Promise<string>;
  /** A team with these members, the first of them its admin; standalone, or in an organization. Returns its id. */
  makeTeam(members: readonly string[], organizationId?: string): Promise<number>;
  /** E-mails in order, whoever asks. */
  membersOfTeam(teamId: number): Promise<string[]>;
  membersOfOrganization(organizationId: string): Promise<string[]>;
}

type Members = readonly { readonly email: string }[];
const emails = (members: Members): string[] => members.map(({ email }) => email).sort();

/** In a `describe`: one API for all its tests. Everybody of example.com may make organizations. */
export function useOrganizationApi(open: OpenStore): OrganizationApi {
  let issuer: Issuer;
  let store: Store;
  let server: OrganizationsServer;
  before(async function () {
    store = await open(this);
    issuer = await createIssuer();
    // The specification knows no consent: an admin of an organization migrates any standalone team.
    const env = { PLINTH_ORGANIZATION_CREATORS: 'example.com', PLINTH_MIGRATION_CONSENT: 'off' };
    server = await createOrganizationsServer(issuer, { store, env });
  });
  after(async () => {
    server?.close();
    issuer?.close();
    await store?.close();
  });
  const named = () => ({ name: `Made by ${randomUUID()}` });
  const listed = async (operation: 'listTeamMembers' | 'listOrganizationMembers', params: Record<string, string>) =>
    emails(await server.expect<Members>(200, operation, { as: operator, params }));

  return {
    get baseUrl() {
      return server.origin;
    },
    credentialsOf: async (email) => ({ authorization: `Bearer ${await server.token(email)}` }),
    async makeOrganization(admin, members) {
      const { id } = await server.expect<{ id: string }>(201, 'createOrganization', { as: admin, body: named() });
      for (const email of members) {
        const body = { email, role: 'member' };
        await server.expect(201, 'addOrganizationMember', { as: admin, params: { organizationId: id }, body });
      }
      return id;
    },
    async makeTeam([admin = '', ...members], organizationId) {
      const body = { ...named(), ...(organizationId === undefined ? {} : { organizationId }) };
      const { teamId } = await server.expect<{ teamId: number }>(201, 'createTeam', { as: admin, body });
      for (const email of members) {
        await server.expect(201, 'addTeamMember', { as: admin, params: { teamId }, body: { email, role: 'member' } });
      }
      return teamId;
    },
    membersOfTeam: (teamId) => listed('listTeamMembers', { teamId: String(teamId) }),
    membersOfOrganization: (organizationId) => listed('listOrganizationMembers', { organizationId }),
  };
}
