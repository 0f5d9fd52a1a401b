/**
 * What `plinth install platform` and the executables of a package say to each other: JSON on standard input, exit codes,
 * progress lines. docs/use/packages.md tells the same to who makes a package.
 */
import * as z from 'zod';
import { InstallConfig } from '../install-config/config.js';
import { Secret } from '../install-config/secrets.js';

const packageActions = ['check', 'install', 'remove', 'createUser'] as const;

/** The one JSON document that an executable reads from standard input. Secrets are in it, so it never goes to a disk. */
export const ComponentInput = z.strictObject({
  schema: z.literal(1),
  action: z.enum(packageActions),
  /** Absent for a hook. */
  component: z.string().optional(),
  config: InstallConfig,
  /** By name. */
  secrets: z.record(z.string(), Secret),
  /** `--pc-apps-values`, in order, their bytes as the caller has them. */
  values: z.array(z.strictObject({ path: z.string(), sha256: z.string() })),
  /** Without `folder` where the package has come without images. */
  images: z.array(
    z.strictObject({ name: z.string(), tag: z.string(), digest: z.string(), folder: z.string().optional() }),
  ),
  /** Steps that are left out this time. */
  skipped: z.array(z.string()),
  /** For `createUser` alone. */
  user: z.strictObject({ name: z.string() }).optional(),
});
export type ComponentInput = z.infer<typeof ComponentInput>;

/** What the hook `createUser` prints on standard output, as its last line. The token is nowhere else. */
export const CreatedUser = z.strictObject({
  user: z.string().min(1),
  token: z.string().min(16),
  /** Where the platform's API takes it. */
  url: z.url(),
});
export type CreatedUser = z.infer<typeof CreatedUser>;

export const componentExits = {
  done: 0,
  /** Of `check` alone: it does not stand as wanted, and `install` is to be run. */
  differs: 1,
  /** Something that will pass, as EX_TEMPFAIL of sysexits.h. */
  temporary: 75,
  /** Config or secrets must be corrected first, as EX_CONFIG of sysexits.h. */
  config: 78,
} as const;

/** `::progress 3/10 copying images`; any other line is log. */
export function readProgress(line: string): { done: number; total: number; text: string } | undefined {
  const [, done, total, text] = /^::progress (\d{1,9})\/(\d{1,9})(?: (.*))?$/.exec(line) ?? [];
  return done === undefined ? undefined : { done: Number(done), total: Number(total), text: text ?? '' };
}
