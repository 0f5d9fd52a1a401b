/** What hands do between two commands: they edit a file, damage it, put it back, or take something away in the cloud. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { identityToRecipient } from 'age-encryption';
import { expect } from 'chai';
import { ageIdentitiesIn } from '../../local/demo/plinth-process.js';
import { local } from '../../local/stack/deployment.js';
import { decryptSecrets, encryptSecrets, type SecretsFile } from '../../shared/install-config/secrets.js';
import { collections } from '../../shared/names.js';
import type { Act, Damage, Edit, UserFile } from './plan.js';
import type { Recorded } from './snapshot.js';
import type { Stage, User } from './stage.js';

/** Undefined: there is no such file yet. */
export function pathOf(user: User, file: UserFile): string | undefined {
  const kept = join(user.folder, '.home', '.config', 'plinth');
  const path = {
    config: join(user.folder, 'config.yaml'),
    secrets: join(user.folder, 'prod.vault.yaml'),
    'project file': join(user.folder, 'plinth.yaml'),
    kubeconfig: join(user.folder, 'kube.yaml'),
    plan: join(user.folder, 'plan.json'),
    names: join(user.folder, '.home', '.cache', 'plinth', 'names', 'projects'),
    key: join(kept, 'ssh', 'id_ed25519'),
    identity: firstIn(join(kept, 'age')),
  }[file];
  return path !== undefined && existsSync(path) && lstatSync(path).isFile() ? path : undefined;
}

const firstIn = (folder: string): string | undefined => {
  const [name] = existsSync(folder) ? readdirSync(folder) : [];
  return name === undefined ? undefined : join(folder, name);
};

/** Nobody can read it, not even root. */
export const isObstacle = (how: Damage): boolean => ['is a folder', 'is a FIFO', 'is a dangling link'].includes(how);

export function damageFile(path: string, how: Damage, at: number): void {
  const bytes = readFileSync(path);
  const text = bytes.toString();
  const place = Math.min(bytes.length - 1, Math.floor(bytes.length * at));
  const flipped = Buffer.from(bytes);
  if (bytes.length > 0) flipped[place] = (flipped[place] ?? 0) ^ 0x04;
  const written: Partial<Record<Damage, string | Buffer>> = {
    'is cut short': bytes.subarray(0, place),
    'is empty': '',
    'has CRLF': text.replaceAll('\n', '\r\n'),
    'has a BOM': `\u{feff}${text}`,
    'has a flipped byte': flipped,
    'has NUL bytes': `${text}\0\0\0`,
    'is UTF-16': Buffer.from(`\u{feff}${text}`, 'utf16le'),
    'has two documents': `${text}---\nother: true\n`,
    'has a key twice': `${text}version: 1\nversion: 1\n`,
    'is very large': `${text}${'# filler\n'.repeat(60_000)}`,
  };
  const content = written[how];
  if (content !== undefined) {
    writeFileSync(path, content);
    return;
  }
  if (how === 'may not be read') {
    chmodSync(path, 0o000);
    return;
  }
  rmSync(path);
  if (how === 'is a folder') mkdirSync(path);
  if (how === 'is a FIFO') execFileSync('mkfifo', [path]);
  if (how === 'is a dangling link') symlinkSync(join(dirname(path), 'nowhere'), path);
}

/** As an editor leaves it: valid, and with the same meaning unless the edit says otherwise. */
export async function editFile(user: User, path: string, how: Edit): Promise<void> {
  const text = readFileSync(path, 'utf8');
  const isConfig = path.endsWith('config.yaml');
  if (how === 'another secret, by sops') return editSecret(user, 'postgresPassword');
  if (how === 'another client secret, by sops') return editSecret(user, 'forge1AppClientSecret');
  if (how === 'an SSH key of their own') return makeOwnKey(user);
  if (how === 'a comment on top') return writeFileSync(path, `# note of the user\n${text}`);
  if (how === 'a blank line at the end') return writeFileSync(path, `${text}\n`);
  if (!isConfig) return;
  const edited: Partial<Record<Edit, string>> = {
    'a comment at the end of each line': text.replaceAll(/^(\w+:)$/gm, '$1 # of the user'),
    'a key under override': withOverride(text, 'replicas: 3'),
    'odd scalars under override': withOverride(text, 'id: 9123456789012345678\n  mode: 0644\n  version: 1.10'),
    'keys in another order': reordered(text),
    'another value': text.replace(/^( *)email: admin@(.*)$/m, '$1email: me@$2'),
  };
  writeFileSync(path, edited[how] ?? text);
}

