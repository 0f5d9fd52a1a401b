/**
 * Big files of the caller's where only IAP leads to the jumpbox: by Cloud Storage, resumed, checked on the jumpbox, reached by
 * nobody else, and gone afterwards.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { homeOf, runPlinth } from '../../local/demo/plinth-process.js';
import { local } from '../../local/stack/deployment.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import type { UploadWay } from '../../shared/bootstrap/upload-way.js';
import type { ProblemBody } from '../../shared/problems.js';
import { sha256 } from '../../shared/sha256.js';
import { makeExecutable, needMachines } from '../support/machines.js';
import type { PlinthHere } from '../support/plinth-here.js';
import { type Caller, makeScene, outcomeOf, type Scene, succeeded } from '../support/scene.js';

const big = 20 * 1024 * 1024;
const bigger = 72 * 1024 * 1024;

const stored = (scene: Scene) =>
  Object.keys(scene.cloud.world.table('storage.objects')).filter((key) => key.startsWith(`${local.uploadsBucket}/`));
const uploadsIn = (events: readonly Readonly<Record<string, unknown>>[]) =>
  events.filter(({ type }) => type === 'upload');
const sha256Of = (path: string): string => sha256(readFileSync(path));

async function waitFor(scene: Scene, id: string, isSo: (view: BootstrapView) => boolean): Promise<BootstrapView> {
  for (;;) {
    const view = await scene.view(id);
    if (isSo(view)) return view;
    await sleep(200);
  }
}

/** Until the command has shown this much. */
const shown = (run: PlinthHere, pattern: RegExp) =>
  Promise.race([new Promise<void>((resolve) => run.onText(() => pattern.test(run.stdout()) && resolve())), run.ended]);

describe('big files of the caller’s, where only IAP leads to the jumpbox', function () {
  this.timeout(300_000);
  let scene: Scene;
  let alice: Caller;

  before(async () => {
    needMachines();
    scene = await makeScene({ machines: 'embedded', settings: { PLINTH_MACHINE_ACCESS: 'iap' } });
    alice = await scene.caller();
  });
  after(() => scene?.close());

  const keptSessions = () => readdirSync(join(homeOf(alice.folder), '.config', 'plinth', 'uploads'));
  const onJumpbox = async (name: string, command: string) =>
    (await runPlinth(['beta', 'bootstrap-cloud', 'ssh', name, '--', command], alice)).stdout.trim();

  async function ask<T>(path: string, method: 'GET' | 'POST' = 'GET', email = alice.email) {
    const { idToken } = await scene.stack.tokens(email);
    const reply = await fetch(`${scene.stack.url}${path}`, { method, headers: { authorization: `Bearer ${idToken}` } });
    return { status: reply.status, body: (await reply.json()) as T };
  }
  const idOf = async (name: string): Promise<string> =>
    (await ask<{ id: string }[]>(`/bootstraps?name=${name}`)).body[0]?.id ?? '';

  it('go by Cloud Storage, and nothing of them stays there', async () => {
    const file = makeExecutable(join(alice.folder, 'big-plinth'), big);
    const since = scene.cloud.calls.last();
    const outcome = await alice.bootstrap('stored', { 'remote-cli-binary': file });
    const { id } = succeeded(outcome);
    expect(uploadsIn(outcome.events).at(-1)).to.include({ name: 'big-plinth', state: 'sent', bytes: big, of: big });
    const made = scene.cloud.calls.list({ since }).filter(({ method }) => method === 'storage.objects.insert');
    expect(made.map(({ params }) => params['name'])).to.include(`${id}/${sha256Of(file)}`);
    expect(await onJumpbox('stored', 'sha256sum < /usr/local/bin/plinth')).to.equal(`${sha256Of(file)}  -`);
    expect(await onJumpbox('stored', 'sudo ls /run/plinth')).to.not.include('upload');
    expect(stored(scene)).to.deep.equal([]);
    expect(keptSessions()).to.deep.equal([]);
    // The URI of a session is a secret.
    expect(JSON.stringify(outcome)).to.not.include('upload_id');
  });

  it('go on in the same session after a kill; where that is over, they begin anew, and say so', async () => {
    const file = makeExecutable(join(alice.folder, 'bigger-plinth'), bigger);
    const flags = { 'remote-cli-binary': file };
    const interrupted = async () => {
      const run = alice.start('cut-off', flags);
      await shown(run, /"state":"sending","bytes":[1-9]/);
      run.interrupt();
      const { exitCode } = await run.ended;
      expect(exitCode, run.stdout().slice(-2000)).to.equal(130);
      return run;
    };
    await interrupted();
    const [kept = ''] = keptSessions();
    expect(statSync(join(homeOf(alice.folder), '.config', 'plinth', 'uploads', kept)).mode & 0o777).to.equal(0o600);
    const second = await interrupted();
    const [first] = [...second.stdout().matchAll(/"state":"sending","bytes":(\d+)/g)].map(([, bytes]) => Number(bytes));
    expect(first).to.be.above(0);

    for (const session of Object.values(scene.cloud.world.table<{ begunAt: number }>('storage.uploads'))) {
      session.begunAt -= 8 * 86_400_000;
    }
    const third = await alice.bootstrap('cut-off', flags);
    succeeded(third);
    const [again, anew] = uploadsIn(third.events);
    expect(again).to.include({ state: 'trying again' });
    expect(again?.['why']).to.include('bigger-plinth went to Cloud Storage is over').and.include('anew');
    expect(anew).to.include({ state: 'sending', bytes: 0 });
    expect(await onJumpbox('cut-off', 'sha256sum < /usr/local/bin/plinth')).to.equal(`${sha256Of(file)}  -`);
    expect(stored(scene)).to.deep.equal([]);
  });

  it('are refused if they are others than was said, and used by nothing; strangers reach none', async () => {
    const file = makeExecutable(join(alice.folder, 'right'), big);
    const flags = { 'remote-cli-binary': file };
    const run = alice.start('swapped', flags);
    await shown(run, /"type":"instance"/);
    run.interrupt();
    await run.ended;
    const id = await idOf('swapped');
    const path = `/bootstraps/${id}/uploads/${sha256Of(file)}`;
    const waiting = ({ state }: BootstrapView['instances'][number]) => state === 'client';
    const { instances } = await waitFor(scene, id, (view) => view.instances.some(waiting));

    expect((await ask<ProblemBody>(path, 'POST', 'bob@example.com')).status).to.equal(404);
    const unnamed = await ask<ProblemBody>(`/bootstraps/${id}/uploads/${'0'.repeat(64)}`, 'POST');
    expect([unnamed.status, unnamed.body.advice]).to.deep.equal([
      404,
      'Run the command again with the flag that names the file.',
    ]);
    const { body: way } = await ask<UploadWay>(path, 'POST');
    const send = (bytes: number) =>
      fetch(way.session ?? '', {
        method: 'PUT',
        headers: { 'content-range': `bytes 0-${bytes - 1}/${bytes}` },
        body: Buffer.alloc(bytes),
      });
    expect((await send(big + 1)).status).to.equal(400);
    expect((await send(big)).status).to.equal(200);
    expect((await ask<UploadWay>(path, 'POST')).body).to.deep.equal({ by: 'storage' });
    await ask(`/bootstraps/${id}/instances/${instances.find(waiting)?.id}/wake`, 'POST');

    // Whoever took the wrong file asks for the right one once more.
    const isOver = ({ state, instances }: BootstrapView) => state !== 'running' || instances.some(waiting);
    const { state, instances: ended } = await waitFor(scene, id, isOver);
    expect(state).to.equal('failed');
    const { problem } = ended.find(({ id: instance }) => instance === 'plinth-binary') ?? {};
    expect(problem?.detail).to.include('as right is another file').and.include('Nothing used it');
    expect(problem?.advice).to.include('Run the same command again');
    expect(stored(scene)).to.deep.equal([]);
    expect(await onJumpbox('swapped', 'ls /usr/local/bin .plinth/uploads')).to.not.match(/^plinth|part/m);
    succeeded(await alice.bootstrap('swapped', flags));
    expect(await onJumpbox('swapped', 'sha256sum < /usr/local/bin/plinth')).to.equal(`${sha256Of(file)}  -`);
  });
});

