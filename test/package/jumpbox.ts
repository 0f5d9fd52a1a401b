/** A jumpbox as the host steps leave it, in a folder: config, encrypted secrets, age key, a package. For tests of `plinth install`. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { filesIn, pack } from '../../local/packages/archive.js';
import { type MadePackage, makePackage } from '../../local/packages/make-package.js';
import { type InstallConfig, writeInstallConfig } from '../../shared/install-config/config.js';
import { InstallEvent } from '../../shared/package/install-event.js';
import { type PackageManifest, packageHash } from '../../shared/package/manifest.js';
import { sha256 } from '../../shared/sha256.js';
import { createSandbox, type Ran, type Sandbox, type StartedProcess } from '../cli/run-cli.js';
import { type DatacenterFiles, makeBootstrap } from '../install-config/made-bootstrap.js';
import { freePort, type PostgresServer, startPostgres } from './postgres-server.js';

export interface Jumpbox {
  readonly sandbox: Sandbox;
  readonly files: DatacenterFiles;
  readonly made: MadePackage;
  readonly postgres: PostgresServer;
  /** What stands beneath the root that components write to. */
  readonly root: string;
  readonly state: string;
  /** Of the sample's service. */
  readonly url: string;
  args(...more: string[]): string[];
  install(...more: string[]): Promise<Ran>;
  /** As a process: what a test may kill. */
  start(...more: string[]): StartedProcess;
  writeConfig(change: (config: InstallConfig) => InstallConfig): void;
  close(): Promise<void>;
}

export async function makeJumpbox(): Promise<Jumpbox> {
  const sandbox = createSandbox();
  const made = await makePackage(sandbox.folder);
  const bootstrap = makeBootstrap({
    postgresIp: '127.0.0.1',
    options: { registryUser: 'robot' },
    caller: { forge1Pat: 'pat-of-robot' },
  });
  const files = (await bootstrap.go())['dc1'];
  if (files === undefined) throw new Error('no datacenter');
  const { postgres: asked } = files.config;
  if (asked.mode !== 'install') throw new Error('the bootstrap makes no server of its own');
  const postgres = await startPostgres({
    password: files.value('postgresPassword') ?? '',
    certPem: asked.primary.sslConfig.serverCertPem,
    keyPem: files.value('postgresPrimaryServerKeyPem') ?? '',
  });
  const port = await freePort();
  const config: InstallConfig = {
    ...files.config,
    // There is no host on which a component could install it.
    postgres: { mode: 'external', caCertPem: asked.caCertPem, primary: { ip: '127.0.0.1', hostname: 'postgres' } },
    override: { sample: { port, postgresPort: postgres.port } },
  };
  const writeConfig = (change: (config: InstallConfig) => InstallConfig): void =>
    sandbox.write('config.yaml', writeInstallConfig(change(config)));
  writeConfig((same) => same);
  sandbox.write('prod.vault.yaml', files.secretsText);
  sandbox.write('age_key.txt', `# made by plinth\n${await bootstrap.identity()}\n`);
  chmodSync(sandbox.path('age_key.txt'), 0o600);
  const [root, state] = [sandbox.path('root'), sandbox.path('state')];
  mkdirSync(root);
  const args = (...more: string[]): string[] => [
    ...['install', 'platform', '--json', '--root', root, '--state-dir', state],
    ...(more.includes('--package') ? [] : ['--package', made.full.path]),
    ...more,
  ];
  return {
    sandbox,
    files,
    made,
    postgres,
    root,
    state,
    url: `http://127.0.0.1:${port}`,
    args,
    install: (...more) => sandbox.run(args(...more)),
    start: (...more) => sandbox.spawn(args(...more)),
    writeConfig,
    async close() {
      stopService(root);
      await postgres.stop();
      sandbox.remove();
    },
  };
}

/** Ends the service that a test installed, by the id that it wrote. */
function stopService(root: string): void {
  const file = join(root, 'run/plinth-sample.pid');
  if (!existsSync(file)) return;
  try {
    process.kill(Number(readFileSync(file, 'utf8')), 'SIGTERM');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

const eventsOf = ({ stdout }: Ran): InstallEvent[] =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { type: string })
    .filter(({ type }) => type !== 'result')
    .map((event) => InstallEvent.parse(event));

export const resultsOf = (ran: Ran): Record<string, string> =>
  Object.fromEntries(
    eventsOf(ran).flatMap((event) => (event.type === 'component-ended' ? [[event.component, event.result]] : [])),
  );

/** The last line: `type` result. */
export const endOf = (ran: Ran): Record<string, unknown> =>
  JSON.parse(ran.stdout.trim().split('\n').at(-1) ?? '{}') as Record<string, unknown>;

/** A package of components that are given as shell, by name; each is one program for all three actions. */
export async function makeShellPackage(
  file: string,
  components: Readonly<Record<string, string>>,
  change: (manifest: PackageManifest) => object = (manifest) => manifest,
): Promise<PackageManifest> {
  const folder = mkdtempSync(join(tmpdir(), 'plinth-shell-package-'));
  try {
    mkdirSync(join(folder, 'components'));
    for (const [name, text] of Object.entries(components)) {
      writeFileSync(join(folder, 'components', name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    }
    const manifest: Omit<PackageManifest, 'hash'> = {
      schema: 1,
      name: 'shell',
      version: '0.1.0',
      components: Object.keys(components).map((name) => {
        const program = `components/${name}`;
        return { name, step: name, title: name, install: program, check: program, remove: program, timeoutSeconds: 60 };
      }),
      images: [],
      hooks: {},
      files: filesIn(folder).map((path) => ({
        path,
        sha256: sha256(readFileSync(join(folder, path))),
        executable: true,
      })),
    };
    const whole = { ...manifest, hash: packageHash(manifest) };
    writeFileSync(join(folder, 'package.json'), JSON.stringify(change(whole)));
    await pack(folder, filesIn(folder), file);
    return whole;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
