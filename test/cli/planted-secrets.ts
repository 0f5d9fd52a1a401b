/**
 * Plants secrets in every file that may hold one, damages the file, and runs commands that read it. Kinds of files and
 * commands come from the tables of the code, so that a new one is tried, too.
 */
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { generateX25519Identity } from 'age-encryption';
import { stringify } from 'yaml';
import { loadCommands } from '../../cli/commands/index.js';
import type { SecretFileKind } from '../../cli/files/secret-text.js';
import type { ArgumentName } from '../../cli/frame/arguments.js';
import type { Command } from '../../cli/frame/command.js';
import { flagName, isSecret, optionNames, type SecretOption, variableOf } from '../../shared/bootstrap/options.js';
import { openSshPair } from '../../shared/openssh.js';
import { partsIn, secretOf, secretsOf } from '../support/planted.js';
import { bootstrap, createSandbox, five, type Sandbox } from './run-cli.js';
import { configOf, createService, type Service, secretsFor } from './service.js';

const commands = await loadCommands();

interface PlantedFile {
  /** Beneath the folder of the caller, or their home with `~/`. */
  readonly path: string;
  readonly text: string;
  readonly secrets: readonly string[];
  /** Commands that read it, with their arguments. */
  readonly readers: readonly (readonly string[])[];
  /** Empty variables, so that it is read in their place. */
  readonly without?: readonly string[];
  /** What else must be there. */
  readonly beside?: Readonly<Record<string, string>>;
}

const install = ['install', 'platform', '--package=none.tar.gz', '--state-dir=state'];
const begin = [...bootstrap, ...five];
const key = () => {
  const { privateKey } = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  return openSshPair(privateKey, 'planted');
};
const options = optionNames.filter(isSecret);
const yaml = (value: unknown): string => stringify(value, { lineWidth: 0 });