describe('in a hardened organization, a big file of the caller’s', function () {
  this.timeout(300_000);
  let scene: Scene;

  before(async () => {
    needMachines();
    const settings = { PLINTH_LOAD_BALANCERS: 'internal' };
    scene = await makeScene({ machines: 'embedded', world: 'hardened', settings });
  });
  after(() => scene?.close());

  it('goes by Cloud Storage to a jumpbox without a public address, whose user is of OS Login', async () => {
    const alice = await scene.caller();
    const key = join(alice.folder, 'key');
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
    const file = makeExecutable(join(alice.folder, 'big-plinth'), big);
    const run = alice.start('hard', { 'remote-cli-binary': file, 'ssh-private-key-path': key });
    await shown(run, /has no user for machines at OS Login yet/);
    const { idToken } = await scene.stack.tokens(alice.email);
    const found = await fetch(`${scene.stack.url}/bootstraps?name=hard`, {
      headers: { authorization: `Bearer ${idToken}` },
    });
    const [{ projectId } = { projectId: '' }] = (await found.json()) as { projectId: string }[];
    const { PLINTH_ENDPOINT_OSLOGIN: osLogin, PLINTH_ACCESS_TOKEN: token } = alice.env;
    // As `gcloud compute os-login ssh-keys add` does.
    const brought = await fetch(`${osLogin}/v1/users/${alice.email}:importSshPublicKey?projectId=${projectId}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ key: readFileSync(`${key}.pub`, 'utf8') }),
    });
    expect(brought.status, await brought.text()).to.equal(200);
    const outcome = outcomeOf(await run.ended);
    const { result } = succeeded(outcome);
    expect(uploadsIn(outcome.events).at(-1)).to.include({ state: 'sent', bytes: big });
    for (const vm of result.vms) expect(vm.externalIp, vm.name).to.equal(undefined);
    const command = ['ssh', 'hard', '--ssh-private-key-path', key, '--', 'sha256sum < /usr/local/bin/plinth'];
    const there = await runPlinth(['beta', 'bootstrap-cloud', ...command], alice);
    expect(there.stdout, there.stderr).to.include(sha256Of(file));
    expect(stored(scene)).to.deep.equal([]);
  });
});
