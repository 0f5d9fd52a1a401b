/** All settings of the functions, read from the environment in one place; the only reader of process.env besides the CLI's settings. */

/** APIs that plinth calls; each has a base URL that is a setting. */
export const googleApis = [
  'cloudresourcemanager',
  'cloudbilling',
  'serviceusage',
  'iam',
  'compute',
  'dns',
  'artifactregistry',
  'secretmanager',
  'publicca',
  'pubsub',
] as const;
export type GoogleApi = (typeof googleApis)[number];

export interface Config {
  /** The project plinth itself runs in. */
  readonly project: string;
  /** Written into labels; a cleaner touches only its own. */
  readonly deployment: string;
  /** `default`, or the e-mail of the identity to ask the metadata server for. */
  readonly serviceAccount: string;
  /** Base URL an API, without a trailing slash: `https://compute.googleapis.com`. */
  readonly endpoints: Readonly<Record<GoogleApi, string>>;
  readonly firestore: { readonly database: string; readonly emulatorHost?: string };
  readonly pubsubEmulatorHost?: string;
  /** `folders/…` or `organizations/…`; undefined: `--folder-id` must be given. */
  readonly defaultParent?: string;
  readonly auth: {
    readonly issuer: string;
    readonly jwksUrl: string;
    readonly audiences: readonly string[];
    readonly operators: readonly string[];
  };
  /** Who may bootstrap; all empty: operators only. `domains` are compared with the `hd` claim. */
  readonly bootstrappers: { readonly emails: readonly string[]; readonly domains: readonly string[] };
  /** `*` allows all. */
  readonly allowed: {
    readonly billingAccounts: readonly string[];
    readonly parents: readonly string[];
    /** `<project>/<zone>`; `*` allows all. Zones in the bootstrap's own project are always allowed. */
    readonly dnsZones: readonly string[];
  };
  readonly limits: { readonly livingPerOwner: number; readonly livingInAll: number; readonly maxTtlSeconds?: number };
  /** Role that the caller gets on their project. */
  readonly callerRole: string;
  readonly sshSourceRanges: readonly string[];
  /** Base URL of forge1's API, for team keys. */
  readonly forge1ApiUrl: string;
  /** Base URLs that go into the install config. */
  readonly forgeUrls: Readonly<Record<'forge1' | 'forge2' | 'forge3' | 'forge4', string>>;
  readonly acmeDirectories: {
    readonly default: string;
    readonly defaultStaging: string;
    readonly cloud: string;
    readonly cloudStaging: string;
  };
  /** Identity that Cloud Scheduler and Eventarc call with. */
  readonly invokers: { readonly scheduler: string; readonly eventarc: string };
}
