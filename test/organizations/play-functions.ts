/** Plays actions of the model on the functions beneath the API, without HTTP. */
import { type Config, readConfig } from '../../functions/config.js';
import { type Context, createContext } from '../../functions/context.js';
import { setOrganizationCeilings, setTeamCeilings } from '../../functions/organizations/ceilings.js';
import {
  acceptInvitation,
  declineInvitation,
  inviteMembers,
  resendInvitation,
  revokeInvitation,
} from '../../functions/organizations/members/invitations.js';
import { addOrganizationMembers, addTeamMembers } from '../../functions/organizations/members/many-members.js';
import { addOrganizationMember, setOrganizationMemberRole } from '../../functions/organizations/members/members.js';
import { removeOrganizationMember } from '../../functions/organizations/members/removal.js';
import { detachTeam } from '../../functions/organizations/moves/detachment.js';
import { migrateTeam } from '../../functions/organizations/moves/migration.js';
import { acceptTransfer, proposeTransfer, refuseTransfer } from '../../functions/organizations/moves/transfers.js';
import { undoMigration } from '../../functions/organizations/moves/undo.js';
import {
  deleteOrganization,
  renameOrganization,
  restoreOrganization,
} from '../../functions/organizations/organization-life.js';
import { createOrganization } from '../../functions/organizations/organizations.js';
import { deleteTeam, renameTeam, restoreTeam } from '../../functions/organizations/teams/life.js';
import { addTeamMember, removeTeamMember, setTeamMemberRole } from '../../functions/organizations/teams/members.js';
import { createTeam } from '../../functions/organizations/teams/teams.js';
import { Problem } from '../../shared/problems.js';
import type { Action, Outcome } from './model.js';
import { operator } from './organizations-server.js';

/** Who may make organizations, and whether migrations need the team's consent. */
interface Setting {
  readonly creators: string;
  readonly consent: string;
}

const configOf = ({ creators, consent }: Setting): Config =>
  readConfig({
    PLINTH_PROJECT: 'plinth-test',
    PLINTH_DEPLOYMENT: 'test',
    PLINTH_MACHINE_ACCESS: 'direct',
    PLINTH_SSH_SOURCE_RANGES: '127.0.0.0/8',
    PLINTH_OPERATORS: operator,
    PLINTH_ORGANIZATION_CREATORS: creators,
    PLINTH_MIGRATION_CONSENT: consent,
  });

type Process = Pick<Context, 'store' | 'clock' | 'random'>;

/** Contexts by setting. All but the members of a process is shared, because Google's clients take longer to create than a play lasts. */
const contexts = new Map<string, Context>();

export function contextBy(process: Process, setting: Setting): Context {
  const key = `${setting.creators} ${setting.consent}`;
  const known = contexts.get(key) ?? createContext(configOf(setting), { ...process, log: () => undefined });
  contexts.set(key, known);
  return { ...known, ...process };
}

/** `anyone` may make organizations, so migrations need the team's consent. */
export const contextOf = (process: Process, anyone = false): Context =>
  contextBy(process, { creators: anyone ? 'anyone' : '', consent: '' });

export const callerOf = (email: string) =>
  ({
    email,
    identity: `https://issuer.example ${email}`,
    member: `user:${email}`,
    domain: email.split('@').at(-1),
    operator: email === operator,
  }) as Parameters<typeof createOrganization>[1];

export interface Played extends Outcome {
  /** It said to come again: nothing was done. */
  readonly later: boolean;
}

const nobodysUuid = '00000000-0000-4000-8000-000000000000';
const nobodysTeam = 2147483646;
const ceilingsOf = ({ living }: { readonly living: number | undefined }) => (living === undefined ? {} : { living });

