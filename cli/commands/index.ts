/** The commands, in the order in which help lists them. */
import type { Command } from '../command.js';
import { bootstrapCloud } from './bootstrap-cloud.js';
import { cancel } from './cancel.js';
import { cleanupSchedule } from './cleanup-schedule.js';
import { cleanup, extend, protect, unprotect } from './life.js';
import { list } from './list.js';
import { orgCreate, orgEvents, orgList, orgTeams } from './org.js';
import { orgAddMember, orgMembers, orgRemoveMember, orgSetRole } from './org-members.js';
import { status } from './status.js';
import { teamAddMember, teamCreate, teamList, teamMembers, teamRemoveMember } from './team.js';
import { teamMigrate } from './team-migrate.js';

export const commands: readonly Command[] = [
  ...[bootstrapCloud, status, cancel, list],
  ...[extend, protect, unprotect, cleanup],
  ...cleanupSchedule,
  ...[orgList, orgCreate, orgMembers, orgAddMember, orgSetRole, orgRemoveMember, orgTeams, orgEvents],
  ...[teamList, teamCreate, teamMembers, teamAddMember, teamRemoveMember, teamMigrate],
];
