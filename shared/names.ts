/** The words that code and terraform both say: function names, topics, collections, labels. A test compares the two. */

export const functionNames = {
  bootstraps: 'bootstraps',
  api: 'api',
  runCloudStep: 'run-cloud-step',
  runHostStep: 'run-host-step',
  sweep: 'sweep',
  cleanup: 'cleanup',
} as const;
export type FunctionName = (typeof functionNames)[keyof typeof functionNames];

/** One topic a lane: function triggers cannot filter by attribute. */
export const topics = { cloud: 'plinth-cloud-steps', host: 'plinth-host-steps' } as const;
export type Lane = keyof typeof topics;

export const collections = {
  bootstraps: 'bootstraps',
  /** One document a living bootstrap name: claimed in the same commit that makes the bootstrap. */
  names: 'names',
  /** One document an instance under way; sweep reads it with one query on `dueAt`. */
  leases: 'leases',
  /** Numbered events of all bootstraps, by `bootstrapId` and `n`. */
  events: 'events',
  /** Generated files that are no secret in the form they are stored in: config.yaml, the encrypted secrets file. */
  files: 'files',
  /** What jobs said on machines, in chunks by `instance` and `offset`. */
  logs: 'logs',
  /** One document an instance that has a log: how much is stored, and how far each job's was read. */
  logHeads: 'logHeads',
  /** One document for the counters of living bootstraps, in all and by owner. */
  counters: 'counters',
  /** How far searches have come that take more than one run. */
  passes: 'passes',
  /** Messages to the webhook that it has not taken yet; sweep reads them with one query on `dueAt`. */
  notices: 'notices',

  organizations: 'organizations',
  organizationMembers: 'organizationMembers',
  /** How far members who are gone were counted. */
  organizationMemberVersions: 'organizationMemberVersions',
  teams: 'teams',
  teamMembers: 'teamMembers',
  /** Who did what when, newest first by `id`. */
  organizationEvents: 'organizationEvents',
  /** Answers by idempotency key, for a day. */
  idempotency: 'idempotency',
} as const;

export const labels = {
  managed: 'plinth-managed',
  bootstrap: 'plinth-bootstrap',
  deleteAfter: 'delete-after',
  proof: 'plinth-proof',
  deployment: 'plinth-deployment',
  protectedUntil: 'plinth-protected-until',
  protectedReason: 'plinth-protected-reason',
  /** A hash of the owner's e-mail, so that the proof can be verified without a record. */
  owner: 'plinth-owner',
  installVersion: 'install-version',
  installHash: 'install-hash',
} as const;

/** Jobs of Cloud Scheduler, in the deployment's project and region. */
export const schedulerJobs = { sweep: 'plinth-sweep', cleanup: 'plinth-cleanup' } as const;

/** What ids of bootstraps begin with, and so the names of their secrets: roles on these hold for that prefix alone. */
export const bootstrapIdPrefix = 'b';

/** Secrets of the deployment itself, none with that prefix, in plinth's own project. */
export const deploymentSecrets = {
  proofKey: 'plinth-proof-key',
  /** Signs what is sent to the webhook; read only where there is one. */
  webhookKey: 'plinth-webhook-key',
  /** Seals the cursors of lists. */
  cursorKey: 'plinth-cursor-key',
} as const;
