/**
 * `npm run demo`: a whole bootstrap on this machine, by the real command line, functions and client libraries, against the
 * simulated cloud. Then it inspects the result from outside and reports what is missing.
 */
import { mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readInstallConfig } from '../shared/install-config/config.js';
import { decryptSecrets } from '../shared/install-config/secrets.js';
import { deploymentSecrets } from '../shared/names.js';
import { inspect } from './demo/inspect.js';
import { type Installing, inspectInstall, prepareInstall } from './demo/install.js';
import { ageIdentitiesIn, homeOf, makeFolder, runPlinth } from './demo/plinth-process.js';
import { emulatorMissing } from './emulators/emulators.js';
import { hasBase } from './machines/real/base.js';
import { local, people } from './stack/deployment.js';
import { environmentFor } from './stack/environment.js';
import { type MachinesChoice, machinesUsage, readMachines } from './stack/machines-option.js';
import { createStack, type Stack } from './stack/stack.js';
import { readWorld, type WorldChoice, worldUsage } from './stack/world-option.js';

const name = 'plinth-demo';
const baseDomain = `demo.${local.domain}`;
const baseFlags = [
  ...['--project-name', name],
  ...['--billing-account', local.billingAccount],
  ...['--base-domain', baseDomain],
  ...['--project-ttl', '90m'],
  ...['--registry-user', 'demo'],
  ...['--datacenter-name', 'demo'],
  ...['--forge1-app-client-id', 'demo-client-id'],
  '--spot-vms',
  '--timer',
];
/** Passed in the environment, so that no list of processes shows it. */
const clientSecret = 'demo-client-secret';

const say = (text = ''): void => void process.stdout.write(`${text}\n`);

/** Returns sentences about what is wrong, none if all is well. */
async function check(stack: Stack, folder: string): Promise<string[]> {
  const faults: string[] = [];
  const ok = (good: boolean, what: string, fault = what): void => {
    say(`  ${good ? '✓' : '✗'} ${what}`);
    if (!good) faults.push(fault);
  };
  const configFile = join(folder, 'config.yaml');
  const secretsFile = join(folder, 'prod.vault.yaml');
  const config = readInstallConfig(readFileSync(configFile, 'utf8'));
  const { projectId } = config.bootstrap;
  ok(config.dataCenter.name === 'demo', `config.yaml fits its schema (${projectId})`);

  const { accessToken } = await stack.tokens(people.alice);
  const { missing, extra, wanted } = await inspect(
    { frontUrl: stack.record.frontUrl, accessToken },
    {
      projectId,
      projectName: name,
      region: 'europe-west4',
      zone: 'europe-west4-a',
      baseDomain,
      dnsZone: 'tool-testing',
      provisioning: { '*': 'SPOT', 'k0s-2': 'STANDARD' },
      owner: `user:${people.alice}`,
    },
  );
  const count = (word: string): number => wanted.filter((line) => line.startsWith(word)).length;
  ok(
    missing.length + extra.length === 0,
    `in the cloud, asked as alice: ${count('VM ')} VMs, ${count('address ')} addresses, ${count('record ')} records, ${count('role ')} roles, network, labels`,
  );
  faults.push(...missing.map((line) => `missing in the cloud: ${line}`));
  faults.push(...extra.map((line) => `in the cloud, and nobody asked for it: ${line}`));

  const secrets = readFileSync(secretsFile, 'utf8');
  ok((statSync(secretsFile).mode & 0o777) === 0o600, 'prod.vault.yaml is for its owner alone (0600)');
  ok(!secrets.includes(clientSecret), 'prod.vault.yaml holds no secret in the clear');
  const [identity = ''] = ageIdentitiesIn(folder);
  const opened = await decryptSecrets(secrets, identity);
  const given = opened.secrets.find((each) => each.name === 'forge1AppClientSecret')?.fields?.password;
  ok(
    given === clientSecret,
    `the age identity opens prod.vault.yaml: ${opened.secrets.length} secrets, the given one among them`,
  );
  const ca = opened.secrets.find((each) => each.name === 'selfSignedCaKeyPem')?.file?.content;
  ok(ca?.includes('PRIVATE KEY') === true, 'a CA key of its own is among them');

  const { store } = stack.functionsHalf ?? {};
  const documents = await store?.query({ collection: 'bootstraps' });
  ok(!JSON.stringify(documents ?? 'none').includes(clientSecret), "no secret stands in the store's documents");
  ok(!stack.logs.some((line) => line.includes(clientSecret)), "no secret stands in the functions' logs");
  return faults;
}

/** Longer than a resume takes, so that the demo shows its end. */
const restSeconds = 30;