const withOverride = (text: string, lines: string): string =>
  /^override:/m.test(text) ? text : `${text}override:\n  ${lines}\n`;

/** The sections of the first level, backwards. */
function reordered(text: string): string {
  const sections = text.split(/^(?=\w)/m);
  return sections.some((each) => !/^\w[\s\S]*\n$/.test(each)) ? text : sections.reverse().join('');
}

export async function secretsOf(user: User): Promise<SecretsFile | undefined> {
  const path = pathOf(user, 'secrets');
  if (path === undefined) return undefined;
  const text = readFileSync(path, 'utf8');
  for (const identity of identitiesOf(user)) {
    const opened = await decryptSecrets(text, identity).catch(() => undefined);
    if (opened !== undefined) return opened;
  }
  return undefined;
}

export function identitiesOf({ folder }: User): string[] {
  try {
    return ageIdentitiesIn(folder);
  } catch {
    return [];
  }
}

/** plinth prefers it to the one that it made. */
function makeOwnKey({ folder }: User): void {
  const home = join(folder, '.home', '.ssh');
  if (existsSync(home)) return;
  mkdirSync(home);
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(home, 'id_ed25519')]);
}

async function editSecret(user: User, name: string): Promise<void> {
  const [path, opened, identity] = [pathOf(user, 'secrets'), await secretsOf(user), identitiesOf(user)[0]];
  if (path === undefined || opened === undefined || identity === undefined) return;
  const secrets = opened.secrets.map((secret) =>
    secret.name === name ? { ...secret, fields: { password: editedSecret } } : secret,
  );
  const means = { now: new Date(), random: (size: number) => crypto.getRandomValues(new Uint8Array(size)) };
  const like = { text: readFileSync(path, 'utf8'), identity };
  writeFileSync(path, await encryptSecrets({ ...opened, secrets }, await identityToRecipient(identity), means, like));
}

export const editedSecret = 'planted-edited-secret-4715';

/** As somebody with rights in the cloud does it. The record is lost as if the database were. */
export async function lose(
  stage: Stage,
  { projectId, id }: Recorded,
  { what, vm }: Extract<Act, { kind: 'lose' }>,
): Promise<boolean> {
  const { scene, store } = stage;
  if (what === 'the record') {
    const names = await store.query({ collection: collections.names });
    const claims = names.filter(({ data }) => JSON.stringify(data).includes(id));
    await store.commit(
      [
        ...claims.map(({ collection, id: key }) => ({ collection, id: key })),
        { collection: collections.bootstraps, id },
      ].map((document) => ({ kind: 'delete', ...document })),
    );
    return true;
  }
  const { tables } = scene.cloud.state() as unknown as { tables: Record<string, Record<string, unknown>> };
  const path = Object.keys(tables['compute.instances'] ?? {}).find(
    (key) => key.includes(`/${projectId}/`) && key.endsWith(`/${vm}`),
  );
  if (path === undefined) return false;
  const { accessToken } = await scene.stack.tokens(`admin@${local.domain}`);
  const url = `${scene.cloud.endpoints.compute}/compute/v1/${path}${what === 'a VM' ? '' : '/stop'}`;
  const reply = await fetch(url, {
    method: what === 'a VM' ? 'DELETE' : 'POST',
    headers: { authorization: `Bearer ${accessToken}` },
  });
  expect(reply.status, await reply.text()).to.equal(200);
  await scene.stack.cloudHalf?.machines?.settle();
  return true;
}
