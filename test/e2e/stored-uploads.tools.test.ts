/**
 * Big files of the caller's where only IAP leads to the jumpbox: by Cloud Storage, checked on the jumpbox, reached by nobody
 * else, and gone afterwards.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { homeOf, runPlinth } from '../../local/demo/plinth-process.js';
import type { BootstrapView } from '../../shared/bootstrap/bootstrap.js';
import type { UploadWay } from '../../shared/bootstrap/upload-way.js';
import type { ProblemBody } from '../../shared/problems.js';
import { makeExecutable, needMachines } from '../support/machines.js';
import { type Caller, makeScene, type Scene, succeeded } from '../support/scene.js';
import { bigBytes, sha256Of, shown, storedUploads, uploadsIn } from './upload-story.js';

async function waitFor(scene: Scene, id: string, isSo: (view: BootstrapView) => boolean): Promise<BootstrapView> {
  for (;;) {
    const view = await scene.view(id);
    if (isSo(view)) return view;
    await sleep(200);
  }
}

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

  it('are refused if they are others than was said, and used by nothing; strangers reach none', async () => {
    const file = makeExecutable(join(alice.folder, 'right'), bigBytes);
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
    expect((await send(bigBytes + 1)).status).to.equal(400);
    expect((await send(bigBytes)).status).to.equal(200);
    expect((await ask<UploadWay>(path, 'POST')).body).to.deep.equal({ by: 'storage' });
    await ask(`/bootstraps/${id}/instances/${instances.find(waiting)?.id}/wake`, 'POST');

    // Whoever took the wrong file asks for the right one once more.
    const isOver = ({ state, instances }: BootstrapView) => state !== 'running' || instances.some(waiting);
    const { state, instances: ended } = await waitFor(scene, id, isOver);
    expect(state).to.equal('failed');
    const { problem } = ended.find(({ id: instance }) => instance === 'plinth-binary') ?? {};
    expect(problem?.detail).to.include('as right is another file').and.include('Nothing used it');
    expect(problem?.advice).to.include('Run the same command again');
    expect(storedUploads(scene)).to.deep.equal([]);
    expect(await onJumpbox('swapped', 'ls /usr/local/bin .plinth/uploads')).to.not.match(/^plinth|part/m);
    // The right one goes by Cloud Storage, and nothing of it stays there.
    const since = scene.cloud.calls.last();
    const outcome = await alice.bootstrap('swapped', flags);
    succeeded(outcome);
    expect(uploadsIn(outcome.events).at(-1)).to.include({
      name: 'right',
      state: 'sent',
      bytes: bigBytes,
      of: bigBytes,
    });
    const made = scene.cloud.calls.list({ since }).filter(({ method }) => method === 'storage.objects.insert');
    expect(made.map(({ params }) => params['name'])).to.include(`${id}/${sha256Of(file)}`);
    expect(await onJumpbox('swapped', 'sha256sum < /usr/local/bin/plinth')).to.equal(`${sha256Of(file)}  -`);
    expect(await onJumpbox('swapped', 'sudo ls /run/plinth')).to.not.include('upload');
    expect(storedUploads(scene)).to.deep.equal([]);
    expect(keptSessions()).to.deep.equal([]);
    // The URI of a session is a secret.
    expect(JSON.stringify(outcome)).to.not.include('upload_id');
  });
});
