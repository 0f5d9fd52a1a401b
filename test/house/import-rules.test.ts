/** Who may import whom. Each rule's message says where the code belongs instead. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect } from 'chai';

const roots = ['shared', 'cli', 'console', 'functions', 'local', 'test', 'tools'];

interface Import {
  readonly from: string;
  /** A path from the top of the project, or a package's name. */
  readonly to: string;
  readonly typeOnly: boolean;
}

const sources = new Map(
  roots
    .flatMap((root) => readdirSync(root, { recursive: true, encoding: 'utf8' }).map((file) => join(root, file)))
    // Programs of others that use the APIs have packages of their own, and what is generated.
    .filter((file) => /\.tsx?$/.test(file) && !file.startsWith('tools/clients/'))
    .map((file) => [file, readFileSync(file, 'utf8')]),
);

/** The source of what is imported. */
const sourceOf = (path: string): string => {
  const [plain, jsx] = [path.replace(/\.js$/, '.ts'), path.replace(/\.js$/, '.tsx')];
  return sources.has(jsx) ? jsx : plain;
};

const importPattern =
  /^\s*(?:import|export)\s+(type\s+)?[^'";]*?from\s+'([^']+)'|^\s*import\s+'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/gm;

const imports: Import[] = [...sources].flatMap(([from, text]) =>
  [...text.matchAll(importPattern)].map((match) => {
    const specifier = match[2] ?? match[3] ?? match[4] ?? '';
    const to = specifier.startsWith('.')
      ? sourceOf(normalize(join(dirname(from), specifier)))
      : specifier.replace(/^((?:@[^/]+\/)?[^/]+).*/, '$1');
    return { from, to, typeOnly: match[1] !== undefined };
  }),
);

const within =
  (...folders: string[]) =>
  (path: string) =>
    folders.some((folder) => path === folder || path.startsWith(`${folder}/`));
const ours = within(...roots);

/** A file of shared that brings no package with it, such as one for schemas. */
const needsNothingOutside = (file: string): boolean =>
  imports
    .filter(({ from, typeOnly }) => from === file && !typeOnly)
    .every(({ to }) => within('shared')(to) && needsNothingOutside(to));

interface Rule {
  readonly name: string;
  readonly message: string;
  forbids(edge: Import): boolean;
}

/** `folder` may import of the project only `allowed`. */
const onlyFrom = (folder: string, allowed: string[], message: string): Rule => ({
  name: `${folder} imports only ${allowed.join(', ')}`,
  message,
  forbids: ({ from, to }) => within(folder)(from) && ours(to) && !within(...allowed)(to),
});

/** `folder` imports nothing of those above or beside it. */
const beneath = (folder: string, others: string[], message: string): Rule[] =>
  others.map((other) => ({
    name: `${folder} imports nothing of ${other}`,
    message,
    forbids: ({ from, to }) => within(folder)(from) && within(other)(to),
  }));

/** What every room may stand on. */
const beneathAll = [
  'shared',
  'functions/context.ts',
  'functions/config.ts',
  'functions/setting.ts',
  'functions/store',
  'functions/identity',
  'functions/host',
  'functions/tracing',
];

/**
 * The rooms of local/, from the ground up. What a longer path names is no part of the room around it: `local/cloud` means the
 * files that put the services together.
 */
const roomsOfLocal = [
  'local/loopback.ts',
  'local/whole-file.ts',
  'local/cloud/kernel',
  'local/registry',
  'local/identity',
  'local/cloud/worlds',
  'local/cloud/iam',
  'local/cloud/storage',
  'local/cloud/org-policy',
  'local/cloud/service-usage',
  'local/cloud/compute',
  'local/cloud/quotas',
  'local/cloud/projects',
  'local/cloud/os-login',
  'local/cloud/dns',
  'local/cloud/artifact-registry',
  'local/cloud/secret-manager',
  'local/cloud/scheduler',
  'local/cloud/pubsub',
  'local/cloud/public-ca',
  'local/cloud/iap',
  'local/cloud/name-servers',
  'local/cloud',
  'local/machines',
  'local/emulators',
  'local/forge1',
  'local/releases',
  'local/packages',
  'local/functions',
  'local/stack',
  'local/demo',
  'local',
];

/** The place of a file among them. */
function floorOf(file: string): number {
  const rooms = roomsOfLocal.filter((room) => within(room)(file));
  return roomsOfLocal.indexOf(rooms.sort((a, b) => b.length - a.length)[0] ?? '');
}

/** The package has its importers, and no others outside tests. */
const soleImporters = (name: string, importers: string[], message: string): Rule => ({
  name: `${name} is imported by ${importers.join(', ')} alone`,
  message,
  forbids: ({ from, to }) => to === name && !within('test', ...importers)(from),
});

const rules: Rule[] = [
  onlyFrom(
    'shared',
    ['shared'],
    'shared/ is what both sides of the wire speak; what needs more belongs in cli/ or functions/',
  ),
  {
    name: 'shared does no I/O',
    message: 'shared/ has no I/O, environment or clock: take it as an argument, or put the code in cli/ or functions/',
    forbids: ({ from, to }) =>
      within('shared')(from) && !ours(to) && !['zod', 'yaml', 'age-encryption', 'node:crypto', 're2js'].includes(to),
  },
  onlyFrom(
    'cli',
    ['cli', 'shared', 'functions/remote', 'functions/tracing'],
    'what the CLI shares with the functions belongs in shared/',
  ),
  onlyFrom(
    'functions',
    ['functions', 'shared'],
    'the product never knows local/ or tests: make it a setting or a member of the context',
  ),
  onlyFrom(
    'console',
    ['console', 'shared'],
    'the page runs in browsers: of the project it knows what both sides of the wire speak',
  ),
  {
    name: 'console imports only types of shared, and what needs nothing outside it',
    message: 'schemas are too large for the page: take the type, and write the few lines that it needs',
    forbids: ({ from, to, typeOnly }) =>
      within('console')(from) && within('shared')(to) && !typeOnly && !needsNothingOutside(to),
  },
  onlyFrom('local', ['local', 'functions', 'shared'], 'local/ runs the CLI as a process and knows no tests'),
  {
    name: `local: arrows run down this list alone: ${roomsOfLocal.toReversed().join(', ')}`,
    message:
      'what two rooms need belongs in the lower one; what the kernel asks of a service is handed to it in local/cloud/assemble.ts; what a server needs of the deployment is an argument, given by local/stack',
    forbids: ({ from, to }) => within('local')(from) && within('local')(to) && floorOf(to) > floorOf(from),
  },
  onlyFrom(
    'functions/steps',
    [
      'functions/steps',
      'functions/engine/step.ts',
      'functions/engine/finding.ts',
      'functions/engine/proof.ts',
      'functions/remote/remote.ts',
      'functions/setting.ts',
      'shared',
    ],
    'a step gets everything by its call: context.cloud, secrets, files; cloud verbs belong in functions/cloud/',
  ),
  ...beneath('functions/http', ['functions/triggers'], 'a door opens into bootstraps, organizations or cleanup'),
  ...beneath('functions/triggers', ['functions/http'], 'a door opens into bootstraps, organizations or cleanup'),
  ...beneath(
    'functions/bootstraps',
    ['functions/http', 'functions/triggers', 'functions/cleanup'],
    'what people ask of a bootstrap knows neither its doors nor its neighbours',
  ),
  {
    name: 'functions/bootstraps imports of functions/organizations only what a team is to a bootstrap',
    message: 'bootstraps ask of teams through functions/organizations/ownership.ts, and of ceilings through limits.ts',
    forbids: ({ from, to }) =>
      within('functions/bootstraps')(from) &&
      within('functions/organizations')(to) &&
      !['functions/organizations/ownership.ts', 'functions/organizations/limits.ts'].includes(to),
  },
  ...beneath(
    'functions/cleanup',
    ['functions/http', 'functions/triggers', 'functions/organizations'],
    'cleanup knows neither its doors nor organizations',
  ),
  onlyFrom(
    'functions/organizations',
    [...beneathAll, 'functions/organizations', 'functions/webhook'],
    'organizations stand on the store; what both APIs need of a caller belongs in functions/identity',
  ),
  onlyFrom(
    'functions/engine',
    [...beneathAll, 'functions/engine', 'functions/cloud', 'functions/remote'],
    'the engine knows no step, no door and nobody who asks; what both need lies beneath both',
  ),
  {
    name: 'the engine: the contract knows neither record nor run, and the record no run',
    message: 'arrows run from run to record to the contract; what both need belongs in the lower one',
    forbids: ({ from, to }) => {
      const inRoom = within('functions/engine/record', 'functions/engine/run');
      if (within('functions/engine/record')(from)) return within('functions/engine/run')(to);
      return within('functions/engine')(from) && !inRoom(from) && inRoom(to);
    },
  },
  onlyFrom(
    'functions/webhook',
    [...beneathAll, 'functions/webhook'],
    'what is told of a bootstrap is written by bootstraps',
  ),
  onlyFrom(
    'functions/identity',
    ['functions/identity', 'functions/context.ts', 'functions/config.ts', 'functions/setting.ts', 'shared'],
    'who calls lies beneath both APIs',
  ),
  onlyFrom(
    'functions/store',
    ['functions/store', 'functions/host', 'functions/config.ts', 'functions/setting.ts', 'shared'],
    'the store knows documents, and nothing of what they mean',
  ),
  onlyFrom(
    'functions/cloud',
    [
      'functions/cloud',
      'functions/context.ts',
      'functions/config.ts',
      'functions/setting.ts',
      'functions/host/connection-watch.ts',
      'functions/host/credentials.ts',
      'shared',
    ],
    'a cloud file is thin; what decides belongs in a step',
  ),
  {
    name: 'the HTTP layer stays light',
    message: 'compute costs a second and 100 MB to load: only the cloud lane loads it, on first use',
    forbids: ({ from, to, typeOnly }) =>
      within('functions/http', 'cli')(from) && within('functions/cloud')(to) && !typeOnly,
  },
  soleImporters('@google-cloud/firestore', ['functions/store/firestore.ts'], 'documents go through functions/store'),
  soleImporters('@google-cloud/pubsub', ['functions/publisher.ts'], 'messages go through functions/publisher.ts'),
  soleImporters(
    '@google-cloud/compute',
    ['functions/cloud/compute/clients.ts'],
    'compute goes through functions/cloud/compute',
  ),
  soleImporters(
    '@google-cloud/scheduler',
    ['functions/cloud/scheduler.ts'],
    'jobs go through functions/cloud/scheduler.ts',
  ),
  soleImporters('croner', ['local/cloud/scheduler/times.ts'], 'schedules are read in local/cloud/scheduler/times.ts'),
  soleImporters(
    'dns-packet',
    ['local/cloud/name-servers/wire.ts'],
    'DNS messages are read and written in local/cloud/name-servers/wire.ts',
  ),
  soleImporters('ssh2', ['functions/remote', 'local/machines'], 'machines are reached through functions/remote'),
  soleImporters(
    'ws',
    ['functions/remote/iap', 'local/cloud/iap'],
    'WebSockets lead through IAP: functions/remote/iap, and its stand-in in local/cloud/iap',
  ),
  soleImporters(
    'https-proxy-agent',
    ['cli/network/proxy-agent.ts', 'local/machines/guest/way-out.ts'],
    'proxies are chosen in cli/network; the stand-in of skopeo has its own rules',
  ),
  soleImporters('cac', ['cli'], 'command lines belong in cli/'),
  soleImporters(
    'jose',
    ['functions/identity/auth.ts', 'local/identity/identity.ts'],
    'tokens are verified in functions/identity/auth.ts and made in local/identity/identity.ts',
  ),
];

const yamlParser = /\b(?:parse|parseDocument|parseAllDocuments)\b[^;]*?(?:from 'yaml'|await import\('yaml'\))/;

/** Of files that hold no secret: plans, public keys, locks, lists of people, packages and what plinth itself wrote. */
const readersOfOpenFiles = [
  'cli/commands/init.ts',
  'cli/completion/seen-names.ts',
  'cli/files/files.ts',
  'cli/files/given-text.ts',
  'cli/files/plan-file.ts',
  'cli/identity/login-lock.ts',
  'cli/identity/ssh-key.ts',
  'cli/install/images.ts',
  'cli/install/inputs.ts',
  'cli/install/installed.ts',
  'cli/install/unpack.ts',
  'cli/organizations/people-file.ts',
];

describe('the house', () => {
  for (const rule of rules) {
    it(rule.name, () => {
      const offenders = imports.filter((edge) => rule.forbids(edge)).map(({ from, to }) => `${from} → ${to}`);
      expect(offenders, rule.message).to.deep.equal([]);
    });
  }

  it('parses YAML in shared/yaml-text.ts alone, which never quotes the text', () => {
    const parsers = [...sources]
      .filter(([file, text]) => within('shared', 'cli', 'functions')(file) && yamlParser.test(text))
      .map(([file]) => file);
    expect(parsers, 'the messages of the package quote lines, and its warnings go to the process').to.deep.equal([
      'shared/yaml-text.ts',
    ]);
  });

  it('reads files of the caller in cli/files/secret-text.ts, or where they hold no secret', () => {
    const readers = [...sources]
      .filter(
        ([file, text]) =>
          within('cli')(file) && /\b(?:readFileSync|readFile|readBytes|readGivenText|readIfThere)\(/.test(text),
      )
      .map(([file]) => file);
    expect(readers, 'what a file may hold is registered before it is parsed: use readSecretText').to.have.members([
      'cli/files/secret-text.ts',
      'cli/main.ts',
      ...readersOfOpenFiles,
    ]);
  });

  it('sends HTTP from the command line in cli/network alone, by the proxy that the environment names', () => {
    const http = /(?:\bfetch\(|: fetch\b)|\bfrom 'node:https'|import \{[^}]*\brequest\b[^}]*\} from 'node:http'/;
    const senders = [...sources].filter(([file, text]) => within('cli')(file) && http.test(text)).map(([file]) => file);
    // Doctor's own connection looks at the certificate, by the same agent.
    expect(senders, 'use send or agentFor of cli/network/send.ts').to.have.members([
      'cli/doctor/tls.ts',
      'cli/network/send-through.ts',
      'cli/network/send.ts',
    ]);
  });

  it('reads the environment in functions/config.ts and cli/settings.ts alone', () => {
    const readers = [...sources]
      .filter(
        ([file, text]) =>
          within('shared', 'cli', 'functions')(file) &&
          /\bprocess\.env\b/.test(text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')),
      )
      .map(([file]) => file);
    // main.ts hands it to settings.ts.
    expect(readers, 'settings belong in functions/config.ts or cli/settings.ts').to.satisfy((files: string[]) =>
      files.every((file) => ['functions/config.ts', 'cli/main.ts'].includes(file)),
    );
  });

  it('touches streams, folder, signals and end of the process of plinth in cli/main.ts alone', () => {
    const notCode = /\/\*[\s\S]*?\*\/|\/\/.*|'[^'\n]*'|`[^`]*`/g;
    const files = [...sources].filter(
      ([file, text]) =>
        within('cli')(file) &&
        (text.includes("'node:process'") || /\bprocess\b(?!\.(?:pid|platform|kill)\b)/.test(text.replace(notCode, ''))),
    );
    expect(
      files.map(([file]) => file),
      'what a command needs of its process belongs in cli/frame/io.ts',
    ).to.deep.equal(['cli/main.ts']);
  });

  it('limits time by shared/time-limit.ts, as AbortSignal.any of Node 20 loses timeouts', () => {
    const limits = [...sources].filter(
      ([file, text]) => !within('test')(file) && text.includes('AbortSignal.timeout('),
    );
    expect(limits.map(([file]) => file)).to.deep.equal(['shared/time-limit.ts']);
  });

  it('imports only files that are there', () => {
    const missing = imports.filter(({ to }) => ours(to) && to.endsWith('.ts') && !sources.has(to));
    expect(missing).to.deep.equal([]);
  });

  it('has types that point down: nothing that the context is made of, or the config, knows it', () => {
    const reached = (from: string, seen = new Set<string>()): Set<string> => {
      for (const edge of imports) {
        if (edge.from !== from || seen.has(edge.to) || !ours(edge.to)) continue;
        seen.add(edge.to);
        reached(edge.to, seen);
      }
      return seen;
    };
    for (const file of ['functions/context.ts', 'functions/config.ts']) {
      const back = imports.filter(({ from, to }) => to === file && reached(file).has(from));
      expect(
        back.map(({ from }) => from),
        `declare the few members of ${file} that are needed where they are needed`,
      ).to.deep.equal([]);
    }
  });

  it('has no cycles', () => {
    const edges = new Map<string, string[]>();
    for (const { from, to, typeOnly } of imports) {
      if (!typeOnly && ours(to)) edges.set(from, [...(edges.get(from) ?? []), to]);
    }
    const finished = new Set<string>();
    const walk = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) expect.fail(`a cycle: ${[...path.slice(path.indexOf(file)), file].join(' → ')}`);
      if (finished.has(file)) return;
      for (const next of edges.get(file) ?? []) walk(next, [...path, file]);
      finished.add(file);
    };
    for (const file of edges.keys()) walk(file, []);
  });
});
