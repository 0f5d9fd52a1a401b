/** Settings that limit bootstraps: what they may use, how many there may be, and for how long. */
import * as z from 'zod';
import { bucketName, count, ifSet, list, optional, type Rows, setting, text, url, type Values } from '../setting.js';

const parents = list.pipe(
  z.array(
    text.regex(/^(?:\*|(?:folders|organizations)\/\d+)$/, 'must be folders/<number>, organizations/<number> or *'),
  ),
);

export const bootstrapSettings = {
  PLINTH_BILLING_ACCOUNTS: setting(list, 'Billing accounts that may be used; `*`: any. Unset: none.', ''),
  PLINTH_PARENTS: setting(
    parents,
    'Folders and organizations that projects may be made in, as `folders/<number>` and `organizations/<number>`; `*`: any. The first of them is where projects are made when no `--folder-id` is given. Unset: none.',
    '',
  ),
  PLINTH_DNS_ZONES: setting(
    list,
    'DNS zones outside of the own project that may be written, as `<project>/<zone>`; `*`: any. Unset: none.',
    '',
  ),
  PLINTH_LIVING_PER_OWNER: setting(count, 'How many bootstraps one owner may have at once.', '3'),
  PLINTH_LIVING_IN_ALL: setting(count, 'How many bootstraps there may be at once, in all.', '20'),
  PLINTH_CHANGES_PER_MINUTE: setting(
    count,
    'How often in a minute one caller may make, invite, hand on or preview: bootstraps, organizations, teams, members. Operators may do so as often as they like. 0: no limit.',
    '120',
  ),
  PLINTH_MAX_TTL_SECONDS: optional(
    count,
    'The longest time to live that may be asked for, by `extend` and `protect`, too. No project lives longer than 366 days in any case. Unset: no other ceiling.',
  ),
  PLINTH_UPLOADS_BUCKET: optional(
    bucketName,
    'Cloud Storage bucket for big files of callers, on their way to jumpboxes that only IAP reaches. Its lifecycle must delete what is older than a day. Unset: these files go through IAP, slowly.',
  ),
  PLINTH_CHECK_URL: optional(
    url,
    'URL of the function `check`, which asks Google as `plinth-run-cloud-step` before a project is created. It is also the audience of tokens for it. Unset: what it would answer is unknown.',
  ),
} satisfies Rows;

export interface BootstrapsConfig {
  /** `folders/…` or `organizations/…`: the first that is allowed by name. Undefined: `--folder-id` must be given. */
  readonly defaultParent?: string;
  /** `*` allows all. */
  readonly allowed: {
    readonly billingAccounts: readonly string[];
    readonly parents: readonly string[];
    /** `<project>/<zone>`, or `*` for all. Zones in the bootstrap's own project are always allowed. */
    readonly dnsZones: readonly string[];
  };
  readonly limits: {
    readonly livingPerOwner: number;
    readonly livingInAll: number;
    /** 0: no limit. */
    readonly changesPerMinute: number;
    readonly maxTtlSeconds?: number;
  };
  /** Bucket of big files on their way to jumpboxes. Undefined: they go through IAP like small ones. */
  readonly uploadsBucket?: string;
  /** Of the function `check`. Undefined: what it would answer is unknown. */
  readonly checkUrl?: string;
}

export const readBootstraps = (read: Values<typeof bootstrapSettings>): BootstrapsConfig => ({
  ...ifSet(
    'defaultParent',
    read.PLINTH_PARENTS.find((each) => each !== '*'),
  ),
  allowed: {
    billingAccounts: read.PLINTH_BILLING_ACCOUNTS,
    parents: read.PLINTH_PARENTS,
    dnsZones: read.PLINTH_DNS_ZONES,
  },
  limits: {
    livingPerOwner: read.PLINTH_LIVING_PER_OWNER,
    livingInAll: read.PLINTH_LIVING_IN_ALL,
    changesPerMinute: read.PLINTH_CHANGES_PER_MINUTE,
    ...ifSet('maxTtlSeconds', read.PLINTH_MAX_TTL_SECONDS),
  },
  ...ifSet('uploadsBucket', read.PLINTH_UPLOADS_BUCKET),
  ...ifSet('checkUrl', read.PLINTH_CHECK_URL),
});
