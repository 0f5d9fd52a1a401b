/**
 * Stands in for k0s v1.31 on simulated machines: its command line, its services, and a Kubernetes API without containers.
 * Commands and flags are those of cmd/ and pkg/config/cli.go in github.com/k0sproject/k0s.
 *
 * ../../releases/k0s.ts bundles it into one script, which machines fetch as the release. It needs Node there.
 */
import { readFileSync, rmSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { parse, stringify } from 'yaml';
import { apiUrl, type ClusterConfig, readClusterConfig } from './cluster-config.js';
import { type Command, type Flag, type Given, runCommand, switches, texts } from './command-line.js';
import { configOf, runController } from './controller.js';
import { joinTokenOf, kubeConfigOf, readKubeConfig } from './kube-config.js';
import { kubectl } from './kubectl.js';
import { dataDir, place, readIfThere, runDir } from './place.js';
import { install, mustBeRoot, start, stop, uninstall } from './service.js';
import { readStatus, shown } from './status.js';
import { createToken } from './token.js';
import { runWorker } from './worker.js';

/** Set by the bundler: the requested version. */
declare const K0S_VERSION: string;
const version = K0S_VERSION;

const short = (name: string, letter: string, kind: Flag['kind'] = 'text'): Flag => ({ name, short: letter, kind });

const persistent: readonly Flag[] = [
  short('debug', 'd', 'switch'),
  short('verbose', 'v', 'switch'),
  ...texts('data-dir', 'status-socket', 'debugListenOn'),
];
const workerFlags: readonly Flag[] = [
  ...texts('kubelet-root-dir', 'profile', 'cidr-range', 'token-file', 'labels', 'taints', 'kubelet-extra-args'),
  ...texts('iptables-mode', 'cri-socket'),
  ...switches('enable-cloud-provider'),
  short('logging', 'l'),
];
const configFlag = short('config', 'c');
const controllerFlags: readonly Flag[] = [
  ...switches('enable-worker', 'single', 'no-taints', 'enable-k0s-cloud-provider', 'enable-dynamic-config'),
  ...switches('enable-metrics-scraper'),
  ...texts('disable-components', 'k0s-cloud-provider-update-frequency', 'k0s-cloud-provider-port'),
  ...texts('kube-controller-manager-extra-args'),
  configFlag,
];
const installFlags: readonly Flag[] = [...switches('force'), short('env', 'e'), ...persistent];

/** The data folder is fixed here. */
const checked = (given: Given): Given => {
  if (given['data-dir'] !== undefined && given['data-dir'] !== dataDir) {
    throw new Error(`--data-dir ${given['data-dir']} is not stood for here`);
  }
  return given;
};

/** The config of the running controller, else of the file. */
const nodeConfig = (): ClusterConfig => {
  const running = readIfThere(place.runtimeConfig);
  if (running === undefined) return configOf({});
  return (parse(running) as { spec: { nodeConfig: ClusterConfig } }).spec.nodeConfig;
};

function adminKubeConfig(): string {
  const text = readIfThere(place.adminConfig);
  if (text === undefined) {
    throw new Error(
      `admin config "${place.adminConfig}" not found, check if the control plane is initialized on this node`,
    );
  }
  return kubeConfigOf({ ...readKubeConfig(text), server: apiUrl(nodeConfig()) }, 'Default', 'local');
}

const print = (content: string): number => {
  process.stdout.write(content);
  return 0;
};
const args = process.argv;

const root: Command = {
  name: 'k0s',
  short: 'k0s - The zero friction Kubernetes - https://k0sproject.io',
  commands: [
    {
      name: 'version',
      short: 'Print the k0s version',
      flags: [short('all', 'a', 'switch'), short('json', 'j', 'switch')],
      run: (given) => print(given['json'] === 'true' ? `{"k0s":"${version}"}\n` : `${version}\n`),
    },
    {
      name: 'install',
      short: 'Install k0s on a brand-new system. Must be run as root (or with sudo)',
      commands: [
        {
          name: 'controller',
          short: 'Install k0s controller on a brand-new system. Must be run as root (or with sudo)',
          flags: [...installFlags, ...controllerFlags, ...workerFlags],
          run(given) {
            mustBeRoot();
            configOf(given);
            install('controller', checked(given));
            return 0;
          },
        },
        {
          name: 'worker',
          short: 'Install k0s worker on a brand-new system. Must be run as root (or with sudo)',
          flags: [...installFlags, ...workerFlags],
          run(given) {
            install('worker', checked(given));
            return 0;
          },
        },
      ],
    },
    {
      name: 'controller',
      short: 'Run controller',
      flags: [...persistent, ...controllerFlags, ...workerFlags],
      run: (given) => runController(checked(given), version, args),
    },
    {
      name: 'worker',
      short: 'Run worker',
      flags: [...persistent, ...workerFlags],
      run: (given) => runWorker(checked(given), version, args),
    },
    {
      name: 'start',
      short: 'Start the k0s service configured on this host. Must be run as root (or with sudo)',
      run() {
        start();
        return 0;
      },
    },
    {
      name: 'stop',
      short: 'Stop the k0s service configured on this host. Must be run as root (or with sudo)',
      run() {
        stop();
        return 0;
      },
    },
    {
      name: 'status',
      short: 'Get k0s instance status information',
      flags: [short('out', 'o'), ...texts('status-socket')],
      run: async (given) => print(shown(await readStatus(given['status-socket'] ?? place.statusSocket), given['out'])),
    },
    {
      name: 'token',
      short: 'Manage join tokens',
      commands: [
        {
          name: 'create',
          short: 'Create join token',
          flags: [...persistent, ...texts('expiry', 'role'), ...switches('wait')],
          run: async ({ role = 'worker', expiry = '0s' }) => {
            const access = await createToken(role, expiry, apiUrl(nodeConfig()));
            return print(`${joinTokenOf(access)}\n`);
          },
        },
      ],
    },
    {
      name: 'kubeconfig',
      short: 'Create a kubeconfig file for a specified user',
      commands: [
        {
          name: 'admin',
          short: "Display Admin's Kubeconfig file",
          flags: persistent,
          run: () => print(adminKubeConfig()),
        },
      ],
    },
    {
      name: 'config',
      short: 'Configuration related sub-commands',
      commands: [
        {
          name: 'create',
          short: 'Output the default k0s configuration yaml to stdout',
          flags: [...persistent, ...switches('include-images')],
          run: () => print(stringify(readClusterConfig('', '127.0.0.1'))),
        },
        {
          name: 'validate',
          short: 'Validate k0s configuration',
          flags: [...persistent, configFlag],
          async run(given) {
            const file = given['config'];
            if (file === undefined) throw new Error('required flag(s) "config" not set');
            readClusterConfig(file === '-' ? await text(process.stdin) : readFileSync(file, 'utf8'), '127.0.0.1');
            return 0;
          },
        },
      ],
    },
    {
      name: 'kubectl',
      short: 'kubectl controls the Kubernetes cluster manager',
      words: 'all',
      run: (_, words) => kubectl(words),
    },
    {
      name: 'reset',
      short: 'Uninstall k0s. Must be run as root (or with sudo)',
      flags: [...persistent, ...texts('cri-socket', 'kubelet-root-dir'), configFlag],
      run() {
        mustBeRoot();
        uninstall();
        for (const folder of [dataDir, runDir]) rmSync(folder, { recursive: true, force: true });
        return 0;
      },
    },
  ],
};

runCommand(root, args.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: Error) => {
    process.stderr.write(`Error: ${error.message}\n`);
    process.exit(1);
  },
);