/** Shortens the time to live with the same command. Then the demo only waits: Cloud Scheduler calls cleanup. */
async function expire(
  stack: Stack,
  { folder, env, flags }: Installing & { readonly flags: readonly string[] },
): Promise<string[]> {
  const bootstrap = async () => (await stack.functionsHalf?.store.query({ collection: 'bootstraps' }))?.[0]?.data;
  // The time to live counts from the creation, however long the bootstrap took.
  const createdAt = Date.parse(String((await bootstrap())?.['createdAt']));
  const ttl = `${Math.ceil((Date.now() - createdAt) / 1000) + restSeconds}s`;
  say(`\nThe same again with a short time to live, and then nothing but waiting:\n\n$ plinth … --project-ttl ${ttl}\n`);
  const short = flags.map((flag, i) => (flags[i - 1] === '--project-ttl' ? ttl : flag));
  const { exitCode } = await runPlinth(['beta', 'bootstrap-cloud', ...short], { folder, env, show: false });
  if (exitCode !== 0) return [`the resume with --project-ttl ${ttl} ended with exit code ${exitCode}`];
  const until = Date.now() + (restSeconds + 60) * 1000;
  while ((await bootstrap())?.['state'] !== 'removed') {
    if (Date.now() > until) return [`it was not removed: its state is ${String((await bootstrap())?.['state'])}`];
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  const state = stack.cloudHalf?.cloud.state() as
    | { tables?: Record<string, Record<string, { state?: string; billingAccountName?: string }>> }
    | undefined;
  const tables = state?.tables ?? {};
  const projectId = String((await bootstrap())?.['projectId']);
  const project = tables['projects']?.[projectId];
  const isGone = project?.state === 'DELETE_REQUESTED' && (project.billingAccountName ?? '') === '';
  const secrets = Object.keys(tables['secretmanager.secrets'] ?? {}).filter(
    (name) => !Object.values(deploymentSecrets).some((own) => name.endsWith(`/${own}`)),
  );
  const lines: [boolean, string][] = [
    [isGone, `${projectId} is deleted and unlinked from its billing account`],
    [secrets.length === 0, `none of its secrets is left${secrets.length === 0 ? '' : `: ${secrets.join(', ')}`}`],
  ];
  say('When its time was over:');
  for (const [good, what] of lines) say(`  ${good ? '✓' : '✗'} ${what}`);
  return lines.flatMap(([good, what]) => (good ? [] : [what]));
}

const usage = `npm run demo -- [options]

  --store S            memory (default) · emulator: Google's Firestore and Pub/Sub emulators (Java)
${worldUsage}${machinesUsage}`;

interface Options extends WorldChoice {
  readonly store: 'memory' | 'emulator';
  readonly machines: MachinesChoice;
}

function readOptions(args: string[]): Options | undefined {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args,
    options: {
      store: text,
      machines: text,
      world: text,
      'world-set': { ...text, multiple: true },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) return undefined;
  const { store = 'memory' } = values;
  if (store !== 'memory' && store !== 'emulator')
    throw new Error(`--store must be memory or emulator, not "${store}".`);
  return { store, machines: readMachines(values.machines, tmpdir()), ...readWorld(values.world, values['world-set']) };
}

/** Shows what is known before anything is made. */
async function passesCheck(
  flags: readonly string[],
  at: { readonly folder: string; readonly env: Readonly<Record<string, string>> },
): Promise<boolean> {
  say('First, whether anything stops it (--check):\n');
  const { exitCode } = await runPlinth(['beta', 'bootstrap-cloud', ...flags, '--check'], { ...at, show: true });
  say(exitCode === 0 ? '' : `✗ plinth --check ended with exit code ${exitCode}.`);
  return exitCode === 0;
}

async function main(): Promise<number> {
  let options: ReturnType<typeof readOptions>;
  try {
    options = readOptions(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage}`);
    return 2;
  }
  if (options === undefined) {
    process.stdout.write(usage);
    return 0;
  }
  const { store, machines, world, worldSettings } = options;
  const without = store === 'emulator' ? (emulatorMissing('firestore') ?? emulatorMissing('pubsub')) : undefined;
  if (without !== undefined) {
    process.stderr.write(`${without}\n`);
    return 2;
  }
  const begun = performance.now();
  const folder = makeFolder();
  mkdirSync(homeOf(folder), { recursive: true });
  if (machines === 'real' && !hasBase()) say('Building the base of the real hosts, once: it takes some minutes.');
  const stack = await createStack({ store, timeFactor: 0.02, keys: 'real', machines, world, worldSettings });
  try {
    say(
      store === 'memory'
        ? 'plinth and a simulated Google Cloud run in this process; documents are kept in memory.'
        : "plinth and a simulated Google Cloud run in this process; documents and messages go through Google's emulators.",
    );
    // One VM meets a stockout, to show the fallback.
    stack.cloudHalf?.cloud.faults.stockout({ name: 'k0s-2', provisioning: 'SPOT' });
    const version = await prepareInstall(stack, join(folder, '.package'), say);
    const flags = [...baseFlags, ...(version === undefined ? [] : ['--install-version', version])];
    say(`In an empty folder:\n\n$ plinth beta bootstrap-cloud ${flags.join(' ')}\n`);
    const env = {
      ...environmentFor(stack, { file: (each) => join(folder, each) }, await stack.tokens(people.alice)),
      PLINTH_FORGE1_APP_CLIENT_SECRET: clientSecret,
    };
    if (!(await passesCheck(flags, { folder, env }))) return 1;
    const { exitCode } = await runPlinth(['beta', 'bootstrap-cloud', ...flags], { folder, env, show: true });
    say();
    if (exitCode !== 0) {
      say(`✗ plinth ended with exit code ${exitCode}.`);
      for (const line of [...stack.logs.filter((each) => /"(ERROR|CRITICAL)"/.test(each)), ...stack.notes]) say(line);
      return 1;
    }
    say('Looked at from outside:');
    const faults = await check(stack, folder);
    const installing = { name, folder, env };
    if (version !== undefined) faults.push(...(await inspectInstall(installing, say)));
    if (faults.length === 0) faults.push(...(await expire(stack, { ...installing, flags })));
    const seconds = ((performance.now() - begun) / 1000).toFixed(1);
    if (faults.length === 0) {
      say(
        `\nAll was there, and went when its time was over, ${seconds} s after the beginning. (The cloud is simulated, fifty times as fast as the real one.)`,
      );
      return 0;
    }
    say(`\nThe demo failed:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    return 1;
  } finally {
    await stack.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`The demo failed: ${(error as Error).stack}\n`);
  process.exitCode = 1;
}
