/** The database as it is at one moment, read past the product, in the model's terms. Called by the tests of concurrency. */
import { Firestore } from '@google-cloud/firestore';
import { createNoAuth } from '../../functions/credentials.js';
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
}
interface StoredTeamMember {
  readonly teamId: number;
  readonly email: string;
  readonly role: Role;
}

export function createReader(project: string, host: string): Reader {
  const firestore = new Firestore({ projectId: project, host, ssl: false, auth: createNoAuth({ project }) });
  const names = ['organizations', 'organizationMembers', 'teams', 'teamMembers'] as const;

  return {
    async snapshot() {
      const [organizations = [], members = [], teams = [], teamMembers = []] = await firestore.runTransaction(
        async (transaction) => {
          const found = [];
          for (const name of names)
            found.push((await transaction.get(firestore.collection(name))).docs.map((each) => each.data()));
          return found;
        },
        { readOnly: true },
      );
      const world: World = { organizations: new Map(), teams: new Map() };
      const faults: string[] = [];
      const leaving: string[] = [];
      const governing = new Map<string, number>();
      for (const { id } of organizations) world.organizations.set(String(id), { members: new Map() });
      for (const each of members as StoredMember[]) {
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
      for (const { teamId, organizationId } of teams as StoredTeam[]) {
        world.teams.set(String(teamId), { organization: organizationId ?? undefined, members: new Map() });
      }
      for (const { teamId, email, role } of teamMembers as StoredTeamMember[]) {
        const team = world.teams.get(String(teamId));
        if (team === undefined) faults.push(`${email} is in team ${teamId}, which is not there`);
        else if (team.members.has(email)) faults.push(`${email} is twice in team ${teamId}`);
        team?.members.set(email, role);
      }
      for (const { teamId, admins } of teams as StoredTeam[]) {
        const counted = [...(world.teams.get(String(teamId))?.members.values() ?? [])].filter(
          (role) => role === 'admin',
        ).length;
        if (counted !== admins) faults.push(`team ${teamId} has ${counted} admins and says ${admins}`);
      }
      return { world, faults, leaving };
    },

    async events() {
      const { docs } = await firestore.collection('organizationEvents').get();
      const nanos = (each: (typeof docs)[number]): bigint =>
        BigInt(each.createTime.seconds) * 1_000_000_000n + BigInt(each.createTime.nanoseconds);
      return docs
        .map((each) => ({ at: nanos(each), event: each.data() as StoredEvent }))
        .sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
        .map(({ event }) => event);
    },

    close: () => firestore.terminate(),
  };
}
