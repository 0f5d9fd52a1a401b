/** The tiers of the tests: which files belong to each, in which order they run, and what they are given. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where compiled tests lie, from the top of the project. */
const folder = join('dist', 'test');
/** Seconds by file, as measured by `--write-durations`. */
export const durationsFile = join('test', 'durations.json');

export interface Tier {
  readonly title: string;
  /** `file`: its path from `dist/test`. */
  holds(file: string): boolean;
  readonly timeoutMs: number;
  /** How long each search by chance may take. */
  readonly searchSeconds: number;
}

/**
 * Where searches begin that hold up a change: each Node has a seed of its own, and the same one each time. What they find, the
 * change has broken. Nights begin anywhere.
 */
export const heldSeed = Number.parseInt(process.versions.node, 10) * 100_000;

/** They run elsewhere than with Node alone, or for long. */
const isApart = (file: string): boolean => /\.(?:tools|nightly)\.test\.js$/.test(file);
/** These search by chance for what breaks a promise; nightly they search longer. */
const isSearch = (file: string): boolean => /\.search\.test\.js$/.test(file);
/**
 * What a Node version can change: the build and its bundles, processes, HTTP and TLS clients, streams, cryptography, archives,
 * and one story of the command line against the real functions. The other tests use nothing else of Node. A folder without
 * names stands for all its files that need Node alone.
 */
export const dependOnNode: readonly string[] = [
  ...['argv', 'commands', 'dial-iap', 'files', 'first-load', 'following', 'google-front', 'login'].map(
    (name) => `cli/${name}`,
  ),
  ...['outside', 'process', 'proxies', 'secrets-file', 'ssh-private-key', 'storage-upload'].map(
    (name) => `cli/${name}`,
  ),
  ...['cloud/', 'functions/', 'remote/'],
  ...['console/identity-provider', 'console/page', 'console/sign-in'],
  ...['e2e/local', 'e2e/one-datacenter', 'e2e/traces'],
  ...['auth', 'event-stream', 'framework', 'health', 'hostile-requests', 'light', 'logs'].map((name) => `http/${name}`),
  ...['install-config/keys-and-certificates', 'install-config/sops'],
  ...['compute-client', 'iap-tunnel', 'pubsub', 'storage'].map((name) => `local-cloud/${name}`),
  ...['house/node-versions', 'package/package-format', 'release/release'],
  // They build, so `npm test` leaves them to the tools tier. They need Node alone.
  ...['release/build.tools', 'release/bundle-contents.tools'],
];
const canDependOnNode = (file: string): boolean =>
  dependOnNode.some((each) =>
    each.endsWith('/') ? file.startsWith(each) && !isApart(file) : file === `${each}.test.js`,
  );
const fastFolders = /^(?:spec|bootstrap|cost|engine|functions|house|organizations|steps|store)\//;

const searchSeconds = 3;

export const tiers = {
  fast: {
    title: 'rules, engine, store, steps and organizations',
    holds: (file) => fastFolders.test(file) && !isApart(file) && !isSearch(file),
    timeoutMs: 120_000,
    searchSeconds,
  },
  node: { title: 'all that needs Node alone', holds: (file) => !isApart(file), timeoutMs: 120_000, searchSeconds },
  runtime: {
    title: 'what another Node version can change',
    holds: (file) => canDependOnNode(file) && !isSearch(file),
    timeoutMs: 120_000,
    searchSeconds,
  },
  tools: {
    title: 'what needs other programs',
    holds: (file) => file.endsWith('.tools.test.js'),
    timeoutMs: 600_000,
    searchSeconds,
  },
  nightly: {
    title: 'what takes long',
    holds: (file) => file.endsWith('.nightly.test.js') || isSearch(file),
    timeoutMs: 1_800_000,
    searchSeconds: 120,
  },
} as const satisfies Readonly<Record<string, Tier>>;

export type TierName = keyof typeof tiers;

/** PLINTH_TEST_REAL_HOSTS=off, for computers that cannot hold real hosts. */
export const leavesRealHostsOut = (): boolean => process.env['PLINTH_TEST_REAL_HOSTS'] === 'off';
const isOnRealHosts = (file: string): boolean => /(?:^|\/)real-(?:hosts|install|machines|registry)\./.test(file);

export const readDurations = (): Readonly<Record<string, number>> =>
  existsSync(durationsFile) ? (JSON.parse(readFileSync(durationsFile, 'utf8')) as Record<string, number>) : {};

/** The longest first, so that none is left alone at the end; what was never measured goes before. */
export function filesOf(tier: Tier): string[] {
  const seconds = readDurations();
  const lasts = (file: string): number => seconds[sourceOf(file)] ?? Number.POSITIVE_INFINITY;
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.js') && tier.holds(file))
    .filter((file) => !(leavesRealHostsOut() && isOnRealHosts(file)))
    .map((file) => join(folder, file))
    .sort((one, other) => (lasts(one) === lasts(other) ? one.localeCompare(other) : lasts(other) - lasts(one)));
}

/** `dist/test/cli/argv.test.js` is made of `test/cli/argv.test.ts`. */
export const sourceOf = (file: string): string => file.replace(/^dist\//, '').replace(/\.js$/, '.ts');
