/** The setting of pools: which pools of prepared projects the deployment keeps. Pure. */
import * as z from 'zod';
import { parseDuration } from '../../shared/bootstrap/duration.js';
import type { Fault } from '../../shared/problems.js';
import { type Rows, setting, type Values } from '../setting.js';

/** Enough for a morning, and one query reads them all. */
const mostProjects = 200;
const longestAgeSeconds = 30 * 86_400;

const Row = z.strictObject({
  parent: z
    .string('must be folders/<number> or organizations/<number>')
    .regex(/^(?:folders|organizations)\/\d+$/, 'must be folders/<number> or organizations/<number>'),
  billingAccount: z
    .string('must be a billing account')
    .regex(/^(?:billingAccounts\/)?[0-9A-F]{6}(?:-[0-9A-F]{6}){2}$/, 'must be a billing account'),
  region: z.string('must be a region').regex(/^[a-z]+(?:-[a-z]+)+\d+$/, 'must be a region'),
  size: z
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(mostProjects, `must be at most ${mostProjects}`),
  maxAge: z
    .string('must be a duration such as 7d')
    .default('7d')
    .refine((text) => {
      const seconds = parseDuration(text);
      return seconds !== undefined && seconds >= 3600 && seconds <= longestAgeSeconds;
    }, 'must be a duration from 1h to 30d'),
});

/** Projects of one parent, billing account and region, which are made before anybody asks for them. */
export interface Pool {
  /** Names it in records. */
  readonly key: string;
  /** `folders/<number>` or `organizations/<number>` */
  readonly parent: string;
  /** Without `billingAccounts/`. */
  readonly billingAccount: string;
  readonly region: string;
  /** How many projects wait in it. */
  readonly size: number;
  /** A project that is older is removed, and another one is made. */
  readonly maxAgeSeconds: number;
}

export type Place = Pick<Pool, 'parent' | 'billingAccount' | 'region'>;

const accountOf = (billingAccount: string): string => billingAccount.replace(/^billingAccounts\//, '');

/** The same for all who ask for the same place. */
export const poolKey = ({ parent, billingAccount, region }: Place): string =>
  `${parent} ${accountOf(billingAccount)} ${region}`;

/** The pools as JSON text. Reports all faults at once, each with its path. An empty text means none. */
const PoolsSetting: z.ZodType<readonly Pool[], string> = z.string().transform((text, context) => {
  const refuse = (message: string) => context.addIssue({ code: 'custom', message, input: text });
  if (text === '') return [];
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    refuse('must be JSON, as docs/operate/pools.md shows it');
    return z.NEVER;
  }
  const read = z.array(Row, 'must be a list').safeParse(given);
  if (!read.success) {
    for (const { path, message } of read.error.issues)
      refuse(path.length === 0 ? message : `${path.join('.')} ${message}`);
    return z.NEVER;
  }
  const pools = read.data.map(({ maxAge, ...row }): Pool => {
    const place = { ...row, billingAccount: accountOf(row.billingAccount) };
    return { ...place, key: poolKey(place), maxAgeSeconds: parseDuration(maxAge) ?? 0 };
  });
  for (const [index, { key }] of pools.entries()) {
    if (pools.findIndex((pool) => pool.key === key) < index) refuse(`${index} is the same pool as an earlier one`);
  }
  return pools;
});

export const poolSettings = {
  PLINTH_POOLS: setting(
    PoolsSetting,
    'Pools of projects that are prepared before anybody asks for one, as a JSON list: parent, billingAccount, region, size, and maxAge (default 7d). Unset: none.',
    '',
  ),
} satisfies Rows;

export interface PoolsConfig {
  /** Of prepared projects. */
  readonly pools: readonly Pool[];
}

export const readPools = (read: Values<typeof poolSettings>): PoolsConfig => ({ pools: read.PLINTH_POOLS });

/** What bootstraps may use. Otherwise projects of a pool would wait for nobody. */
interface Allowed {
  readonly PLINTH_PARENTS?: readonly string[];
  readonly PLINTH_BILLING_ACCOUNTS?: readonly string[];
}

export const poolFaults = ({
  PLINTH_POOLS: pools = [],
  PLINTH_PARENTS: parents = [],
  PLINTH_BILLING_ACCOUNTS: billingAccounts = [],
}: Partial<Values<typeof poolSettings>> & Allowed): Fault[] =>
  pools
    .flatMap(({ parent, billingAccount }, index) => {
      const isAllowed = parents.includes('*') || parents.includes(parent);
      const isPaid = billingAccounts.includes('*') || billingAccounts.includes(billingAccount);
      return [
        ...(isAllowed ? [] : [`${index}.parent ${parent} is not among PLINTH_PARENTS`]),
        ...(parent.startsWith('folders/') || parent === parents.find((each) => each !== '*')
          ? []
          : [`${index}.parent ${parent} must be a folder, or the first of PLINTH_PARENTS`]),
        ...(isPaid ? [] : [`${index}.billingAccount ${billingAccount} is not among PLINTH_BILLING_ACCOUNTS`]),
      ];
    })
    .map((message) => ({ path: 'PLINTH_POOLS', message }));
