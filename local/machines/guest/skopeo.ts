/**
 * Stands in for skopeo 1.9 on simulated machines, as far as plinth and the sample package call it: `inspect --raw` and `copy
 * --all`. Commands, flags and complaints are skopeo's own. It refuses everything else.
 */
import { type Command, type Flag, type Given, runCommand, switches, texts } from '../k0s/command-line.js';
import { during, Failure } from './failure.js';
import { copyImage, type Destination, readManifest, type Source } from './image-copy.js';
import { loginFor } from './logins.js';
import { log } from './logrus.js';
import { layoutAt } from './oci-layout.js';
import { type RegistryClient, reachRegistry } from './registry-client.js';
import { destinationAt, type RegistryPlace, sourceAt } from './registry-image.js';
import { trustOf } from './way-out.js';

const version = '1.9.3';

type Side = '' | 'src-' | 'dest-';

const component = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*';
const imagePattern = new RegExp(
  `^//([^/@]*[.:][^/@]*|localhost)/(${component}(?:/${component})*)(?::([\\w][\\w.-]{0,127}))?(?:@(sha256:[0-9a-f]{64}))?$`,
);

function placeOf(rest: string): RegistryPlace {
  const [, host, image, tag, digest] = imagePattern.exec(rest) ?? [];
  if (host === undefined || image === undefined) throw new Error('invalid reference format');
  if (tag !== undefined && digest !== undefined) {
    throw new Error('Docker references with both a tag and digest are currently not supported');
  }
  return { host, image, reference: digest ?? tag ?? 'latest' };
}

/** Splits a name into the transport and the rest. */
function partsOf(name: string): readonly [transport: string, rest: string] {
  const colon = name.indexOf(':');
  if (colon < 0) throw new Error(`Invalid image name "${name}", expected colon-separated transport:reference`);
  return [name.slice(0, colon), name.slice(colon + 1)];
}

function reach(
  { host, image }: RegistryPlace,
  given: Given,
  side: Side,
  actions: 'pull' | 'pull,push',
): RegistryClient {
  const verifies = given[`${side}tls-verify`] ?? given['tls-verify'];
  const trust = trustOf(given[`${side}cert-dir`], verifies === undefined ? undefined : verifies === 'true');
  const login = loginFor(host, image, given[`${side}authfile`] ?? given['authfile']);
  return reachRegistry({ host, image, actions, login, trust });
}

function sourceOf(name: string, given: Given, side: Side): Source {
  const [transport, rest] = partsOf(name);
  if (transport === 'docker') {
    const place = placeOf(rest);
    return sourceAt(place, reach(place, given, side, 'pull'));
  }
  if (transport !== 'oci') throw new Error(`the transport ${transport} is not stood for here: docker and oci are`);
  const [folder = '', ...tag] = rest.split(':');
  return layoutAt(folder, tag.join(':'));
}

function destinationOf(name: string, given: Given): Destination {
  const [transport, rest] = partsOf(name);
  if (transport !== 'docker') throw new Error(`writing to ${transport} is not stood for here: docker is`);
  const place = placeOf(rest);
  return destinationAt(place, reach(place, given, 'dest-', 'pull,push'));
}

/** Each wait is twice as long as the one before. */
async function tried<T>(given: Given, doing: () => Promise<T>): Promise<T> {
  const times = Number(given['retry-times'] ?? 0);
  if (!Number.isInteger(times)) throw new Error(`invalid argument "${given['retry-times']}" for "--retry-times" flag`);
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await doing();
    } catch (error) {
      if (!(error instanceof Failure && error.isPassing) || attempt >= times) throw error;
      const seconds = 2 ** attempt;
      log('warning', `Failed, retrying in ${seconds}s ... (${attempt + 1}/${times}). Error: ${error.message}`);
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    }
  }
}

const read = async (name: string, given: Given): Promise<Buffer> => readManifest(sourceOf(name, given, ''));

async function inspect(given: Given, words: readonly string[]): Promise<number> {
  const [name = ''] = words;
  if (words.length !== 1) throw new Error('Exactly one argument expected');
  if (given['raw'] !== 'true') throw new Error('inspect is stood for with --raw alone');
  const what = `Error parsing image name "${name}"`;
  const manifest = await tried(given, () => during(what, read(name, given)));
  process.stdout.write(manifest);
  return 0;
}

async function copy(given: Given, words: readonly string[]): Promise<number> {
  const [from = '', to = ''] = words;
  if (words.length !== 2) throw new Error('Exactly two arguments expected');
  await tried(given, () => copyImage(sourceOf(from, given, 'src-'), destinationOf(to, given), given['all'] === 'true'));
  return 0;
}

const shared: readonly Flag[] = [...switches('insecure-policy', 'tls-verify'), ...texts('authfile', 'retry-times')];
const many = Number.POSITIVE_INFINITY;
const commands: readonly Command[] = [
  {
    name: 'inspect',
    short: 'Inspect image IMAGE-NAME',
    flags: [...shared, ...switches('raw'), ...texts('cert-dir')],
    words: many,
    run: inspect,
  },
  {
    name: 'copy',
    short: 'Copy an IMAGE-NAME from one location to another',
    flags: [
      ...shared,
      { name: 'all', short: 'a', kind: 'switch' },
      { name: 'quiet', short: 'q', kind: 'switch' },
      ...switches('src-tls-verify', 'dest-tls-verify'),
      ...texts('src-authfile', 'dest-authfile', 'src-cert-dir', 'dest-cert-dir'),
    ],
    words: many,
    run: copy,
  },
];

const root: Command = {
  name: 'skopeo',
  short: 'Various operations with container images and container image registries',
  flags: [...switches('insecure-policy'), { name: 'version', short: 'v', kind: 'switch' }],
  commands,
  run(given) {
    if (given['version'] !== 'true') {
      throw new Error("Missing command 'skopeo COMMAND'\nTry 'skopeo --help' for more information");
    }
    process.stdout.write(`skopeo version ${version}\n`);
    return 0;
  },
};

/** The flags of all commands may also precede the command. */
function commandFirst(argv: readonly string[]): readonly string[] {
  const at = argv.findIndex((word) => word !== '--insecure-policy');
  return at < 0 ? argv : [...argv.slice(at, at + 1), ...argv.slice(0, at), ...argv.slice(at + 1)];
}

try {
  process.exitCode = await runCommand(root, commandFirst(process.argv.slice(2)));
} catch (error) {
  log('fatal', (error as Error).message);
  process.exitCode = 1;
}
