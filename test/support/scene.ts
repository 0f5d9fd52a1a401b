/** A whole local stack with callers at their machines: what the end-to-end tests play in. */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { SimulatedCloud } from '../../local/cloud/index.js';
import { type Findings, inspect, type Wanted } from '../../local/demo/inspect.js';
import {
  ageIdentitiesIn,
  homeOf,
  makeFolder,
  type PlinthProcess,
  type PlinthRun,
  startPlinth,
} from '../../local/demo/plinth-process.js';
import { functionAccount, local } from '../../local/stack/deployment.js';
import { environmentFor } from '../../local/stack/environment.js';
import { askForTokens, createStack, type Stack, type StackOptions } from '../../local/stack/stack.js';
import type { CloudRecord } from '../../local/stack/state-folder.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import { type InstallConfig, readInstallConfig } from '../../shared/install-config/config.js';
import { decryptSecrets, type SecretsFile } from '../../shared/install-config/secrets.js';
import { functionNames } from '../../shared/names.js';
import { type PlinthHere, runAt, startAt } from './plinth-here.js';

/** Flags by name; `true` is a flag without a value, a list repeats it, undefined leaves it out. */
export type Flags = Readonly<Record<string, string | true | readonly string[] | undefined>>;

export interface Outcome extends PlinthRun {
  /** The JSON events that were shown. */
  readonly events: readonly Readonly<Record<string, unknown>>[];
  /** The last one: `{"type":"result",…}`. */
  readonly result: {
    readonly exitCode: number;
    readonly bootstrap?: BootstrapView;
    readonly created?: boolean;
    readonly changes?: readonly { readonly option: string; readonly from: unknown; readonly to: unknown }[];
    readonly problem?: { readonly code: string; readonly detail: string; readonly advice?: string };
    readonly [more: string]: unknown;
  };
}

export interface Caller {
  readonly email: string;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** `status`, `cancel` or `list`, as people type it. */
  plinth(command: 'status' | 'cancel' | 'list', ...args: string[]): Promise<PlinthRun>;
  /** `beta bootstrap-cloud` with the required flags and these, in JSON. */
  bootstrap(name: string, flags?: Flags): Promise<Outcome>;
  /** The same, not waited for. */
  start(name: string, flags?: Flags): PlinthHere;
  /** The same as a process, which can be killed. */
  spawn(name: string, flags?: Flags): PlinthProcess;
  read(file: string): string;
  has(file: string): boolean;
  config(file?: string): InstallConfig;
  /** Opened with the identity that plinth keeps for its owner. */
  secrets(file?: string): Promise<SecretsFile>;
}

export interface Scene {
  readonly stack: Stack;
  readonly cloud: SimulatedCloud;
  /** A person at a machine of their own, with an empty folder. */
  caller(email?: string): Promise<Caller>;
  /** Looks from outside; the expectation names what is missing and what is too much. */
  expectAll(bootstrap: BootstrapView, wanted?: Partial<Wanted>): Promise<Findings>;
  view(id: string, email?: string): Promise<BootstrapView>;
  close(): Promise<void>;
}

export const domainOf = (name: string): string => `${name}.${local.domain}`;
/** The secret that every bootstrap of these tests is given; it must turn up nowhere. */
export const clientSecret = 'planted-client-secret-4711';

export function argsOf(name: string, flags: Flags = {}): string[] {
  const all: Flags = {
    'project-name': name,
    'billing-account': local.billingAccount,
    'base-domain': domainOf(name),
    'forge1-app-client-id': 'client-id',
    'registry-user': 'somebody',
    ...flags,
  };
  return Object.entries(all).flatMap(([flag, value]) => {
    if (value === undefined) return [];
    if (value === true) return [`--${flag}`];
    return [value].flat().flatMap((each) => [`--${flag}`, each]);
  });
}

export function outcomeOf(run: PlinthRun): Outcome {
  const events = run.stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const result = events.at(-1) as unknown as Outcome['result'] | undefined;
  if (result?.['type'] !== 'result') {
    throw new Error(`plinth gave no result; exit code ${run.exitCode}\n${run.stdout}\n${run.stderr}`);
  }
  return { ...run, events, result };
}

