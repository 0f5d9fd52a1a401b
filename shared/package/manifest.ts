/** `package.json` of an installer package: its contents, the order of installation, and the hash that identifies the build. */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { type Fault, Problem } from '../problems.js';

/** The most that plinth unpacks. An archive comes from elsewhere, and a small one can fill memory and disk. */
export const mostUnpacked = {
  /** Times the size of the archive. Layers of images are packed already. */
  ratio: 100,
  entries: 20_000,
  /** Of package.json, and of the manifest of an image. */
  manifestBytes: 4 * 1024 * 1024,
} as const;

/** A path inside the package, with `/`, never upwards. */
const inside = z
  .string()
  .max(512)
  .regex(/^(?!.*(?:^|\/)\.{1,2}(?:\/|$))[A-Za-z0-9._@+-]+(?:\/[A-Za-z0-9._@+-]+)*$/, 'must be a path in the package');
const word = z.string().regex(/^[a-z][a-z0-9-]{0,62}$/, 'must be lower-case letters, digits and dashes');
const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hex');

/** As `--install-version` accepts it: `v1.2.3` and `1.2.3` are the same version. */
export const PackageVersion = z
  .string()
  .regex(/^v?[0-9]+(?:\.[0-9]+){0,3}(?:[-+.][A-Za-z0-9][A-Za-z0-9.-]*)?$/, 'must be a version such as 1.2.3')
  .max(50)
  .transform((version) => version.replace(/^v/, ''));
/** Identifies a build: the first 40 digits of a SHA-256. */
const PackageHash = z.string().regex(/^[0-9a-f]{40}$/, 'must be 40 hexadecimal digits');

const executable = (what: string) => inside.meta({ description: `Executable that ${what}` });

const Component = z
  .strictObject({
    name: word.meta({ description: 'Unique in the package; never given to another component later' }),
    step: word.meta({ description: 'Its word in --install-skip-steps' }),
    title: z.string().min(1).max(80).meta({ description: 'For people' }),
    install: executable('makes it stand as this version wants it'),
    check: executable('looks whether it stands, and changes nothing'),
    remove: executable('takes it away again'),
    timeoutSeconds: z
      .int()
      .min(1)
      .max(7200)
      .default(1800)
      .meta({ description: 'The longest that one of them may take' }),
  })
  .meta({ description: 'One part of the installation' });
export type Component = z.infer<typeof Component>;

const Image = z
  .strictObject({
    name: z.string().regex(/^[a-z0-9]+(?:[._/-][a-z0-9]+)*$/, 'must be a repository name'),
    tag: z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/, 'must be a tag'),
    digest: z
      .string()
      .regex(/^sha256:[0-9a-f]{64}$/, 'must be sha256:…')
      .meta({ description: 'Of its manifest' }),
    path: inside.startsWith('images/').meta({ description: 'Its OCI image layout; absent from installer-lite' }),
  })
  .meta({ description: 'One container image' });

const unique = (values: readonly string[]): boolean => new Set(values).size === values.length;

export const PackageManifest = z
  .strictObject({
    schema: z.literal(1),
    name: word.meta({ description: 'Of what is installed' }),
    version: PackageVersion,
    hash: PackageHash.meta({ description: 'Of all else in this file, see docs/use/packages.md' }),
    components: z
      .array(Component)
      .min(1)
      .refine((all) => unique(all.map(({ name }) => name)), 'a name stands twice')
      .meta({ description: 'In the order in which they are installed' }),
    images: z.array(Image).refine((all) => unique(all.map(({ path }) => path)), 'a path stands twice'),
    hooks: z
      .strictObject({ createUser: executable('makes a user with an API token').optional() })
      .meta({ description: 'Executables that are called after the installation' }),
    files: z
      .array(z.strictObject({ path: inside, sha256, executable: z.boolean() }))
      .refine((all) => unique(all.map(({ path }) => path)), 'a path stands twice')
      .meta({ description: 'Every file but this one and those beneath images/' }),
  })
  .superRefine(({ components, hooks, files }, context) => {
    const runnable = new Set(files.filter((file) => file.executable).map(({ path }) => path));
    const wanted = [
      ...components.flatMap(({ install, check, remove }) => [install, check, remove]),
      ...Object.values(hooks).filter((hook) => hook !== undefined),
    ];
    for (const path of wanted.filter((each) => !runnable.has(each))) {
      context.addIssue({ code: 'custom', message: `${path} is to be run and is no executable file of the package` });
    }
  })
  .meta({ description: 'package.json of an installer package' });
export type PackageManifest = z.infer<typeof PackageManifest>;

/** Keys in alphabetical order, no white space. The same content always gives the same text. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );

/** The hash covers everything but itself. Images count by their digests, so both archives of a build have the same hash. */
export const packageHash = ({ hash: _, ...rest }: Omit<PackageManifest, 'hash'> & { hash?: string }): string =>
  createHash('sha256').update(canonical(rest)).digest('hex').slice(0, 40);

const refused = (detail: string, errors?: readonly Fault[]) =>
  new Problem('bad-input', `The package cannot be used: ${detail}.`, {
    ...(errors !== undefined && { errors }),
    advice: 'Get the package anew; if it is the same, tell who made it.',
  });

/** `Problem` bad-input if it is no manifest, or was changed after its hash was taken. */
export function readPackageManifest(text: string): PackageManifest {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw refused('its package.json is no JSON');
  }
  const read = PackageManifest.safeParse(content);
  if (!read.success) {
    const errors = read.error.issues.map(({ path, message }) => ({ path: path.join('.') || 'package.json', message }));
    throw refused(`its package.json is faulty: ${errors.map((e) => `${e.path} ${e.message}`).join('; ')}`, errors);
  }
  const hash = packageHash(read.data);
  if (hash !== read.data.hash) throw refused(`its package.json says hash ${read.data.hash}, its content has ${hash}`);
  return read.data;
}

/** Faults if the package has another hash or version than the flags say. A version is the same with and without `v`. */
export function packageMismatches(
  {
    installHash,
    installVersion,
  }: { readonly installHash?: string | undefined; readonly installVersion?: string | undefined },
  { hash, version }: PackageManifest,
): Fault[] {
  const advice = 'Give the package that was meant, or leave the flag out';
  return [
    ...(installHash === undefined || installHash === hash
      ? []
      : [{ path: '--install-hash', message: `is ${installHash}, and the package bears ${hash}. ${advice}` }]),
    ...(installVersion === undefined || installVersion.replace(/^v/, '') === version
      ? []
      : [{ path: '--install-version', message: `is ${installVersion}, and the package is ${version}. ${advice}` }]),
  ];
}

/** The archive that an install with this registry needs: the full one has the images. */
export const archiveFor = ({
  registryType,
  airgapped,
}: {
  readonly registryType?: string | undefined;
  readonly airgapped?: boolean | undefined;
}): 'full' | 'lite' => (registryType === 'artifact-registry' || airgapped === true ? 'full' : 'lite');