/** A row for each kind: another kind does not compile without one. */
async function plantedFiles(
  { url }: Service,
  issuer: string,
): Promise<Readonly<Record<SecretFileKind, readonly PlantedFile[]>>> {
  const identity = await generateX25519Identity();
  const pair = key();
  const keyLines = pair.privateKey.split('\n').filter((line) => !line.startsWith('---') && line.length > 40);
  const [vault, override, values, direct, byFile, login, session, users, cluster, client] = [
    secretsOf('vault', 90),
    secretsOf('override', 20),
    secretsOf('values', 20),
    secretsOf('project file', options.length),
    secretsOf('secret by file', 12),
    secretsOf('login', 4).map((each) => `1//0${each}`),
    secretsOf('session', 2),
    secretsOf('user', 4),
    secretsOf('cluster', 24),
    secretsOf('client', 2),
  ];
  const inClear = yaml({
    version: 1,
    secrets: vault.map((password, n) => ({ name: `secret${n}`, fields: { password } })),
  });
  const reference = byFile.map((secret, n) => ({
    path: 'secret.txt',
    text: `${secret}\n`,
    secrets: [secret],
    readers: [['up', '--yes']],
    beside: {
      'plinth.yaml': yaml({ [flagName(options[n % options.length] as SecretOption).slice(2)]: { file: 'secret.txt' } }),
    },
  }));
  const identityFile = (path: string, readers: PlantedFile['readers']): PlantedFile => ({
    path,
    text: `# created: 2026\n${identity}\n`,
    secrets: [identity.slice(15)],
    readers,
    beside: { 'prod.vault.yaml': vaultOfService, 'config.yaml': configOf('b-one', 'demo-ab12cd34') },
  });
  const vaultOfService = await secretsFor(identity, vault[0] ?? '');
  return {
    'age identity': [
      identityFile('~/.config/plinth/age/b-one.txt', [begin, ['support', 'demo']]),
      identityFile('age_key.txt', [install]),
    ],
    'SSH private key': [
      {
        path: '~/.ssh/id_rsa',
        text: pair.privateKey,
        secrets: keyLines.slice(1),
        readers: [['doctor'], [...begin, '--ssh-private-key-path=~/.ssh/id_rsa'], [...bootstrap, 'ssh', 'demo']],
        beside: { '~/.ssh/id_rsa.pub': `${pair.publicKey}\n` },
      },
    ],
    'upload session': [
      {
        path: `~/.config/plinth/uploads/b-one-${'a'.repeat(64)}`,
        text: `https://storage.example.com/upload?upload_id=${encodeURIComponent(session[0] ?? '')}\n`,
        secrets: [encodeURIComponent(session[0] ?? '')],
        readers: [['support', 'demo']],
      },
    ],
    'secret by reference': reference,
    'secrets file': [
      { path: 'prod.vault.yaml', text: inClear, secrets: vault, readers: [begin, install, [...begin, '--check']] },
      {
        path: 'prod.vault.yaml',
        text: vaultOfService,
        secrets: [vault[0] ?? ''],
        readers: [begin, install],
        beside: { 'age_key.txt': `${identity}\n`, 'config.yaml': configOf('b-one', 'demo-ab12cd34') },
      },
    ],
    credentials: [
      {
        path: '~/.config/plinth/credentials.json',
        text: JSON.stringify(
          {
            schema: 1,
            issuer,
            clientId: 'open',
            email: 'alice@example.com',
            refreshToken: login[0],
            idToken: login[1],
          },
          null,
          2,
        ),
        secrets: login.slice(0, 2),
        readers: [['whoami'], ['token'], ['logout'], [...bootstrap, 'list']],
        without: ['PLINTH_TOKEN'],
      },
    ],
    'test user': [
      {
        path: '~/.config/plinth/test-users/demo.json',
        text: JSON.stringify({ user: 'tester', token: users[0], url: 'https://demo.example.com' }, null, 2),
        secrets: users.slice(0, 1),
        readers: [['support', 'demo']],
      },
    ],
    'install config': [
      {
        path: 'config.yaml',
        text: `${configOf('b-one', 'demo-ab12cd34')}platform:\n  override:\n${override
          .map((secret, n) => `    ${yaml({ [`given${n}`]: secret })}`)
          .join('')}`,
        secrets: override,
        readers: [begin, install],
      },
    ],
    'values file': [
      {
        path: 'values.yaml',
        text: yaml({ auth: Object.fromEntries(values.map((secret, n) => [`password${n}`, secret])) }),
        secrets: values,
        readers: [
          [...begin, '--pc-apps-values=values.yaml', '--dry-run'],
          [...install, '--pc-apps-values=values.yaml'],
        ],
      },
    ],
    'project file': [
      {
        path: 'plinth.yaml',
        text: options.map((option, n) => yaml({ [flagName(option).slice(2)]: direct[n] })).join(''),
        secrets: direct,
        readers: [
          ['up', '--yes'],
          ['down', '--yes'],
        ],
      },
    ],
    'config file': [
      {
        path: '~/.config/plinth/config.yaml',
        text: yaml({
          endpoints: { bootstraps: url, api: url },
          oauth: { issuer: 'http://127.0.0.1:9', clientId: 'open', clientSecret: client[0] },
        }),
        secrets: client.slice(0, 1),
        readers: [['doctor'], ['login'], [...bootstrap, 'list'], ['configure', '--client-id=other']],
        without: ['PLINTH_ENDPOINT'],
      },
    ],
    kubeconfig: [
      {
        path: '~/.kube/config',
        text: yaml({
          clusters: [],
          users: cluster.map((token, n) => ({ name: `user${n}`, user: n % 2 === 0 ? { token } : { password: token } })),
        }),
        secrets: cluster,
        readers: [['kubeconfig', 'demo']],
      },
    ],
  };
}

/** An argument of each name. */
const words: Readonly<Record<ArgumentName, string>> = {
  project: 'demo',
  step: 'install',
  host: 'jumpbox',
  address: '127.0.0.1',
  port: '9',
  organization: 'acme',
  teamId: '7',
  email: 'bob@example.com',
  role: 'member',
  name: 'acme',
  shell: 'bash',
};

