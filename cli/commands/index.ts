/** All commands, in the order in which help lists them. A module is loaded when one of its commands is chosen. */
import { type Command, entry, type ListedCommand, loadCommand } from '../frame/command.js';

const configure = () => import('./configure.js');
const doctor = () => import('./doctor.js');
const support = () => import('./support.js');
const login = () => import('./login.js');
const init = () => import('./init.js');
const up = () => import('./up.js');
const down = () => import('./down.js');
const bootstrapCloud = () => import('./bootstrap-cloud.js');
const status = () => import('./status.js');
const cancel = () => import('./cancel.js');
const list = () => import('./list.js');
const costs = () => import('./costs.js');
const life = () => import('./life.js');
const people = () => import('./people.js');
const logs = () => import('./logs.js');
const ssh = () => import('./ssh.js');
const kubeconfig = () => import('./kubeconfig.js');
const open = () => import('./open.js');
const restartVms = () => import('./restart-vms.js');
const cleanupList = () => import('./cleanup-list.js');
const cleanupUnknown = () => import('./cleanup-unknown.js');
const cleanupSchedule = () => import('./cleanup-schedule.js');
const admission = () => import('./admission.js');
const pools = () => import('./pools.js');
const install = () => import('./install.js');
const dial = () => import('./dial.js');
const org = () => import('./org.js');
const orgLife = () => import('./org-life.js');
const ceilings = () => import('./ceilings.js');
const orgMembers = () => import('./org-members.js');
const addMembers = () => import('./add-members.js');
const events = () => import('./events.js');
const orgInvitations = () => import('./org-invitations.js');
const team = () => import('./team.js');
const teamLife = () => import('./team-life.js');
const teamMigrate = () => import('./team-migrate.js');
const teamUndo = () => import('./team-undo.js');
const teamDetach = () => import('./team-detach.js');
const teamTransfers = () => import('./team-transfers.js');
/** It completes the others. */
const completion = async () => ({ command: (await import('./completion.js')).completion(loadCommands) });

