/** `plinth beta bootstrap-cloud` for test/spec: the real command line in a folder of its own, and the service that it asks. */
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BeginReply, PlanReply } from '../../shared/bootstrap/routes.js';
import { openSshPair } from '../../shared/openssh.js';
import type { ProblemBody } from '../../shared/problems.js';
import { createSandbox, type Ran, type Sandbox, testKey } from '../cli/run-cli.js';
import { smallPackage } from './archive.js';
import { readHelp, type ShownFlag } from './spec-help.js';
import { type Plan, readPlan } from './spec-plan.js';
import { createSpecService, type SpecService } from './spec-service.js';

export type FlagValue = string | number | boolean | readonly string[];
/** By the flags' names without dashes. */
export type Flags = Readonly<Record<string, FlagValue>>;

export interface Answer {
  readonly accepted: boolean;
  /** Names of the flags that the refusal is about. */
  readonly refused: readonly string[];
  /** What would be made; undefined where it is refused. */
  readonly plan: Plan | undefined;
  /** All that was replied, for messages of failed tests. */
  readonly said: string;
}

export interface Begun {
  readonly accepted: boolean;
  /** It was not there before. */
  readonly created: boolean;
  /** Names of the flags whose values are other ones now. */
  readonly changed: readonly string[];
  readonly region: string | undefined;
  readonly zone: string | undefined;
  /** From its beginning until cleanup may remove it. */
  readonly lifeSeconds: number;
  readonly said: string;
}

export interface Command {
  help(
    flag: '--help' | '-h',
  ): Promise<{ readonly exitCode: number | null; readonly flags: ReadonlyMap<string, ShownFlag> }>;
  /** Without a `v` before it. */
  version(): Promise<string>;
  /** A dry run, by the command line. */
  run(flags: Flags): Promise<Answer>;
  /** A dry run, by HTTP. */
  ask(flags: Flags): Promise<Answer>;
  /** What the service was asked last; flags that stay on the caller's machine are not there. */
  asked(): { readonly flags: Flags; readonly sshPublicKey: string | undefined };
  /** Names of the flags that are refused of these arguments, each judged by itself: `--flag` or `--flag=value`. */
  refusedOf(args: readonly string[]): Promise<ReadonlySet<string>>;
  /** Names of the flags that are refused while folders stand at these paths, where files are expected. */
  refusedWithFoldersAt(...paths: readonly string[]): Promise<ReadonlySet<string>>;
  /** By HTTP: begins a bootstrap, or goes on with the one of that project name. */
  begin(flags: Flags): Promise<Begun>;
  /** Of the key in the usual place. */
  readonly sshPublicKey: string;
}

const command = ['beta', 'bootstrap-cloud'];

const bare = (flag: string): string => flag.replace(/^--/, '');
const optionOf = (flag: string): string => flag.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
const flagOf = (option: string): string => option.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const argumentsOf = (flags: Flags): string[] =>
  Object.entries(flags).flatMap(([flag, value]) => [value].flat().map((each) => `--${flag}=${each}`));
const requestOf = (flags: Flags) => ({
  options: Object.fromEntries(Object.entries(flags).map(([flag, value]) => [optionOf(flag), value])),
  sshPublicKey: testKey,
});

const refusedIn = (problem: Partial<ProblemBody> | undefined): string[] =>
  (problem?.errors ?? []).map(({ path }) => bare(path));
const resultOf = ({ stdout }: Ran) =>
  JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Partial<PlanReply> & { readonly problem?: ProblemBody };
const answer = (accepted: boolean, plan: Partial<PlanReply>, problem: Partial<ProblemBody> | undefined): Answer => ({
  accepted,
  refused: accepted ? [] : refusedIn(problem),
  plan: accepted && plan.instances !== undefined ? readPlan(plan.instances) : undefined,
  said: JSON.stringify(accepted ? plan : problem),
});

/** What flags may name: files in the folder, a program for Linux on amd64, and a second pair of keys in `~/.ssh`. */
function furnish({ folder, home }: Sandbox): void {
  for (const file of ['values-1.yaml', 'values-2.yaml']) writeFileSync(join(folder, file), 'a: 1\n');
  writeFileSync(join(folder, 'package.tar.gz'), smallPackage().archive);
  // The least that says so of itself: class, byte order, type and machine of an ELF header.
  const header = Buffer.alloc(64);
  header.write('\x7fELF\x02\x01\x01', 'latin1');
  header.writeUInt16LE(2, 16);
  header.writeUInt16LE(62, 18);
  writeFileSync(join(folder, 'plinth-linux-amd64'), header);
  const { privateKey, publicKey } = openSshPair(
    generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    'other',
  );
  writeFileSync(join(home, '.ssh', 'other'), privateKey);
  writeFileSync(join(home, '.ssh', 'other.pub'), `${publicKey}\n`);
}

/** In a `describe`: one command line and one service for all its tests. */
export function useCommand(): Command {
  let service: SpecService;
  let sandbox: Sandbox;
  before(async () => {
    service = await createSpecService();
    sandbox = createSandbox(service.url);
    sandbox.env = { ...sandbox.env, PLINTH_TOKEN: service.token };
    furnish(sandbox);
  });
  after(() => {
    sandbox?.remove();
    service?.close();
  });
  const run = (...args: readonly string[]) => sandbox.run([...command, ...args, '--json']);

  return {
    sshPublicKey: testKey,
    async help(flag) {
      const { code, stdout } = await sandbox.run([...command, flag]);
      return { exitCode: code, flags: readHelp(stdout) };
    },
    version: async () => (await sandbox.run(['--version'])).stdout.trim(),
    async run(flags) {
      const ran = await run('--dry-run', ...argumentsOf(flags));
      const result = resultOf(ran);
      return answer(ran.code === 0, result, result.problem);
    },
    async ask(flags) {
      const { status, body } = await service.post('/bootstraps?dryRun=true', requestOf(flags));
      return answer(status === 200, body as Partial<PlanReply>, body as Partial<ProblemBody>);
    },
    asked() {
      const { options = {}, sshPublicKey } = service.lastRequest();
      const flags = Object.fromEntries(Object.entries(options).map(([option, value]) => [flagOf(option), value]));
      return { flags: flags as Flags, sshPublicKey };
    },
    async refusedOf(args) {
      // All that is wrong is told at once: one run tells what a run for each of them would.
      return new Set(refusedIn(resultOf(await run('--dry-run', ...args)).problem));
    },
    async refusedWithFoldersAt(...paths) {
      for (const path of paths) mkdirSync(sandbox.path(path));
      try {
        // Refused in any case, so that nothing begins where the files are not looked at.
        return new Set(refusedIn(resultOf(await run('--no-such-flag')).problem));
      } finally {
        for (const path of paths) rmdirSync(sandbox.path(path));
      }
    },
    async begin(flags) {
      const { status, body } = await service.post('/bootstraps', requestOf(flags));
      const { bootstrap, created, changes = [] } = body as Partial<BeginReply>;
      const { createdAt = '', deadlineAt = '' } = bootstrap ?? {};
      return {
        accepted: status < 300,
        created: created === true,
        changed: changes.map(({ option }) => bare(option)),
        region: bootstrap?.region,
        zone: bootstrap?.zone,
        lifeSeconds: (Date.parse(deadlineAt) - Date.parse(createdAt)) / 1000,
        said: JSON.stringify(body),
      };
    },
  };
}
