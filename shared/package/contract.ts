/**
 * The interface between `plinth install platform` and the executables of a package: JSON on standard input, exit codes,
 * progress lines. docs/use/packages.md describes it for makers of packages.
 */
import * as z from 'zod';
import { InstallConfig } from '../install-config/config.js';
import { Secret } from '../install-config/secrets.js';

const packageActions = ['check', 'install', 'remove', 'createUser'] as const;

/**
 * The one JSON document that an executable reads from standard input. It contains secrets, so it is never written to a disk.
 */
export const ComponentInput = z.strictObject({
  schema: z.literal(1),
  action: z.enum(packageActions),
  /** Absent for a hook. */
  component: z.string().optional(),
  config: InstallConfig,
  /** By name. */
  secrets: z.record(z.string(), Secret),
  /** The files of `--pc-apps-values`, in order, with the caller's bytes. */
  values: z.array(z.strictObject({ path: z.string(), sha256: z.string() })),
  /** `folder` is missing if the package has no images. */
  images: z.array(
    z.strictObject({ name: z.string(), tag: z.string(), digest: z.string(), folder: z.string().optional() }),
  ),
  /** Steps that this run skips. */
  skipped: z.array(z.string()),
  /** Only for `createUser`. */
  user: z.strictObject({ name: z.string() }).optional(),
});
export type ComponentInput = z.infer<typeof ComponentInput>;

/** What the hook `createUser` prints as the last line of its standard output. The token is stored nowhere else. */
export const CreatedUser = z.strictObject({
  user: z.string().min(1),
  token: z.string().min(16),
  /** The URL of the platform's API, which accepts the token. */
  url: z.url(),
});
export type CreatedUser = z.infer<typeof CreatedUser>;

export const componentExits = {
  done: 0,
  /** Only from `check`: the component is not as wanted, so `install` must run. */
  differs: 1,
  /** A failure that will pass, as EX_TEMPFAIL in sysexits.h. */
  temporary: 75,
  /** Config or secrets must be corrected first, as EX_CONFIG in sysexits.h. */
  config: 78,
} as const;

/** `::progress 3/10 copying images`. Any other line is log. */
export function readProgress(line: string): { done: number; total: number; text: string } | undefined {
  const [, done, total, text] = /^::progress (\d{1,9})\/(\d{1,9})(?: (.*))?$/.exec(line) ?? [];
  return done === undefined ? undefined : { done: Number(done), total: Number(total), text: text ?? '' };
}
