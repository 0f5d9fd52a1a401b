/** Names that code and terraform share: functions, topics, collections, labels. A test compares the two. */

export const functionNames = {
  bootstraps: 'bootstraps',
  api: 'api',
  runCloudStep: 'run-cloud-step',
  runHostStep: 'run-host-step',
  sweep: 'sweep',
  cleanup: 'cleanup',
  check: 'check',
} as const;
export type FunctionName = (typeof functionNames)[keyof typeof functionNames];

/**
 * Of its service account. Ids of accounts have at least six characters, and some functions' names are shorter. `check` has no
 * account of its own: Google's testIamPermissions answers only for the account that asks.
 */
export const functionAccountId = (name: FunctionName): string =>
  `plinth-${name === functionNames.check ? functionNames.runCloudStep : name}`;

/** Google makes the e-mail of an account from its id and its project. */
export const functionAccountIn = (project: string, name: FunctionName): string =>
  `${functionAccountId(name)}@${project}.iam.gserviceaccount.com`;

/** Of the service account that Cloud Scheduler calls with. */
export const schedulerAccountId = 'plinth-scheduler';

/** One topic per lane, because function triggers cannot filter by attribute. */
export const topics = { cloud: 'plinth-cloud-steps', host: 'plinth-host-steps' } as const;
export type Lane = keyof typeof topics;

export const collections = {
  bootstraps: 'bootstraps',
  /** One document per living bootstrap name. The commit that makes the bootstrap also claims its name. */
  names: 'names',
  /** One document per instance under way. Sweep reads them with one query on `dueAt`. */
  leases: 'leases',
  /** Numbered events of all bootstraps, by `bootstrapId` and `n`. */
  events: 'events',
  /** Generated files whose stored form is not secret: config.yaml and the encrypted secrets file. */
  files: 'files',
  /** Machine logs, in chunks by `instance` and `offset`. */
  logs: 'logs',
  /** One document per instance that has a log: how much is stored, and how far each job's log was read. */
  logHeads: 'logHeads',
  /** What is counted of living bootstraps: one document for all, and one for each owner and each team. */
  counters: 'counters',
  /** One document per finished bootstrap: how long its instances took. */
  durations: 'durations',
  /** One document per function that people and other functions do not call: what it took last, and what it lacks. */
  functionReports: 'functionReports',
  /** Progress of searches that take more than one run. */
  passes: 'passes',
  /** Messages that the webhook has not accepted yet. Sweep reads them with one query on `dueAt`. */
  notices: 'notices',

  /** Rounds of the preflight that found nothing in the way. Each serves one beginning. */
  preflights: 'preflights',

  organizations: 'organizations',
  organizationMembers: 'organizationMembers',
  /** The last version of each member who left. If they come back, counting goes on from there. */
  organizationMemberVersions: 'organizationMemberVersions',
  /** Who may join an organization by their own acceptance. Nobody is invited and a member at once. */
  invitations: 'invitations',
  /** Moves of teams that one side has proposed and the other has not answered. */
  transfers: 'transfers',
  teams: 'teams',
  teamMembers: 'teamMembers',
  /** Who did what and when. Sorting by `id` puts the newest first. */
  organizationEvents: 'organizationEvents',
  /** Answers by idempotency key. Each is kept for a day. */
  idempotency: 'idempotency',
  /** How much each caller made in the current minute, by a hash of their account. */
  rates: 'rates',
  /** One document per session of the console, by the hash of its id. */
  consoleSessions: 'consoleSessions',
} as const;

export const labels = {
  managed: 'plinth-managed',
  bootstrap: 'plinth-bootstrap',
  deleteAfter: 'delete-after',
  proof: 'plinth-proof',
  deployment: 'plinth-deployment',
  protectedUntil: 'plinth-protected-until',
  protectedReason: 'plinth-protected-reason',
  /** A hash of the owner's e-mail. With it the proof can be verified without a record. */
  owner: 'plinth-owner',
  /** The team's number, with a proof of its own. */
  team: 'plinth-team',
  installVersion: 'install-version',
  installHash: 'install-hash',
} as const;

/** Jobs of Cloud Scheduler in the deployment's project and region. */
export const schedulerJobs = { sweep: 'plinth-sweep', cleanup: 'plinth-cleanup' } as const;

/**
 * The first letter of bootstrap ids, and so of their secrets' names. IAM roles on these secrets are limited to this prefix.
 */
export const bootstrapIdPrefix = 'b';

/** Secrets of the deployment itself, in plinth's own project. None begins with that prefix. */
export const deploymentSecrets = {
  proofKey: 'plinth-proof-key',
  /** Signs the messages to the webhook. Read only if a webhook is configured. */
  webhookKey: 'plinth-webhook-key',
  /** Signs the cursors of lists. */
  cursorKey: 'plinth-cursor-key',
  /** The secret of the console's OAuth client. An operator adds it. Read only if a console is configured. */
  consoleClient: 'plinth-console-client',
} as const;

/** The document in `counters` that each new bootstrap writes at the version it read. It has the operators' stop, too. */
export const countersId = 'living';
/** The document in `counters` with what the bootstraps of a team come to. */
export const teamCountId = (team: number): string => `team-${team}`;