/** Each command once, with an argument for each that it takes. */
export const everyCommand: readonly (readonly string[])[] = commands
  .filter((command) => !playsWithProcess(command))
  .map((command) => [
    ...command.words.split(' '),
    ...command.takes.map((name) => words[name]),
    ...(command.flags?.yes === undefined ? [] : ['--yes']),
    ...(command.words === 'beta bootstrap-cloud' ? five : []),
  ]);

/** These need the streams of a process of their own. */
function playsWithProcess({ words: name }: Command): boolean {
  return ['beta dial', 'beta bootstrap-cloud ssh'].includes(name);
}

/** Variables and flags that hold secrets, with one planted in each. */
export const plantedVariables: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ...options.map(variableOf),
    ...['PLINTH_TOKEN', 'PLINTH_ACCESS_TOKEN', 'PLINTH_OAUTH_CLIENT_SECRET', 'OTHER_PROGRAM_PASSWORD'],
  ].map((name, n) => [name, secretOf(name, n)]),
);
export const plantedFlags: readonly string[] = options.map((option, n) => `${flagName(option)}=${secretOf(option, n)}`);
export const flagSecrets: readonly string[] = options.map((option, n) => secretOf(option, n));

export interface PlantedScene {
  readonly sandbox: Sandbox;
  readonly service: Service;
  readonly files: Readonly<Record<SecretFileKind, readonly PlantedFile[]>>;
  /** Runs the command beside the file, and returns what of its secrets came out. */
  leaks(file: PlantedFile, content: string | Buffer, args: readonly string[]): Promise<readonly string[]>;
  close(): Promise<void>;
}

export async function makePlantedScene(): Promise<PlantedScene> {
  const service = await createService();
  service.standing = true;
  const sandbox = createSandbox(service.url);
  const issuer = await createRefusingIssuer();
  const files = await plantedFiles(service, issuer.url);
  const placeOf = (path: string) => (path.startsWith('~/') ? join(sandbox.home, path.slice(2)) : sandbox.path(path));
  const write = (path: string, content: string | Buffer) => {
    mkdirSync(dirname(placeOf(path)), { recursive: true });
    writeFileSync(placeOf(path), content);
  };
  const warned: string[] = [];
  const hear = ({ message }: Error) => void warned.push(message);
  process.on('warning', hear);
  return {
    sandbox,
    service,
    files,
    async leaks({ path, secrets, without = [], beside = {} }, content, args) {
      for (const [name, whole] of Object.entries(beside)) write(name, whole);
      write(path, content);
      const env = Object.fromEntries(without.map((name) => [name, '']));
      const { stdout, stderr } = await sandbox.run(args, env);
      await new Promise((resolve) => setImmediate(resolve));
      const all = [stdout, stderr, ...warned, ...archivesIn(sandbox.folder)].join('\n');
      warned.length = 0;
      for (const name of [...readdirSync(sandbox.folder)]) rmSync(sandbox.path(name), { recursive: true });
      for (const name of [path, ...Object.keys(beside)]) rmSync(placeOf(name), { force: true });
      return partsIn(all, secrets);
    },
    async close() {
      process.off('warning', hear);
      sandbox.remove();
      await Promise.all([service.close(), issuer.close()]);
    },
  };
}

/** Ends every login, and says again what it was sent. */
async function createRefusingIssuer() {
  let url = '';
  const server = createServer((request, response) => {
    void text(request).then((sent) => {
      const doors = { issuer: url, authorization_endpoint: url, token_endpoint: url, revocation_endpoint: url };
      const answer = sent === '' ? doors : { error: 'invalid_grant', error_description: sent };
      response.writeHead(sent === '' ? 200 : 400, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () =>
    new Promise((resolve) => {
      server.closeAllConnections();
      server.close(resolve);
    });
  return { url, close };
}

const archivesIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.tar.gz') && existsSync(join(folder, name)))
    .map((name) => gunzipSync(readFileSync(join(folder, name))).toString());