/** A caller of any stack that can be reached, also one in another process. */
export async function makeCaller(at: Pick<Stack, 'url' | 'record'>, email: string): Promise<Caller> {
  const folder = makeFolder();
  mkdirSync(homeOf(folder), { recursive: true });
  const env = {
    ...environmentFor(at, { file: (name) => join(folder, name) }, await askForTokens(at.record, email)),
    PLINTH_FORGE1_APP_CLIENT_SECRET: clientSecret,
  };
  const run = (args: readonly string[]) => runAt(args, { folder, env });
  const bootstrapArgs = (name: string, flags?: Flags) => ['beta', 'bootstrap-cloud', '--json', ...argsOf(name, flags)];
  const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
  return {
    email,
    folder,
    env,
    plinth: (command, ...args) => run(['beta', 'bootstrap-cloud', command, ...args]),
    bootstrap: async (name, flags) => outcomeOf(await run(bootstrapArgs(name, flags))),
    start: (name, flags) => startAt(bootstrapArgs(name, flags), { folder, env }),
    spawn: (name, flags) => startPlinth(bootstrapArgs(name, flags), { folder, env }),
    read,
    has: (file) => existsSync(join(folder, file)),
    config: (file = 'config.yaml') => readInstallConfig(read(file)),
    async secrets(file = 'prod.vault.yaml') {
      const text = read(file);
      for (const identity of ageIdentitiesIn(folder)) {
        const opened = await decryptSecrets(text, identity).catch(() => undefined);
        if (opened !== undefined) return opened;
      }
      throw new Error(`no identity that is kept opens ${file}`);
    },
  };
}

/** The bootstrap of an outcome that must have succeeded. */
export function succeeded({ exitCode, result, stderr }: Outcome): BootstrapView {
  expect(exitCode, `${JSON.stringify(result.problem ?? result.bootstrap?.problem)}\n${stderr}`).to.equal(0);
  expect(result.bootstrap?.state).to.equal('succeeded');
  return result.bootstrap as BootstrapView;
}

/** The instance must have failed with these words in what it says and advises. */
export function failedWith({ exitCode, result, stderr }: Outcome, instance: string, ...words: string[]): void {
  expect(exitCode, stderr).to.equal(7);
  expect(result.bootstrap?.state).to.equal('failed');
  const failed = result.bootstrap?.instances.find(({ id }) => id === instance);
  expect(failed?.state, JSON.stringify(result.bootstrap?.problem)).to.equal('failed');
  const said = `${failed?.problem?.detail} ${failed?.problem?.advice}`;
  for (const word of words) expect(said, said).to.include(word);
}

/** Refused beforehand with these words in what it says and advises: there is no bootstrap. */
export function refusedWith({ exitCode, result, stderr }: Outcome, code: string, ...words: string[]): void {
  expect(result.bootstrap, stderr).to.equal(undefined);
  expect(result.problem?.code, stderr).to.equal(code);
  expect(exitCode).to.be.oneOf([2, 3, 5]);
  const said = `${result.problem?.detail} ${result.problem?.advice}`;
  for (const word of words) expect(said, said).to.include(word);
}

/** Looks at any stack that can be reached, as whoever owns the organization. */
export async function expectAll(
  record: CloudRecord,
  { name, projectId, region, zone, owner }: BootstrapView,
  wanted: Partial<Wanted> = {},
): Promise<Findings> {
  const { accessToken } = await askForTokens(record, `admin@${local.domain}`);
  const findings = await inspect(
    { frontUrl: record.frontUrl, accessToken },
    {
      projectId,
      projectName: name,
      region,
      zone,
      baseDomain: domainOf(name),
      dnsZone: 'tool-testing',
      owner: `user:${owner}`,
      ...wanted,
    },
  );
  expect({ missing: findings.missing, extra: findings.extra }).to.deep.equal({ missing: [], extra: [] });
  return findings;
}

export async function makeScene(options: StackOptions = {}): Promise<Scene> {
  const stack = await createStack(options);
  const { cloud } = stack.cloudHalf ?? {};
  if (cloud === undefined) throw new Error('a scene needs the cloud half');
  const folders: string[] = [];
  return {
    stack,
    cloud,
    async caller(email = `alice@${local.domain}`) {
      const caller = await makeCaller(stack, email);
      folders.push(caller.folder);
      return caller;
    },
    expectAll: (bootstrap, wanted) => expectAll(stack.record, bootstrap, wanted),
    async view(id, email = `alice@${local.domain}`) {
      const { idToken } = await stack.tokens(email);
      const reply = await fetch(`${stack.url}/bootstraps/${id}`, { headers: { authorization: `Bearer ${idToken}` } });
      return (await reply.json()) as BootstrapView;
    },
    async close() {
      await stack.close();
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    },
  };
}

const making =
  /\.(?:insert|create|delete|patch|update|setIamPolicy|setMetadata|addVersion|batchEnable|createKey|start|setLabels|updateBillingInfo)$/;

/** Calls that changed the cloud, in plinth's own project or in others. */
export const changesIn = (cloud: SimulatedCloud, since = 0) =>
  cloud.calls.list({ since }).filter(({ method, status }) => making.test(method) && status >= 200 && status < 300);

/** Calls for bootstraps: the schedules go on beside each test, and cleanup asks which projects there are. */
export const ofBootstraps = (cloud: SimulatedCloud, since: number) =>
  cloud.calls.list({ since }).filter(({ caller }) => caller !== functionAccount(functionNames.cleanup));

export { historyAt, historyOf, madeTwice } from '../../local/demo/history.js';
