/** The programs that the tier `tools` needs beside Node. What is missing is installed where that is possible, else named. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { emulatorMissing } from '../../local/emulators/emulators.js';

interface Program {
  readonly name: string;
  /** Debian's package. */
  readonly debian?: string;
  /** A module whose command `go install` makes. */
  readonly go?: string;
  /** Where to get what Debian has not. */
  readonly from?: string;
  isThere(): boolean;
}

/** By its name, or by a path with a pattern: bash looks for it as `.ci/programs` writes it. */
const isFound = (name: string): boolean =>
  spawnSync('bash', ['-c', `command -v ${name}`], { stdio: 'ignore' }).status === 0;

const ofDebian = (): Program[] =>
  readFileSync(join('.ci', 'programs'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [name = '', debian = ''] = line.split(/ +/);
      return { name, debian, isThere: () => isFound(name) };
    });

const others: readonly Program[] = [
  {
    name: "gcloud with Google's Firestore and Pub/Sub emulators",
    from: 'https://cloud.google.com/sdk/docs/install, then: gcloud components install alpha beta cloud-firestore-emulator pubsub-emulator',
    isThere: () => emulatorMissing('firestore') === undefined && emulatorMissing('pubsub') === undefined,
  },
  {
    name: 'terraform',
    from: 'https://developer.hashicorp.com/terraform/install (1.11 or newer)',
    isThere: () => isFound('terraform'),
  },
];

/** It checks its own sums with the module proxy; building it takes a minute and a half, once. */
const sops: Program = {
  name: 'sops',
  go: 'github.com/getsops/sops/v3/cmd/sops@v3.13.3',
  from: 'https://github.com/getsops/sops/releases (3.13 or newer), or Go (https://go.dev/dl), which then makes it',
  isThere: () => isFound('sops'),
};

const missing = (): Program[] => [...ofDebian(), ...others, sops].filter(({ isThere }) => !isThere());
const packagesOf = (programs: readonly Program[]): string[] => programs.flatMap(({ debian }) => debian ?? []);

/** As root, by apt-get. */
function install(packages: readonly string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const aptGet = (...args: string[]) => spawnSync('apt-get', args, { stdio: ['ignore', 'ignore', 'inherit'], env });
  aptGet('update', '-qq');
  aptGet('install', '-y', '-qq', '--no-install-recommends', ...packages);
}

/** Where `go install` puts commands is seldom in the path. Undefined without Go. */
function goFolder(): string | undefined {
  const { status, stdout } = spawnSync('go', ['env', 'GOBIN', 'GOPATH'], { encoding: 'utf8' });
  if (status !== 0) return undefined;
  const [bin = '', path = ''] = stdout.split('\n');
  return bin === '' ? join(path.split(delimiter)[0] ?? '', 'bin') : bin;
}

/** Undefined when all is there, what could be installed among it; else one line that says what to install. */
export function prepareTools(say: (line: string) => void): string | undefined {
  const goCommands = goFolder();
  if (goCommands !== undefined) process.env['PATH'] = `${process.env['PATH'] ?? ''}${delimiter}${goCommands}`;
  for (const { go } of goCommands === undefined ? [] : missing()) {
    if (go === undefined) continue;
    say(`go install ${go}`);
    spawnSync('go', ['install', go], { stdio: ['ignore', 'ignore', 'inherit'] });
  }
  const packages = packagesOf(missing());
  if (packages.length > 0 && process.getuid?.() === 0 && isFound('apt-get')) {
    say(`apt-get install ${packages.join(' ')}`);
    install(packages);
  }
  const left = missing();
  if (left.length === 0) return undefined;
  const commands = [
    ...(packagesOf(left).length > 0 ? [`apt-get install ${packagesOf(left).join(' ')}`] : []),
    ...left.flatMap(({ name, from }) => (from === undefined ? [] : [`${name}: ${from}`])),
  ];
  return `These tests need programs that are missing. Install them first: ${commands.join('; ')}`;
}
