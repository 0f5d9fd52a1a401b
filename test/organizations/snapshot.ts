/** The database as it is at one moment, read past the product, in the model's terms. */
import { Firestore } from '@google-cloud/firestore';
import { createNoAuth } from '../../functions/host/credentials.js';
import type { MemoryStore } from '../../local/functions/memory-store.js';
import type { Ceilings } from '../../shared/organization/ceilings.js';
import type { OrganizationEvent, Role } from '../../shared/organization/organization.js';
import type { World } from './model.js';

export type StoredEvent = OrganizationEvent & {
  readonly organizationId: string | null;
  readonly stayed?: readonly { readonly email: string; readonly role: Role }[];
};

export interface Snapshot {
  /** By ids. Who is leaving is a member still. */
  readonly world: World;
  /** What the rules of the model cannot see, in words. */
  readonly faults: readonly string[];
  /** Removals under way, as `organization: email`. */
  readonly leaving: readonly string[];
}

export interface Reader {
  /** Of one moment: Firestore shows a read-only transaction nothing that was committed after it began. */
  snapshot(): Promise<Snapshot>;
  /** In the order in which they were committed. */
  events(): Promise<StoredEvent[]>;
  close(): Promise<void>;
}

interface StoredMember {
  readonly organizationId: string;
  readonly email: string;
  readonly role: Role;
  readonly governs: boolean;
  readonly leaving?: string;
}
interface StoredTeam {
  readonly teamId: number;
  readonly organizationId: string | null;
  readonly admins: number;
  readonly deletedAt?: string;
  readonly deletedFrom?: string | null;
  readonly ceilings?: Ceilings;
}
interface StoredOrganization {
  readonly id: string;
  readonly deletedAt?: unknown;
  readonly ceilings?: Ceilings;
}
interface StoredTransfer {
  readonly teamId: number;
  readonly id: string;
  readonly proposedBy: string;
  readonly force: boolean;
}
interface StoredTeamMember {
  readonly teamId: number;
  readonly email: string;
  readonly role: Role;
}

const names = ['organizations', 'organizationMembers', 'invitations', 'teams', 'teamMembers', 'transfers'] as const;
type Rows = Readonly<Record<(typeof names)[number], readonly unknown[]>>;

function snapshotOf(rows: Rows): Snapshot {
  const world: World = { organizations: new Map(), teams: new Map(), transfers: new Map() };
  for (const { teamId, id, proposedBy, force } of rows.transfers as StoredTransfer[]) {
    world.transfers.set(`${teamId}~${id}`, { by: proposedBy, force });
  }
  const faults: string[] = [];
  const leaving: string[] = [];
  const governing = new Map<string, number>();
  for (const { id, deletedAt, ceilings } of rows.organizations as StoredOrganization[]) {
    const deleted = deletedAt !== undefined;
    world.organizations.set(id, { members: new Map(), invited: new Map(), deleted, living: ceilings?.living });
  }
  for (const { organizationId, email, role } of rows.invitations as StoredMember[]) {
    const organization = world.organizations.get(organizationId);
    if (organization === undefined) faults.push(`${email} is invited into ${organizationId}, which is not there`);
    organization?.invited.set(email, role);
  }
  for (const each of rows.organizationMembers as StoredMember[]) {
    const { organizationId, email, role, governs } = each;
    const organization = world.organizations.get(organizationId);
    if (organization === undefined) faults.push(`${email} is a member of ${organizationId}, which is not there`);
    else if (organization.members.has(email)) faults.push(`${email} is twice a member of ${organizationId}`);
    organization?.members.set(email, role);
    if (each.leaving !== undefined) leaving.push(`${organizationId}: ${email}`);
    if (governs) governing.set(organizationId, (governing.get(organizationId) ?? 0) + 1);
    if (governs !== (role === 'admin' && each.leaving === undefined)) faults.push(`${email}: "governs" is wrong`);
  }
  for (const id of world.organizations.keys()) {
    if (!governing.has(id)) faults.push(`organization ${id} has no admin who stays`);
  }
  for (const { teamId, organizationId, deletedAt, deletedFrom, ceilings } of rows.teams as StoredTeam[]) {
    const deleted = deletedAt !== undefined;
    if (deleted && organizationId !== null) faults.push(`team ${teamId} is deleted, and in ${organizationId}`);
    const organization = (deleted ? deletedFrom : organizationId) ?? undefined;
    world.teams.set(String(teamId), { organization, members: new Map(), deleted, living: ceilings?.living });
  }
  for (const { teamId, email, role } of rows.teamMembers as StoredTeamMember[]) {
    const team = world.teams.get(String(teamId));
    if (team === undefined) faults.push(`${email} is in team ${teamId}, which is not there`);
    else if (team.members.has(email)) faults.push(`${email} is twice in team ${teamId}`);
    team?.members.set(email, role);
  }
  for (const { teamId, admins } of rows.teams as StoredTeam[]) {
    const counted = [...(world.teams.get(String(teamId))?.members.values() ?? [])].filter(
      (role) => role === 'admin',
    ).length;
    if (counted !== admins) faults.push(`team ${teamId} has ${counted} admins and says ${admins}`);
  }
  return { world, faults, leaving };
}

/** Of what the emulator holds. */
export function createReader(project: string, host: string): Reader {
  const firestore = new Firestore({ projectId: project, host, ssl: false, auth: createNoAuth({ project }) });

  return {
    snapshot: () =>
      firestore.runTransaction(
        async (transaction) => {
          const rows: Partial<Record<keyof Rows, unknown[]>> = {};
          for (const name of names)
            rows[name] = (await transaction.get(firestore.collection(name))).docs.map((each) => each.data());
          return snapshotOf(rows as Rows);
        },
        { readOnly: true },
      ),

    async events() {
      const { docs } = await firestore.collection('organizationEvents').get();
      const nanos = (each: (typeof docs)[number]): bigint =>
        BigInt(each.createTime.seconds) * 1_000_000_000n + BigInt(each.createTime.nanoseconds);
      return (
        docs
          .map((each) => ({ at: nanos(each), event: each.data() as StoredEvent }))
          // Those of one commit have their order by their ids.
          .sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.event.id < b.event.id ? -1 : 1))
          .map(({ event }) => event)
      );
    },

    close: () => firestore.terminate(),
  };
}

/** Of what a store in memory holds, where documents stand in the order of their making. */
export function createMemoryReader(store: MemoryStore): Pick<Reader, 'snapshot' | 'events'> {
  const rowsOf = (collection: string): unknown[] => Object.values(store.seen(collection));
  return {
    snapshot: async () =>
      snapshotOf({
        organizations: rowsOf('organizations'),
        organizationMembers: rowsOf('organizationMembers'),
        invitations: rowsOf('invitations'),
        transfers: rowsOf('transfers'),
        teams: rowsOf('teams'),
        teamMembers: rowsOf('teamMembers'),
      }),
    events: async () => rowsOf('organizationEvents') as StoredEvent[],
  };
}