/** `ids`: of the test's names for organizations and teams. */
export async function playOn(context: Context, action: Action, ids: Map<string, string>): Promise<Played> {
  const caller = callerOf(action.by);
  const organizationId = 'organization' in action ? (ids.get(action.organization ?? '') ?? nobodysUuid) : nobodysUuid;
  const teamId = 'team' in action ? Number(ids.get(action.team) ?? nobodysTeam) : nobodysTeam;
  const done = (status: number, named?: readonly string[]): Played => ({
    status,
    ...(named && { named }),
    later: false,
  });
  try {
    switch (action.kind) {
      case 'createOrganization':
        ids.set(action.organization, (await createOrganization(context, caller, action.organization)).id);
        return done(201);
      case 'createTeam': {
        const within = action.organization === undefined ? {} : { organizationId };
        ids.set(action.team, String((await createTeam(context, caller, { name: action.team, ...within })).teamId));
        return done(201);
      }
      case 'addOrganizationMember':
        return done((await addOrganizationMember(context, caller, organizationId, action)).added ? 201 : 200);
      case 'setOrganizationMemberRole':
        await setOrganizationMemberRole(context, caller, organizationId, action);
        return done(200);
      case 'removeOrganizationMember':
        await removeOrganizationMember(context, caller, { organizationId, email: action.email }, action.force);
        return done(204);
      case 'addTeamMember':
        return done((await addTeamMember(context, caller, teamId, action)).added ? 201 : 200);
      case 'removeTeamMember':
        await removeTeamMember(context, caller, teamId, action);
        return done(204);
      case 'migrateTeam': {
        const asked = { teamId, organizationId, force: action.force };
        return done(200, (await migrateTeam(context, caller, asked)).removedMembers);
      }
      case 'addOrganizationMembers':
      case 'inviteMembers': {
        const members = action.emails.map((email) => ({ email, role: action.role }));
        const work = action.kind === 'inviteMembers' ? inviteMembers : addOrganizationMembers;
        await work(context, caller, organizationId, members);
        return done(200);
      }
      case 'addTeamMembers': {
        const members = action.emails.map((email) => ({ email, role: action.role }));
        await addTeamMembers(context, caller, teamId, members);
        return done(200);
      }
      case 'resendInvitation':
        await resendInvitation(context, caller, organizationId, action.email);
        return done(200);
      case 'revokeInvitation':
        await revokeInvitation(context, caller, organizationId, action.email);
        return done(204);
      case 'acceptInvitation':
        return done((await acceptInvitation(context, caller, organizationId)).added ? 201 : 200);
      case 'declineInvitation':
        await declineInvitation(context, caller, organizationId);
        return done(204);
      case 'renameOrganization':
        await renameOrganization(context, caller, organizationId, 'Renamed');
        return done(200);
      case 'setOrganizationCeilings':
        await setOrganizationCeilings(context, caller, organizationId, ceilingsOf(action));
        return done(200);
      case 'setTeamCeilings':
        await setTeamCeilings(context, caller, teamId, ceilingsOf(action));
        return done(200);
      case 'deleteOrganization':
        await deleteOrganization(context, caller, organizationId);
        return done(200);
      case 'restoreOrganization':
        await restoreOrganization(context, caller, organizationId);
        return done(200);
      case 'renameTeam':
        await renameTeam(context, caller, teamId, 'Renamed');
        return done(200);
      case 'deleteTeam':
        await deleteTeam(context, caller, teamId);
        return done(200);
      case 'restoreTeam':
        return done(200, (await restoreTeam(context, caller, teamId)).removedMembers);
      case 'setTeamMemberRole':
        await setTeamMemberRole(context, caller, teamId, action);
        return done(200);
      case 'proposeTransfer': {
        const to = action.organization === undefined ? null : organizationId;
        const asked = { teamId, organizationId: to, force: action.force };
        const result = await proposeTransfer(context, caller, asked);
        return 'moved' in result ? done(200, result.moved.removedMembers) : done(201);
      }
      case 'acceptTransfer':
      case 'refuseTransfer': {
        const asked = { teamId, transferId: action.organization === undefined ? 'standalone' : organizationId };
        if (action.kind === 'acceptTransfer') {
          return done(200, (await acceptTransfer(context, caller, asked)).removedMembers);
        }
        await refuseTransfer(context, caller, asked);
        return done(204);
      }
      case 'undoMigration':
        await undoMigration(context, caller, { teamId, migrationId: 'latest' });
        return done(200);
      case 'detachTeam':
        await detachTeam(context, caller, teamId);
        return done(200);
    }
  } catch (error) {
    if (!(error instanceof Problem) || error.code === 'internal') throw error;
    const { status } = error.kind;
    const named = error.members?.['members'] as readonly string[] | undefined;
    const later = status === 503 || (status === 409 && error.retryAfterSeconds !== undefined);
    return { status, ...(named && { named }), later };
  }
}
