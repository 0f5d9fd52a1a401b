/** All commands, in the order in which help lists them. */
import type { Command } from '../frame/command.js';
import { orgAddMembers, teamAddMembers } from './add-members.js';
import { admission } from './admission.js';
import { bootstrapCloud } from './bootstrap-cloud.js';
import { cancel } from './cancel.js';
import { orgCeilings, teamCeilings } from './ceilings.js';
import { cleanupList } from './cleanup-list.js';
import { cleanupSchedule } from './cleanup-schedule.js';
import { cleanupUnknown } from './cleanup-unknown.js';
import { completion } from './completion.js';
import { configure } from './configure.js';
import { costs } from './costs.js';
import { dial } from './dial.js';
import { doctor } from './doctor.js';
import { down } from './down.js';
import { orgEvents, teamEvents } from './events.js';
import { init } from './init.js';
import { installImages, installPlatform, installUser } from './install.js';
import { kubeconfig } from './kubeconfig.js';
import { cleanup, extend, protect, unprotect } from './life.js';
import { list } from './list.js';
import { loginCommands } from './login.js';
import { logs } from './logs.js';
import { open } from './open.js';
import { orgCreate, orgList, orgTeams } from './org.js';
import { orgAccept, orgDecline, orgInvitations, orgInvite, orgResend, orgRevoke } from './org-invitations.js';
import { orgDelete, orgRename, orgRestore } from './org-life.js';
import { orgAddMember, orgMembers, orgRemoveMember, orgSetRole } from './org-members.js';
import { share, transfer } from './people.js';
import { pools } from './pools.js';
import { restartVms } from './restart-vms.js';
import { ssh } from './ssh.js';
import { status } from './status.js';
import { support } from './support.js';
import { teamAddMember, teamCreate, teamList, teamMembers, teamRemoveMember } from './team.js';
import { teamDetach } from './team-detach.js';
import { teamDelete, teamRename, teamRestore, teamSetRole } from './team-life.js';
import { teamMigrate } from './team-migrate.js';
import { teamAccept, teamRefuse, teamTransfer, teamTransfers } from './team-transfers.js';
import { teamUndo } from './team-undo.js';
import { up } from './up.js';

export const commands: readonly Command[] = [
  ...[configure, doctor, support, completion(() => commands)],
  ...loginCommands,
  ...[init, up, down],
  ...[bootstrapCloud, status, cancel, list, costs],
  ...[extend, protect, unprotect, share, transfer, cleanup],
  ...[logs, ssh, kubeconfig, open, restartVms],
  cleanupList,
  ...cleanupUnknown,
  ...cleanupSchedule,
  ...admission,
  ...pools,
  ...[installPlatform, installImages, installUser],
  dial,
  ...[
    orgList,
    orgCreate,
    orgRename,
    orgCeilings,
    orgDelete,
    orgRestore,
    orgMembers,
    orgAddMember,
    orgAddMembers,
    orgSetRole,
    orgRemoveMember,
    orgTeams,
    orgEvents,
    ...[orgInvite, orgInvitations, orgResend, orgRevoke, orgAccept, orgDecline],
  ],
  ...[
    teamList,
    teamCreate,
    teamRename,
    teamCeilings,
    teamDelete,
    teamRestore,
    teamMembers,
    teamAddMember,
    teamAddMembers,
    teamSetRole,
  ],
  ...[teamRemoveMember, teamMigrate, teamUndo, teamDetach],
  ...[teamTransfer, teamTransfers, teamAccept, teamRefuse, teamEvents],
];
