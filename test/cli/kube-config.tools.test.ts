/** Where a context goes among the caller's kubeconfigs, and what stays: kubectl is the judge. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { kubeConfigPlaces, mergeIntoKubeConfigs } from '../../cli/files/kube-config-places.js';
import { Problem } from '../../shared/problems.js';
import { createSecretRedactor } from '../../shared/secret-redactor.js';

const data = Buffer.from('a certificate').toString('base64');
const made = stringify({
  clusters: [{ name: 'local', cluster: { server: 'https://10.10.0.3:6443', 'certificate-authority-data': data } }],
  users: [{ name: 'user', user: { 'client-certificate-data': data, 'client-key-data': data } }],
});

const own = (name: string, more = ''): string => `apiVersion: v1
kind: Config
# of the caller
clusters:
- cluster:
    server: https://${name}.example:6443
  name: ${name}
contexts:
- context:
    cluster: ${name}
    namespace: "0123" # mine
    user: ${name}
  name: ${name}
current-context: ${name}
users:
- name: ${name}
  user:
    token: secret-of-${name}
${more}`;

describe('plinth kubeconfig, beside kubectl', () => {
  let root: string;
  before(() => {
    root = mkdtempSync(join(tmpdir(), 'plinth-kubectl-rules-'));
  });
  after(() => rmSync(root, { recursive: true, force: true }));

  let folders = 0;
  /** A folder with these files, which is the home folder and the working folder, too. */
  function folderWith(files: Readonly<Record<string, string>>): string {
    folders += 1;
    const folder = join(root, String(folders));
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(folder, path, '..'), { recursive: true });
      writeFileSync(join(folder, path), text, { mode: 0o600 });
    }
    mkdirSync(folder, { recursive: true });
    return folder;
  }

  const envOf = (folder: string, listed?: string) => ({
    PATH: process.env['PATH'],
    HOME: folder,
    ...(listed === undefined ? {} : { KUBECONFIG: listed }),
  });
  const kubectl = (folder: string, listed: string | undefined, ...words: string[]): string =>
    execFileSync('kubectl', ['config', ...words], {
      cwd: folder,
      env: envOf(folder, listed),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  const view = (folder: string, listed?: string): unknown =>
    JSON.parse(kubectl(folder, listed, 'view', '--raw', '--output', 'json')) as unknown;

  const plinth = (folder: string, listed?: string, names: readonly string[] = ['demo'], to?: string) => {
    const env = listed === undefined ? {} : { KUBECONFIG: listed };
    const settings = { env, home: folder, folder, redactor: createSecretRedactor() };
    const all = names.map((name) => ({ name, made }));
    return mergeIntoKubeConfigs(kubeConfigPlaces(to, settings), all, settings, new AbortController().signal);
  };
  async function refusalOf(act: Promise<unknown>): Promise<Problem> {
    const error = await act.then(
      () => undefined,
      (caught: unknown) => caught,
    );
    expect(error).to.be.instanceOf(Problem);
    return error as Problem;
  }

  const files = ['a', 'b', 'c', '.kube/config', '~/q', '.lock'];
  const holding = (folder: string, word: RegExp): string[] =>
    files.filter((path) => existsSync(join(folder, path)) && word.test(readFileSync(join(folder, path), 'utf8')));

  const layouts: readonly (readonly [title: string, files: Record<string, string>, listed?: string])[] = [
    ['nothing at all', {}],
    ['~/.kube/config', { '.kube/config': own('old') }],
    ['one file that is missing', {}, 'a'],
    ['two files', { a: own('one'), b: own('two') }, 'a:b'],
    ['a missing file before one that exists', { b: own('two') }, 'a:b'],
    ['two missing files', {}, 'a:b'],
    ['empty entries, and a file twice', { b: own('two') }, ':b::b'],
    ['a tilde, which is a folder', {}, '~/q'],
    ['the context in the second file', { a: own('one'), b: own('demo') }, 'a:b'],
    ['the context in both files', { a: own('demo'), b: own('demo') }, 'a:b'],
    ['cluster, user and context in three files', splitUp(), 'a:b:c'],
  ];
  function splitUp(): Record<string, string> {
    return {
      a: 'users:\n- name: demo\n  user:\n    token: x\n',
      b: 'clusters:\n- name: demo\n  cluster:\n    server: https://x\n',
      c: 'contexts:\n- name: demo\n  context:\n    cluster: x\n    user: x\n    namespace: mine\n',
    };
  }
  for (const [title, given, listed] of layouts) {
    it(`writes where kubectl writes: ${title}`, async () => {
      const [ours, theirs] = [folderWith(given), folderWith(given)];
      if (listed === '~/q') for (const folder of [ours, theirs]) mkdirSync(join(folder, '~'));
      kubectl(theirs, listed, 'set-cluster', 'demo', '--server', 'https://127.0.0.1:6443');
      kubectl(theirs, listed, 'set-credentials', 'demo', '--token', 'other');
      kubectl(theirs, listed, 'set-context', 'demo', '--cluster', 'demo', '--user', 'demo');
      kubectl(theirs, listed, 'use-context', 'demo');
      await plinth(ours, listed);
      for (const word of [/https:\/\/127\.0\.0\.1/, /^current-context: "?demo/m, /cluster: demo/, /user: demo/]) {
        expect(holding(ours, word), String(word)).to.deep.equal(holding(theirs, word));
      }
      expect(view(ours, listed)).to.have.property('current-context', 'demo');
      const contexts = (folder: string) => (view(folder, listed) as { contexts: unknown }).contexts;
      expect(contexts(ours)).to.deep.equal(contexts(theirs));
    });
  }

  it('keeps namespace, extensions and port of its own context when it runs again, and writes nothing if nothing changes', async () => {
    const folder = folderWith({ a: own('old') });
    await plinth(folder, 'a', ['other', 'demo']);
    kubectl(folder, 'a', 'set-context', 'demo', '--namespace', 'mine');
    kubectl(folder, 'a', 'set-cluster', 'demo', '--tls-server-name', 'api.example');
    kubectl(folder, 'a', 'use-context', 'old');
    const before = view(folder, 'a');
    await plinth(folder, 'a');
    expect(view(folder, 'a')).to.deep.equal({ ...(before as object), 'current-context': 'demo' });
    const { mtimeMs, ino } = statSync(join(folder, 'a'));
    await plinth(folder, 'a');
    expect(statSync(join(folder, 'a'))).to.include({ mtimeMs, ino });
  });

  it('leaves every other line as it is written: comments, numbers, quotes and indentation', async () => {
    const more = `preferences: {}
extensions:
# of a tool
- extension:
    id: 9123456789012345678 # long
    mode: 0644
    version: 1.10
    on: yes
    none: ~
    text: 'a  b'
    flow: { id: 9123456789012345678, list: [ 1e3, "x" ] }
  name: tool
`;
    for (const text of [own('old', more), own('old', more).replace(/^(- | {2}|# of a tool)/gm, '  $1')]) {
      const folder = folderWith({ a: text });
      const before = view(folder, 'a') as { extensions?: unknown };
      await plinth(folder, 'a');
      const after = readFileSync(join(folder, 'a'), 'utf8').split('\n');
      const missing = text.split('\n').filter((line) => !after.includes(line));
      expect(missing).to.deep.equal(['current-context: old']);
      expect((view(folder, 'a') as { extensions?: unknown }).extensions).to.deep.equal(before.extensions);
    }
  });

  it('writes names that YAML would take for something else, so that kubectl reads them', async () => {
    const names = ['true', '1234', '2026-01-02', "it's !", '0x1f', '1e10', 'null'];
    const folder = folderWith({});
    await plinth(folder, 'a', names);
    const { contexts } = view(folder, 'a') as { contexts: { name: string; context: { cluster: string } }[] };
    expect(contexts.map(({ name, context }) => [name, context.cluster]).sort()).to.deep.equal(
      names.map((name) => [name, name]).sort(),
    );
  });

  const refused: readonly (readonly [title: string, text: string])[] = [
    ['a list of objects', 'apiVersion: v1\nkind: List\nitems: []\n'],
    ['another version', 'apiVersion: v2\nkind: Config\n'],
    ['contexts that are a mapping', 'contexts: {}\n'],
    ['a list', '- a\n'],
    ['two contexts of one name', 'contexts:\n- name: q\n  context: {}\n- name: q\n  context: {}\n'],
  ];
  for (const [title, text] of refused) {
    it(`leaves a file alone that kubectl refuses: ${title}`, async () => {
      const folder = folderWith({ a: text });
      expect(() => view(folder, 'a')).to.throw();
      expect(await refusalOf(plinth(folder, 'a'))).to.include({ code: 'bad-input' });
      expect(readFileSync(join(folder, 'a'), 'utf8')).to.equal(text);
      expect(existsSync(join(folder, 'a.lock'))).to.equal(false);
    });
  }
  for (const [title, text] of [
    ['is empty', ''],
    ['has only comments', '# nothing yet\n'],
    ['has neither kind nor version', 'contexts:\nclusters: null\n'],
    ['begins with a byte order mark', `\uFEFF${own('old')}`],
    ['is JSON', JSON.stringify({ apiVersion: 'v1', kind: 'Config', contexts: [], clusters: null })],
  ] as const) {
    it(`takes a file that kubectl takes: it ${title}`, async () => {
      const folder = folderWith({ a: text });
      view(folder, 'a');
      await plinth(folder, 'a');
      expect(view(folder, 'a')).to.have.property('current-context', 'demo');
    });
  }

  it('waits for the lock of kubectl, and names it where it stays', async () => {
    const folder = folderWith({ a: own('old'), 'a.lock': '' });
    const problem = await refusalOf(plinth(folder, 'a'));
    expect(problem).to.include({ code: 'conflict' });
    expect(`${problem.detail} ${problem.advice}`).to.include('a.lock');
    expect(() => kubectl(folder, 'a', 'use-context', 'old')).to.throw();
    expect(readFileSync(join(folder, 'a'), 'utf8')).to.equal(own('old'));
    const waiting = plinth(folder, 'a');
    rmSync(join(folder, 'a.lock'));
    await waiting;
    expect(existsSync(join(folder, 'a.lock'))).to.equal(false);
  });

  it('closes the file to others, and leaves a link a link', async () => {
    const folder = folderWith({ real: own('old') });
    chmodSync(join(folder, 'real'), 0o644);
    symlinkSync('real', join(folder, 'a'));
    await plinth(folder, undefined, ['demo'], 'a');
    await plinth(folder, 'b');
    expect(lstatSync(join(folder, 'a')).isSymbolicLink()).to.equal(true);
    expect(['real', 'b'].map((path) => statSync(join(folder, path)).mode & 0o777)).to.deep.equal([0o600, 0o600]);
  });
});