export const commands: readonly ListedCommand[] = [
  entry('configure', 'Say where the service is and how people log in to it', configure, 'configure'),
  entry('doctor [project]', 'Check settings, service, credentials and SSH, and say what to do', doctor, 'doctor'),
  entry(
    'support <project>',
    'Pack what shows the trouble of a bootstrap into one archive, without secrets',
    support,
    'support',
  ),
  entry('completion <shell>', 'Print a script by which a shell completes plinth', completion, 'command'),
  entry('login', 'Say in the browser who you are', login, 'login'),
  entry('logout', 'End the login on this computer', login, 'logout'),
  entry('whoami', 'Show who is calling, and by which credentials', login, 'whoami'),
  entry('token', 'Print an ID token, for scripts', login, 'token'),
  entry('init', 'Ask a few questions and write plinth.yaml', init, 'init'),
  entry('up', 'Make the project that plinth.yaml describes, or go on with it', up, 'up'),
  entry('down', 'Remove the project that plinth.yaml describes', down, 'down'),
  entry(
    'beta bootstrap-cloud',
    'Bootstrap the cloud infrastructure that platform clusters need (beta)',
    bootstrapCloud,
    'bootstrapCloud',
  ),
  entry('beta bootstrap-cloud status <project>', 'Show what stands of a bootstrap, and follow it', status, 'status'),
  entry('beta bootstrap-cloud cancel <project>', 'Stop a bootstrap and keep what it made', cancel, 'cancel'),
  entry('beta bootstrap-cloud list', 'List your bootstraps', list, 'list'),
  entry('costs', 'Show what bootstraps have cost', costs, 'costs'),
  entry('beta bootstrap-cloud extend <project>', 'Let a project live longer', life, 'extend'),
  entry('beta bootstrap-cloud protect <project>', 'Keep a project from being removed for a while', life, 'protect'),
  entry(
    'beta bootstrap-cloud unprotect <project>',
    'Let a protected project be removed when its time is over',
    life,
    'unprotect',
  ),
  entry(
    'beta bootstrap-cloud share <project>',
    'Let somebody else, or a team, see a project and work in it',
    people,
    'share',
  ),
  entry('beta bootstrap-cloud transfer <project>', 'Give a project to somebody else', people, 'transfer'),
  entry('beta bootstrap-cloud cleanup <project>', 'Remove a project now', life, 'cleanup'),
  entry(
    'beta bootstrap-cloud logs <project> [step]',
    'Show what was said on the machines of a bootstrap',
    logs,
    'logs',
  ),
  entry(
    'beta bootstrap-cloud ssh <project> [host] [-- command…]',
    'Log in to a machine of a bootstrap, or run a command there',
    ssh,
    'ssh',
  ),
  entry(
    'kubeconfig <project>',
    'Make the Kubernetes of a bootstrap a context of your kubectl',
    kubeconfig,
    'kubeconfig',
  ),
  entry('open <project>', 'Open the platform of a bootstrap in the browser', open, 'open'),
  entry(
    'beta bootstrap-cloud restart-vms <project>',
    'Start VMs again that were stopped or taken away',
    restartVms,
    'restartVms',
  ),
  entry('beta cleanup list', 'Show what the next cleanup would do, for operators', cleanupList, 'cleanupList'),
  entry(
    'beta cleanup take-in <project>',
    'Take a project without a record into the records, for operators',
    cleanupUnknown,
    'cleanupTakeIn',
  ),
  entry(
    'beta cleanup remove <project>',
    'Remove a project without a record now, for operators',
    cleanupUnknown,
    'cleanupRemove',
  ),
  entry('beta cleanup schedule status', 'Show when cleanup runs, for operators', cleanupSchedule, 'scheduleStatus'),
  entry(
    'beta cleanup schedule pause',
    'Stop cleanup until it is resumed, for operators',
    cleanupSchedule,
    'schedulePause',
  ),
  entry(
    'beta cleanup schedule resume',
    'Let cleanup run on its schedule again, for operators',
    cleanupSchedule,
    'scheduleResume',
  ),
  entry('beta cleanup schedule run', 'Run cleanup now, for operators', cleanupSchedule, 'scheduleRun'),
  entry('beta bootstraps status', 'Show whether new bootstraps are taken, for operators', admission, 'admissionStatus'),
  entry(
    'beta bootstraps stop',
    'Refuse new bootstraps until they are started again, for operators',
    admission,
    'admissionStop',
  ),
  entry('beta bootstraps start', 'Take new bootstraps again, for operators', admission, 'admissionStart'),
  entry('pool status', 'Show the pools of prepared projects, for operators', pools, 'poolStatus'),
  entry('pool fill', 'Fill the pools of prepared projects again, for operators', pools, 'poolFill'),
  entry('pool drain', 'Remove all prepared projects, and make no more, for operators', pools, 'poolDrain'),
  entry('install platform', 'Install the platform from a package, on the jumpbox', install, 'installPlatform'),
  entry(
    'install images',
    'Bring the images of a package to the registry of the config, on the jumpbox',
    install,
    'installImages',
  ),
  entry(
    'install user',
    'Make a user with an API token on the installed platform, on the jumpbox',
    install,
    'installUser',
  ),
  entry(
    'beta dial <address> <port>',
    'Lead standard input and output to a machine, for the ProxyCommand of ssh',
    dial,
    'dial',
  ),
  entry('org list', 'List the organizations that you belong to', org, 'orgList'),
  entry('org create <name>', 'Make an organization, with you as its first admin', org, 'orgCreate'),
  entry('org rename <organization> <name>', 'Rename an organization', orgLife, 'orgRename'),
  entry(
    'org ceilings <organization>',
    'Show or set what the bootstraps of all its teams may come to',
    ceilings,
    'orgCeilings',
  ),
  entry('org delete <organization>', 'Delete an organization that has no teams', orgLife, 'orgDelete'),
  entry('org restore <organization>', 'Take back that an organization was deleted', orgLife, 'orgRestore'),
  entry('org members <organization>', 'List the members of an organization', orgMembers, 'orgMembers'),
  entry('org add-member <organization> <email>', 'Add a member to an organization', orgMembers, 'orgAddMember'),
  entry(
    'org add-members <organization>',
    'Add up to 500 members to an organization, from a file',
    addMembers,
    'orgAddMembers',
  ),
  entry(
    'org set-role <organization> <email> <role>',
    'Change the role of a member of an organization',
    orgMembers,
    'orgSetRole',
  ),
  entry(
    'org remove-member <organization> <email>',
    'Remove a member from an organization',
    orgMembers,
    'orgRemoveMember',
  ),
  entry('org teams <organization>', 'List the teams of an organization', org, 'orgTeams'),
  entry('org events <organization>', 'Show who did what in an organization, newest first', events, 'orgEvents'),
  entry('org invite <organization> [email]', 'Invite people into an organization', orgInvitations, 'orgInvite'),
  entry(
    'org invitations [organization]',
    'List your invitations, or those of an organization',
    orgInvitations,
    'orgInvitations',
  ),
  entry('org resend <organization> <email>', 'Tell of an invitation again, and renew it', orgInvitations, 'orgResend'),
  entry('org revoke <organization> <email>', 'Take an invitation back', orgInvitations, 'orgRevoke'),
  entry('org accept <organization>', 'Join an organization that you are invited into', orgInvitations, 'orgAccept'),
  entry('org decline <organization>', 'Decline an invitation', orgInvitations, 'orgDecline'),
  entry('team list', 'List the teams that you belong to', team, 'teamList'),
  entry('team create <name>', 'Make a team, with you as its first admin', team, 'teamCreate'),
  entry('team rename <teamId> <name>', 'Rename a team', teamLife, 'teamRename'),
  entry('team ceilings <teamId>', 'Show or set what the bootstraps of a team may come to', ceilings, 'teamCeilings'),
  entry('team delete <teamId>', 'Delete a team', teamLife, 'teamDelete'),
  entry('team restore <teamId>', 'Take back that a team was deleted', teamLife, 'teamRestore'),
  entry('team members <teamId>', 'List the members of a team', team, 'teamMembers'),
  entry('team add-member <teamId> <email>', 'Add a member to a team', team, 'teamAddMember'),
  entry('team add-members <teamId>', 'Add up to 500 members to a team, from a file', addMembers, 'teamAddMembers'),
  entry('team set-role <teamId> <email> <role>', 'Change the role of a member of a team', teamLife, 'teamSetRole'),
  entry('team remove-member <teamId> <email>', 'Remove a member from a team', team, 'teamRemoveMember'),
  entry('team migrate <teamId>', 'Move a standalone team into an organization', teamMigrate, 'teamMigrate'),
  entry('team undo <teamId>', 'Undo the migration of a team into its organization', teamUndo, 'teamUndo'),
  entry(
    'team detach <teamId>',
    'Take a team out of its organization, as it was before it was migrated',
    teamDetach,
    'teamDetach',
  ),
  entry(
    'team transfer <teamId>',
    'Take a team to an organization, or out of its own, by agreement',
    teamTransfers,
    'teamTransfer',
  ),
  entry('team transfers <teamId>', 'List what is proposed for a team', teamTransfers, 'teamTransfers'),
  entry('team accept <teamId>', 'Agree to what is proposed for a team', teamTransfers, 'teamAccept'),
  entry('team refuse <teamId>', 'Refuse what is proposed for a team, or take it back', teamTransfers, 'teamRefuse'),
  entry('team events <teamId>', 'Show who did what to a team, newest first', events, 'teamEvents'),
];

export const loadCommands = (): Promise<readonly Command[]> => Promise.all(commands.map(loadCommand));
